// What lies fixed over more than a third of the viewport; with `hide`, it is taken away, and
// with it whatever else is fixed above it (the box in the middle of a dark screen).
(hide) => {
  // By the prototypes' own getters: in a document `<img name=body>` would stand before them, in a
  // form `<input name=parentElement>` (HTML, LegacyOverrideBuiltIns).
  const page = (name) => Reflect.get(Document.prototype, name, document);
  const of = (element, name) =>
    element instanceof HTMLElement ? Reflect.get(HTMLElement.prototype, name, element) : element[name];
  const boxOf = (element) => of(element, "getBoundingClientRect").call(element);
  const body = page("body"), documentElement = page("documentElement");
  const width = innerWidth, height = innerHeight, area = width * height;
  const fixed = () => {
    const found = new Map();
    for (let row = 0; row < 7; row++)
      for (let column = 0; column < 7; column++) {
        let element = page("elementFromPoint").call(document, width * (column + 0.5) / 7, height * (row + 0.5) / 7);
        for (; element && element !== body && element !== documentElement; element = of(element, "parentElement"))
          if (getComputedStyle(element).position === "fixed") {
            found.set(element, (found.get(element) || 0) + 1);
            break;
          }
      }
    return found;
  };
  const share = (element) => {
    const box = boxOf(element);
    const across = Math.min(box.right, width) - Math.max(box.left, 0);
    const down = Math.min(box.bottom, height) - Math.max(box.top, 0);
    return Math.max(0, across) * Math.max(0, down) / area;
  };
  let first = null;
  for (let round = 0; round < 8; round++) {
    const found = fixed();
    const large = [...found].filter(([element, hits]) => share(element) > 1 / 3 && hits >= 5).map(([element]) => element);
    if (!large.length) break;
    const element = large.sort((a, b) => share(b) - share(a))[0];
    if (!first) {
      const box = boxOf(element), id = of(element, "id");
      first = {
        tag: of(element, "localName"),
        identity: ((id ? "#" + id : "") + [...of(element, "classList")].map((name) => "." + name).join("")).slice(0, 200),
        rect: { x: Math.round(box.x), y: Math.round(box.y), width: Math.round(box.width), height: Math.round(box.height) },
        viewport_share: Math.round(share(element) * 1000) / 1000,
        text: (of(element, "innerText") || "").trim().slice(0, 500),
      };
    }
    if (!hide) break;
    const level = (one) => parseInt(getComputedStyle(one).zIndex, 10) || 0;
    for (const other of [element, ...found.keys()])
      if (level(other) >= level(element)) of(other, "style").setProperty("display", "none", "important");
    for (const root of [documentElement, body])
      if (root && getComputedStyle(root).overflowY === "hidden") of(root, "style").setProperty("overflow", "visible", "important");
  }
  return first;
}
