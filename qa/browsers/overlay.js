// What lies fixed over more than a third of the viewport; with `hide`, it is taken away, and
// with it whatever else is fixed above it (the box in the middle of a dark screen).
(hide) => {
  const width = innerWidth, height = innerHeight, area = width * height;
  const fixed = () => {
    const found = new Map();
    for (let row = 0; row < 7; row++)
      for (let column = 0; column < 7; column++) {
        let element = document.elementFromPoint(width * (column + 0.5) / 7, height * (row + 0.5) / 7);
        for (; element && element !== document.body && element !== document.documentElement; element = element.parentElement)
          if (getComputedStyle(element).position === "fixed") {
            found.set(element, (found.get(element) || 0) + 1);
            break;
          }
      }
    return found;
  };
  const share = (element) => {
    const box = element.getBoundingClientRect();
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
      const box = element.getBoundingClientRect();
      first = {
        tag: element.localName,
        identity: ((element.id ? "#" + element.id : "") + [...element.classList].map((name) => "." + name).join("")).slice(0, 200),
        rect: { x: Math.round(box.x), y: Math.round(box.y), width: Math.round(box.width), height: Math.round(box.height) },
        viewport_share: Math.round(share(element) * 1000) / 1000,
        text: (element.innerText || "").trim().slice(0, 500),
      };
    }
    if (!hide) break;
    const level = (one) => parseInt(getComputedStyle(one).zIndex, 10) || 0;
    for (const other of [element, ...found.keys()])
      if (level(other) >= level(element)) other.style.setProperty("display", "none", "important");
    for (const root of [document.documentElement, document.body])
      if (root && getComputedStyle(root).overflowY === "hidden") root.style.setProperty("overflow", "visible", "important");
  }
  return first;
}
