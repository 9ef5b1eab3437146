// Takes away strips that ask for consent: fixed at the window's edge, less than half of it, with a
// word for it in their text.  Returns what they were.
() => {
  // By the prototypes' own getters, as in overlay.js.
  const page = (name) => Reflect.get(Document.prototype, name, document);
  const of = (element, name) =>
    element instanceof HTMLElement ? Reflect.get(HTMLElement.prototype, name, element) : element[name];
  const ASKS = new RegExp("cookie|consent|gdpr|rgpd|datenschutz|zustimm|einwillig|confidentialit|privacy|" +
    "privacidad|privacidade|toestemming|samtyck|samtykke|suostumus|prywatno|soukrom|súkrom|" +
    "конфиденциальн|конфіденц|куки|απόρρητο|クッキー|プライバシー|隐私|隱私|쿠키|ملفات تعريف", "i");
  const body = page("body"), documentElement = page("documentElement");
  const width = innerWidth, height = innerHeight;
  const isStrip = (element) => {
    const box = of(element, "getBoundingClientRect").call(element);
    const atEdge = box.top <= 40 || box.bottom >= height - 40;
    return atEdge && box.width * box.height < width * height / 2 && ASKS.test(of(element, "innerText") || "");
  };
  const found = [];
  for (let round = 0; round < 4; round++) {
    const strips = new Set();
    for (const y of [2, 20, 50, 90, height - 90, height - 50, height - 20, height - 2])
      for (let column = 0; column < 9; column++) {
        let element = page("elementFromPoint").call(document, width * (column + 0.5) / 9, y), outer = null;
        for (; element && element !== body && element !== documentElement; element = of(element, "parentElement"))
          if (["fixed", "sticky"].includes(getComputedStyle(element).position)) outer = element;
        if (outer && isStrip(outer)) strips.add(outer);
      }
    if (!strips.size) break;
    for (const strip of strips) {
      const id = of(strip, "id");
      const text = (of(strip, "innerText") || "").trim().replace(/\s+/g, " ").slice(0, 60);
      found.push(`<${of(strip, "localName")}${id ? "#" + id : ""}> ${text}`.slice(0, 200));
      of(strip, "style").setProperty("display", "none", "important");
    }
  }
  return found;
}
