// Everything about the page but its image, in bounded lists with their true lengths.
(limits) => {
  // By the prototypes' own getters: in a document `<iframe name=body>` would stand before them, in
  // a form `<input name=localName>` (HTML, LegacyOverrideBuiltIns).
  const of = (page, name) => Reflect.get(Document.prototype, name, page);
  const tagOf = (element) => Reflect.get(Element.prototype, "localName", element);
  const boxOf = (element) => Element.prototype.getBoundingClientRect.call(element);
  const IMAGES = new Set(["img", "svg", "canvas", "object", "embed", "iframe", "frame"]);
  const MEDIA = new Set(["video", "audio"]);
  const CONTROLS = new Set(["input", "button", "select", "textarea"]);
  const list = (bound) => ({ items: [], total: 0, add(make) { if (this.total++ < bound) this.items.push(make()); } });
  const boxes = list(limits.boxes), frames = list(limits.frames), media = list(limits.media);
  const resources = list(limits.resources), broken = list(limits.urls), texts = [];
  const pictures = { total: 0, zero_size: 0, broken: 0 };
  const styles = { sheets: 0, unreadable_sheets: 0, rules: 0 };
  const rectangle = (box, at) => ({
    x: Math.round(box.x + at.x), y: Math.round(box.y + at.y), width: Math.round(box.width), height: Math.round(box.height) });
  // How an element is drawn, in words that browsers share; a list of these is small on any page.
  const looks = new Map();
  const picture = (image) => {
    if (image === "none") return "";
    const url = /url\("?([^")]*)/.exec(image);
    return url ? url[1].split(/[?#]/)[0].split("/").pop().slice(-40) : image.includes("gradient") ? "gradient" : image.split("(")[0];
  };
  const generated = (view, element, at) => {
    const style = view.getComputedStyle(element, at);
    if (style.display === "none" || ["none", "normal"].includes(style.content)) return "";
    return style.content.slice(0, 40) + picture(style.backgroundImage);
  };
  // Where a page names no family, browsers say what they have in its place.
  const GENERIC = { "-webkit-standard": "serif", "times new roman": "serif", "times": "serif", "arial": "sans-serif", "helvetica": "sans-serif", "courier new": "monospace", "courier": "monospace" };
  const family = (style) => {
    const first = style.fontFamily.split(",")[0].replaceAll('"', "").trim().toLowerCase();
    return GENERIC[first] ?? first;
  };
  const inSvg = (element) => (Reflect.get(Element.prototype, "namespaceURI", element) ?? "").endsWith("svg");
  const SIDES = ["Top", "Right", "Bottom", "Left"];
  const lines = (style) => SIDES.map((side) => {
    const line = style["border" + side + "Style"], width = style["border" + side + "Width"];
    const none = line === "none" || line === "hidden" || parseFloat(width) < 0.5;
    return none ? "" : Math.round(parseFloat(width)) + line + style["border" + side + "Color"];
  });
  const pixels = (text) => Math.round(parseFloat(text) || 0);
  const four = (style, names) => names.map((name) => pixels(style[name]));
  const MARGINS = SIDES.map((side) => "margin" + side), PADDINGS = SIDES.map((side) => "padding" + side);
  const CORNERS = ["TopLeft", "TopRight", "BottomRight", "BottomLeft"].map((corner) => "border" + corner + "Radius");
  const FLOWING = new Set(["block", "list-item", "flow-root"]), FILLING = new Set([...FLOWING, "flex", "grid"]);
  const rooms = new Map();
  const roomIn = (view, parent) => {
    if (!rooms.has(parent)) {
      const style = view.getComputedStyle(parent);
      const edges = ["paddingLeft", "paddingRight", "borderLeftWidth", "borderRightWidth"];
      rooms.set(parent, FLOWING.has(style.display)
        ? boxOf(parent).width - edges.reduce((sum, name) => sum + parseFloat(style[name]), 0) : null);
    }
    return rooms.get(parent);
  };
  // Whether it is as wide as there is room: so in every browser, whatever its letters measure.
  const fills = (view, element, style, box) => {
    const parent = Reflect.get(Node.prototype, "parentElement", element);
    if (!parent || !FILLING.has(style.display) || style.float !== "none" || !["static", "relative"].includes(style.position)) return "";
    const room = roomIn(view, parent), left = parseFloat(style.marginLeft), right = parseFloat(style.marginRight);
    // Margins that are alike may be those that centre a box of its own width.
    const taken = left === right ? box.width : box.width + left + right;
    return room === null ? "" : Math.abs(taken - room) < Math.max(1.5, room / 100) ? "all" : "part";
  };
  const margins = (element, style) => {
    const [top, right, bottom, left] = four(style, MARGINS);
    // Which margins at the beginning of something quirks mode drops, browsers do not agree on.
    const first = of(Reflect.get(Node.prototype, "ownerDocument", element), "compatMode") === "BackCompat" && !Reflect.get(Element.prototype, "previousElementSibling", element);
    const across = Math.abs(left - right) < 2 && left >= 0 ? ["even", "even"] : [right, left];
    return [first ? "" : top, across[0], bottom, across[1]].join();
  };
  // Old attributes (valign, align=middle) have a value of each browser's own.
  const OWN_ALIGN = new Set([...IMAGES, "td", "th", "tr", "tbody", "thead", "tfoot"]);
  const alignment = (element, style) => {
    const right = style.direction === "rtl";
    const text = style.textAlign.replace(/^-(webkit|moz)-/, "").replace("start", right ? "right" : "left").replace("end", right ? "left" : "right");
    return text + " " + (OWN_ALIGN.has(tagOf(element)) ? "" : style.verticalAlign);
  };
  const drawn = (view, element, style, box) => {
    const look = [
      style.color, style.backgroundColor, picture(style.backgroundImage), lines(style).join(),
      style.fontSize, style.fontWeight, family(style), style.fontStyle + (style.textDecorationLine || "none").replace("none", ""),
      style.transform.replace(/-?\d+\.\d+/g, (number) => Math.round(number)), String(Math.round(style.opacity * 10) / 10), inSvg(element) ? "" : style.display,
      // Of what is replaced, Firefox gives its alternative text as generated.
      ...["::before", "::after"].map((at) => (IMAGES.has(tagOf(element)) ? "" : generated(view, element, at))),
      margins(element, style), four(style, PADDINGS).join(), fills(view, element, style, box),
      style.position + " " + style.float, alignment(element, style), String(parseFloat(style.lineHeight) || style.lineHeight),
      [style.letterSpacing, style.textTransform, style.whiteSpace].join(" "), style.display === "list-item" ? style.listStyleType + picture(style.listStyleImage) : "",
      style.boxShadow + style.textShadow, four(style, CORNERS).join(),
    ].map((part) => part.replaceAll("|", "/")).join("|").replace(/(rgba\([^)]*, )([\d.]+)\)/g, (_, colour, alpha) =>
      `${colour}${Math.round(alpha * 100) / 100})`);
    if (!looks.has(look)) looks.set(look, looks.size);
    return looks.get(look);
  };
  const ownText = (element) => {
    let own = "";
    for (const node of Reflect.get(Node.prototype, "childNodes", element)) {
      if (node.nodeType === 3) own += node.data + " ";
      if (own.length > 400) break;
    }
    return own.trim().replace(/\s+/g, " ").slice(0, 60);
  };
  const finite = (number) => (Number.isFinite(number) ? number : null);

  // What pictures and films are, beside where: broken ones have no size of their own.
  const stateOf = (element, tag) => {
    if (MEDIA.has(tag)) return element.error || element.networkState === 3 ? "broken" : "";
    if (tag !== "img" || !element.complete || /\.svg\b|svg\+xml/.test(element.currentSrc)) return "";
    return element.naturalWidth ? element.naturalWidth + "x" + element.naturalHeight : "broken";
  };
  const INLINE = new Set(["inline", "contents", "ruby", "ruby-text"]);
  const CLEAR = /^transparent$|, 0\)$/;
  const kindOf = (view, element, tag, style) => {
    if (MEDIA.has(tag)) return "media";
    if (IMAGES.has(tag)) return "image";
    if (CONTROLS.has(tag)) return "control";
    for (const node of Reflect.get(Node.prototype, "childNodes", element))
      if (node.nodeType === 3 && node.data.trim()) return "text";
    if (style.backgroundImage.includes("url(")) return "image";
    // An empty inline element says nothing, unless something is drawn of it; shapes of a drawing
    // are in its picture.
    if (inSvg(element)) return null;
    return !INLINE.has(style.display) || isDecorated(view, element, style) ? "block" : null;
  };
  const isDecorated = (view, element, style) =>
    !CLEAR.test(style.backgroundColor) || style.boxShadow !== "none" || lines(style).some(Boolean) ||
    ["::before", "::after"].some((at) => !["", '""'].includes(generated(view, element, at)));

  const countRules = (sheet, depth) => {
    styles.sheets++;
    let rules;
    try { rules = sheet.cssRules; } catch (error) { styles.unreadable_sheets++; return; }
    const inner = (rules, depth) => {
      for (const rule of rules) {
        styles.rules++;
        if (rule.styleSheet && depth < 5) countRules(rule.styleSheet, depth + 1);
        else if (rule.cssRules && depth < 5) inner(rule.cssRules, depth + 1);
      }
    };
    inner(rules, depth);
  };

  const look = (page, at, depth) => {
    const view = of(page, "defaultView"), body = of(page, "body");
    texts.push(body ? body.innerText || "" : "");
    for (const sheet of of(page, "styleSheets")) countRules(sheet, 0);
    for (const entry of view.performance.getEntriesByType("resource"))
      resources.add(() => ({
        url: entry.name.slice(0, limits.url), kind: entry.initiatorType || "other",
        status: entry.responseStatus || null, media_type: null, failure: null }));
    let seen = 0;
    for (const element of Document.prototype.querySelectorAll.call(page, "*")) {
      if (++seen > limits.elements) break;
      const tag = tagOf(element);
      if (tag === "img") {
        pictures.total++;
        if (!element.naturalWidth) {
          pictures.zero_size++;
          if (element.complete && (element.currentSrc || element.getAttribute("src"))) {
            pictures.broken++;
            broken.add(() => (element.currentSrc || element.src).slice(0, limits.url));
          }
        }
      }
      if (MEDIA.has(tag))
        media.add(() => ({
          tag, url: (element.currentSrc || element.src || "").slice(0, limits.url),
          ready_state: element.readyState, network_state: element.networkState,
          error: element.error ? element.error.code : null, duration_s: finite(element.duration),
          width: element.videoWidth || 0, height: element.videoHeight || 0 }));
      const box = boxOf(element);
      const frame = tag === "iframe" || tag === "frame";
      if (frame) {
        let inside = null;
        try { inside = element.contentDocument; } catch (error) { inside = null; }
        const body = inside && of(inside, "body");
        frames.add(() => ({
          url: (inside ? of(inside, "documentURI") : element.src || "").slice(0, limits.url),
          rect: rectangle(box, at), readable: inside !== null,
          text_length: body ? (body.innerText || "").length : null }));
        if (inside && of(inside, "defaultView") && depth < limits.depth)
          look(inside, { x: at.x + box.x, y: at.y + box.y }, depth + 1);
      }
      if (box.width < 1 || box.height < 1) continue;
      const style = view.getComputedStyle(element);
      if (style.visibility !== "visible" || style.opacity === "0") continue;
      const kind = kindOf(view, element, tag, style);
      if (kind) boxes.add(() => ({
        tag: tag.slice(0, 40), kind, rect: rectangle(box, at),
        text: kind === "text" ? ownText(element) : stateOf(element, tag), look: drawn(view, element, style, box) }));
    }
  };

  look(document, { x: scrollX, y: scrollY }, 0);
  const root = of(document, "documentElement"), body = of(document, "body");
  const extent = (name) => Math.round(Math.max(root ? root["scroll" + name] : 0, body ? body["scroll" + name] : 0));
  const text = texts.join("\n").trim();
  return {
    final_url: of(document, "documentURI").slice(0, limits.url), title: of(document, "title").slice(0, 1000),
    media_type: of(document, "contentType"), page_width: extent("Width"), page_height: extent("Height"),
    text: text.slice(0, limits.text), text_length: text.length,
    boxes: boxes.items, looks: [...looks.keys()], boxes_total: boxes.total, frames: frames.items, frames_total: frames.total,
    media: media.items, media_total: media.total,
    resources: resources.items, resources_total: resources.total,
    pictures: { ...pictures, broken_urls: broken.items }, styles,
  };
}
