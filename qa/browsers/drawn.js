// How elements are drawn, in words that browsers share; a list of these is small on any page.
(shapes) => {
  // By the prototypes' own getters: in a document `<iframe name=body>` would stand before them, in
  // a form `<input name=localName>` (HTML, LegacyOverrideBuiltIns).
  const of = (page, name) => Reflect.get(Document.prototype, name, page);
  const tagOf = (element) => Reflect.get(Element.prototype, "localName", element);
  const pageOf = (element) => Reflect.get(Node.prototype, "ownerDocument", element);
  const boxOf = (element) => Element.prototype.getBoundingClientRect.call(element);
  const IMAGES = new Set(["img", "svg", "canvas", "object", "embed", "iframe", "frame"]);
  const FRAMES = new Set(["frame", "frameset"]);
  const CONTROLS = new Set(["input", "button", "select", "textarea"]);
  const attribute = (element, name) => Element.prototype.getAttribute.call(element, name) ?? "";
  // What is in a shadow tree comes behind its host.
  const everything = function* (root) {
    for (const element of (Reflect.get(Node.prototype, "nodeType", root) === 9 ? Document : DocumentFragment).prototype.querySelectorAll.call(root, "*")) {
      yield element;
      const shadow = Reflect.get(Element.prototype, "shadowRoot", element);
      if (shadow) yield* everything(shadow);
    }
  };
  const parentOf = (element) =>
    Reflect.get(Node.prototype, "parentElement", element) ?? Node.prototype.getRootNode.call(element).host ?? null;
  const looks = new Map();
  const CLEAR = /^transparent$|^rgba\(.*, 0\)$/;
  const COLOUR = /(?:rgba?|color|(?:ok)?lab|(?:ok)?lch)\([^)]*\)/g;
  // Of a gradient its colours: where it begins and ends each browser says in words of its own.
  const picture = (image) => {
    if (image === "none") return "";
    const url = /url\("?([^")]*)/.exec(image);
    if (url) return url[1].split(/[?#]/)[0].split("/").pop().slice(-40);
    return image.includes("gradient") ? ["gradient", ...(image.match(COLOUR) ?? [])].join(" ") : image.split("(")[0];
  };
  const NUMBER = /-?\d*\.?\d+(?:e[-+]?\d+)?/g;
  // One browser gives what is said of several backgrounds alike once, another for each.
  const unlike = (list) => [...new Set(list.split(", "))].join();
  // Of pictures with many icons, which one is shown is said by where they are laid.
  const background = (style) => {
    const at = unlike(style.backgroundPosition).replace(NUMBER, (number) => Math.round(number));
    return picture(style.backgroundImage) + (style.backgroundImage.includes("url(") && /[1-9]/.test(at) ? " at " + at : "");
  };
  // Fonts of a page: of which a face is loaded, and of which none could be. What is generated with
  // such a font is an icon, most times.
  const fonts = new Map();
  const fontsOf = (page) => {
    if (!fonts.has(page)) {
      const faces = [...of(page, "fonts")].map((face) => [face.family.replaceAll('"', "").trim().toLowerCase(), face.status]);
      const having = (wanted) => faces.filter(([, status]) => status === wanted).map(([family]) => family);
      const loaded = new Set(having("loaded"));
      fonts.set(page, { loaded, lost: new Set(having("error").filter((family) => !loaded.has(family))) });
    }
    return fonts.get(page);
  };
  const PSEUDO = ["::before", "::after"];
  const generated = (view, element, at) => {
    const style = view.getComputedStyle(element, at);
    if (style.display === "none" || ["none", "normal"].includes(style.content) || style.content.includes("-moz-alt-content")) return "";
    const fontless = fontsOf(pageOf(element)).lost.has(family(style)) ? " without its font" : "";
    // One browser gives the attribute that is named, another its value; or strings as one.
    const content = style.content.replace(/\battr\(([\w-]+)\)/g, (_, name) => JSON.stringify(attribute(element, name))).replaceAll('" "', "");
    const ground = CLEAR.test(style.backgroundColor) ? "" : style.backgroundColor;
    const ink = /[^"\s]/.test(content) ? style.color : "";
    const turned = (/\(([^)]*)\)/.exec(style.transform)?.[1] ?? "").split(", ").slice(0, 4).map((number) => tenth(number) || 0).join(" ");
    const drawn = [ink, ground, lines(style).filter(Boolean).join(), style.opacity === "1" ? "" : tenth(style.opacity), ["0", "1 0 0 1"].includes(turned) ? "" : turned].filter(Boolean).join(" ");
    return content.slice(0, 40) + background(style) + fontless + (drawn && " " + drawn);
  };
  // Where a page names no family, browsers say what they have in its place.
  const GENERIC = { "-webkit-standard": "serif", "times new roman": "serif", "times": "serif", "arial": "sans-serif", "helvetica": "sans-serif", "courier new": "monospace", "courier": "monospace" };
  const family = (style) => {
    const first = style.fontFamily.split(",")[0].replaceAll('"', "").trim().toLowerCase();
    return GENERIC[first] ?? first;
  };
  const inSvg = (element) => (Reflect.get(Element.prototype, "namespaceURI", element) ?? "").endsWith("svg");
  // What all around an element does to it, too: how opaque it is, and its filters; and whether it is
  // put away for readers of screens, in something that shows less than 3 px.
  const layers = new Map();
  const layerOf = (view, element) => {
    if (!element) return { opacity: 1, filter: "", isAway: false };
    if (!layers.has(element)) {
      const style = view.getComputedStyle(element), outer = layerOf(view, parentOf(element));
      const filter = [outer.filter, style.filter].filter((one) => one && one !== "none").join(" ");
      // One browser draws its disabled controls fainter.
      const own = CONTROLS.has(tagOf(element)) && element.disabled ? 1 : style.opacity;
      // What is not placed itself does not cut off what is placed in it.
      const cutsOff = /hidden|clip/.test(style.overflowX) && style.position !== "static" && tagOf(element) !== "body";
      const isAway = outer.isAway || (cutsOff && Math.min(boxOf(element).width, boxOf(element).height) < 3);
      layers.set(element, { opacity: outer.opacity * own, filter, isAway });
    }
    return layers.get(element);
  };
  const SIDES = ["Top", "Right", "Bottom", "Left"];
  const lines = (style) => SIDES.map((side) => {
    const line = style["border" + side + "Style"], width = style["border" + side + "Width"];
    const none = line === "none" || line === "hidden" || parseFloat(width) < 0.5;
    return none ? "" : Math.round(parseFloat(width)) + line + style["border" + side + "Color"];
  });
  const OWN_INPUT = /^(checkbox|radio|range|color|file)$/;
  // Of what a browser draws as its own control, borders are its own, too.
  const isOwn = (element, style) => {
    const tag = tagOf(element);
    return ["outset", "inset"].includes(style.borderTopStyle) || ["select", "textarea"].includes(tag) ||
      (tag === "input" && OWN_INPUT.test(element.getAttribute("type")));
  };
  // Of a rule's old attributes each browser makes another border.
  const isOldRule = (element) => tagOf(element) === "hr" && ["noshade", "size", "color"].some((name) => Element.prototype.hasAttribute.call(element, name));
  const border = (element, style) => (isOldRule(element) || (CONTROLS.has(tagOf(element)) && isOwn(element, style)) ? "" : lines(style).join());
  // An automatic one is the browser's own, around what has the focus.
  const outline = (style) =>
    ["none", "auto"].includes(style.outlineStyle) || parseFloat(style.outlineWidth) < 0.5 ? "" : " outline " + pixels(style.outlineWidth) + style.outlineStyle + style.outlineColor;
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
    if (!parent || inSvg(element) || !FILLING.has(style.display) || style.float !== "none" || !["static", "relative"].includes(style.position)) return "";
    const room = roomIn(view, parent), left = parseFloat(style.marginLeft), right = parseFloat(style.marginRight);
    // Margins that are alike may be those that centre a box of its own width.
    const taken = Math.abs(left - right) < 2 ? box.width : box.width + left + right;
    return room === null ? "" : Math.abs(taken - room) < Math.max(1.5, room / 100) ? "all" : "part";
  };
  // Of an element with a box, browsers say what layout made of margins and widths (CSSOM, resolved
  // values): of centred tables, one what letters leave, another nothing.  Without a box they say what
  // the page does.  All within one task, so that nothing of it is drawn.
  const said = new Map();
  const note = (page, view) => {
    const root = of(page, "documentElement"), style = root?.style;
    if (!style) return;
    const before = Element.prototype.getAttribute.call(root, "style"), { scrollX, scrollY } = view;
    style.setProperty("display", "none", "important");
    for (const element of everything(page)) {
      const { marginLeft, marginRight, width } = view.getComputedStyle(element);
      said.set(element, { marginLeft, marginRight, width });
    }
    if (before === null) Element.prototype.removeAttribute.call(root, "style");
    else Element.prototype.setAttribute.call(root, "style", before);
    view.scrollTo({ left: scrollX, top: scrollY, behavior: "instant" });
  };
  const shortened = (text) => (/^-?[\d.]+px$/.test(text) ? String(pixels(text)) : text);
  const margins = (element, style) => {
    const [top, right, bottom, left] = four(style, MARGINS), heard = said.get(element);
    // Which margins at either end of something quirks mode drops, browsers do not agree on.
    const quirks = of(pageOf(element), "compatMode") === "BackCompat";
    const isLone = (side) => quirks && !Reflect.get(Element.prototype, side + "ElementSibling", element);
    // Of a box with too little room one browser says the margin at its end, another that there is none.
    const end = left >= 0 && right < 0 && FLOWING.has(style.display) && style.float === "none" ? 0 : right;
    const across = heard ? [heard.marginRight, heard.marginLeft].map(shortened) : [end, left];
    return [isLone("previous") ? "" : top, across[0], isLone("next") ? "" : bottom, across[1]].join();
  };
  // Old attributes (valign, align=middle) have a value of each browser's own.
  const OWN_ALIGN = new Set([...IMAGES, "table", "td", "th", "tr", "tbody", "thead", "tfoot"]);
  const alignment = (element, style) => {
    const right = style.direction === "rtl";
    const text = style.textAlign.replace(/^-(webkit|moz)-/, "").replace("start", right ? "right" : "left").replace("end", right ? "left" : "right");
    if (tagOf(element) === "legend") return "";
    return text + " " + (OWN_ALIGN.has(tagOf(element)) ? "" : style.verticalAlign);
  };
  // What browsers give their controls: buttons, fields, and those that are disabled.
  const OWN_COLOURS = new Set(["rgb(0, 0, 0)", "rgb(255, 255, 255)", "rgba(0, 0, 0, 0)", "rgb(239, 239, 239)", "rgba(239, 239, 239, 0.3)",
    "rgb(233, 233, 237)", "rgba(233, 233, 237, 0.5)", "rgba(255, 255, 255, 0.5)", "rgba(16, 16, 16, 0.3)",
    "rgb(84, 84, 84)", "rgb(128, 128, 128)", "rgb(109, 109, 109)", "rgba(0, 0, 0, 0.8)", "rgb(192, 192, 192)", "rgb(221, 221, 221)"]);
  const ownColour = (element, colour) =>
    CONTROLS.has(tagOf(element)) && (OWN_COLOURS.has(colour) || !isOfPage(element)) ? "" : colour;
  // Of a form control what the page says: what it is without that is its browser's own.
  const widthOf = (view, element, style, box) =>
    !CONTROLS.has(tagOf(element)) ? fills(view, element, style, box) : isOfPage(element) ? shortened(said.get(element)?.width ?? "") : "";
  const isOfPage = (element) => tagOf(element) !== "input" || !OWN_INPUT.test(element.getAttribute("type"));
  // How what is in it is laid out, and what of it is drawn; older browsers know no `rotate`.
  const LAYOUT = ["flexDirection", "flexWrap", "flexGrow", "justifyContent", "alignItems", "rowGap", "columnGap", "columnCount", "objectFit", "objectPosition", "backgroundSize", "backgroundRepeat", "clipPath", "mixBlendMode", "order", "rotate", "textOverflow"];
  // Tables and their rows do not scroll; one browser says so, another what the page says.
  const TABULAR = /^(inline-)?table(-(row|header|footer))?(-group)?$/;
  const overflow = (style) => [style.overflowX, style.overflowY].map((value) =>
    TABULAR.test(style.display) ? value.replace(/auto|scroll/, "visible") : value);
  const layout = (element, style, filter) => inSvg(element) ? filter : [
    filter, ...LAYOUT.map((name) => unlike(style[name] ?? "none")),
    ...(IMAGES.has(tagOf(element)) || FRAMES.has(tagOf(element)) ? [] : overflow(style))].join(" ");
  // The beginning of a text, letters that stand for the rest, and digits for the numbers in it.
  const sum = (letters) => [...letters].reduce((sum, letter) => (31 * sum + letter.codePointAt(0)) % 4294967296, 0).toString();
  const abridged = (text) => {
    const tail = text.slice(60), words = sum(tail.replace(/\d+/g, "0")).replace(/\d/g, (digit) => "abcdefghij"[digit]);
    return text.slice(0, 60) + (tail ? "…" + words + (/\d/.test(tail) ? sum(tail) : "") : "");
  };
  // What a control says or holds; times to the second are others in each look.
  const wordsOf = (text) => abridged((text ?? "").trim().replace(/\s+/g, " ").replace(/\d+:\d\d:\d\d/g, "0"));
  const held = (element, tag, own) => {
    if (tag === "button") return wordsOf(own);
    if (tag === "select") return wordsOf([...element.selectedOptions].map((one) => one.text).join(" / "));
    if (tag === "textarea") return wordsOf(element.value || element.placeholder);
    if (/^(checkbox|radio)$/.test(element.type)) return element.checked ? "chosen" : "";
    // One browser takes these for texts.
    if (/^(month|week)$/.test(element.getAttribute("type"))) return "";
    if (element.type === "password") return element.value.length || wordsOf(element.placeholder);
    return wordsOf(/^(submit|button|reset|image|file)$/.test(element.type) ? element.getAttribute("value") : element.value || element.placeholder);
  };
  const state = (element, own) => {
    const tag = tagOf(element);
    if (CONTROLS.has(tag)) return [element.disabled ? "disabled" : "", held(element, tag, own)].filter(Boolean).join(" ");
    if (tag === "progress" || tag === "meter") return element.hasAttribute("value") ? [element.value, element.min ?? 0, element.max].join("/") : "";
    if (tag === "td" || tag === "th") return [element.colSpan, element.rowSpan].join() === "1,1" ? "" : [element.colSpan, element.rowSpan].join(" by ");
    return (tag === "video" || tag === "audio") && element.controls ? "with controls" : "";
  };
  const dot = (view, element, style) => {
    const kind = style.listStyleType + picture(style.listStyleImage), { color } = view.getComputedStyle(element, "::marker");
    if (kind === "none") return kind;
    const list = parentOf(element), number = attribute(element, "value") || (list && tagOf(list) === "ol" ? attribute(list, "start") : "");
    return [kind, color === style.color ? "" : color, style.listStylePosition === "outside" ? "" : style.listStylePosition, number].filter(Boolean).join(" ");
  };
  // How letters are set, where it is not as in any text.
  const lettering = (style) => [
    pixels(style.wordSpacing) || "", pixels(style.textIndent) ? style.textIndent.includes("%") ? style.textIndent : pixels(style.textIndent) + "px" : "", style.fontVariantCaps === "normal" ? "" : style.fontVariantCaps,
    style.direction === "rtl" ? "rtl" : "", style.writingMode === "horizontal-tb" ? "" : style.writingMode,
    ...(style.textDecorationLine === "none" ? [] : [style.textDecorationStyle.replace("solid", ""), style.textDecorationColor === style.color ? "" : style.textDecorationColor])].filter(Boolean);
  // Opacities have 255 steps in all of them, which each rounds in its own way.
  const numbered = (parts) => {
    const look = parts.map((part) => part.replaceAll("|", "/")).join("|").replace(COLOUR, (colour) =>
      colour.replace(/\d*\.\d+/g, (number) => (Math.round(number * 255) / 255).toFixed(2)));
    if (!looks.has(look)) looks.set(look, looks.size);
    return looks.get(look);
  };
  const tenth = (text) => Math.round(parseFloat(text) * 10) / 10;
  const { paint, shape, momentOf, drawingOf, SHAPES } = shapes({ of, tagOf, pageOf, boxOf, attribute, CLEAR, pixels, tenth, numbered, layerOf });
  // Formulas are laid out in each browser's own way.
  const inMath = (element) => (Reflect.get(Element.prototype, "namespaceURI", element) ?? "").endsWith("MathML");
  const describe = (view, element, style, box, own) => {
    if (inMath(element)) return numbered([style.color, ...Array(24).fill("")]);
    const layer = layerOf(view, element);
    const look = [
      ownColour(element, inSvg(element) ? "" : style.color), isOldRule(element) ? "" : ownColour(element, style.backgroundColor), background(style), border(element, style),
      style.fontSize, style.fontWeight, family(style) + (fontsOf(pageOf(element)).loaded.has(family(style)) ? " of the page" : ""), style.fontStyle + (style.textDecorationLine || "none").replace("none", ""),
      style.transform.replace(NUMBER, (number) => Math.round(number * 100) / 100), String(tenth(layer.opacity)), inSvg(element) || FRAMES.has(tagOf(element)) ? "" : style.display,
      // Of what is replaced, Firefox gives its alternative text as generated.
      ...PSEUDO.map((at) => (IMAGES.has(tagOf(element)) ? "" : generated(view, element, at))),
      margins(element, style), four(style, PADDINGS).join(), widthOf(view, element, style, box),
      inSvg(element) ? "" : [style.position, style.float, ...(style.position === "static" || style.zIndex === "auto" ? [] : [style.zIndex])].join(" "), alignment(element, style), String(parseFloat(style.lineHeight) || style.lineHeight),
      [style.letterSpacing, style.textTransform, inSvg(element) ? "" : style.whiteSpace, ...lettering(style)].join(" "), style.display === "list-item" ? dot(view, element, style) : state(element, own),
      style.boxShadow + style.textShadow + outline(style), four(style, CORNERS).join(),
      layout(element, style, layer.filter), inSvg(element) ? paint(element, style) : "",
    ];
    return numbered(look);
  };
  const PICTURED = /^data:image|\.(svg|png|gif|jpe?g|webp)$/i;
  const URLS = /url\("((?:[^"\\]|\\.)*)"\)|url\(([^")]*)\)/g;
  // All pictures that are drawn of an element, in an order of their own.
  const picturesOf = (view, element, tag, style) => {
    const found = [style.backgroundImage, style.borderImageSource];
    if (style.display === "list-item") found.push(style.listStyleImage);
    if (!IMAGES.has(tag)) for (const at of PSEUDO) {
      const drawn = view.getComputedStyle(element, at);
      if (drawn.display !== "none" && !["none", "normal"].includes(drawn.content)) found.push(drawn.content, drawn.backgroundImage);
    }
    const urls = found.flatMap((list) => [...list.matchAll(URLS)].map(([, quoted, bare]) => (quoted ?? bare).replace(/\\(.)/g, "$1")));
    const files = {
      video: () => element.poster, input: () => element.type === "image" && element.src, image: () => inSvg(element) && element.href.baseVal,
      object: () => PICTURED.test(element.data) && element.data, embed: () => PICTURED.test(element.src) && element.src };
    const file = files[tag]?.();
    try { if (file) urls.push(new URL(file, Reflect.get(Node.prototype, "baseURI", element)).href); } catch (error) { }
    return urls;
  };
  const INLINE = new Set(["inline", "contents", "ruby", "ruby-text"]);
  const isDecorated = (view, element, style) =>
    !CLEAR.test(style.backgroundColor) || style.boxShadow !== "none" || lines(style).some(Boolean) ||
    PSEUDO.some((at) => !["", '""'].includes(generated(view, element, at)));
  return { everything, picturesOf, abridged, of, tagOf, boxOf, note, describe, layerOf, shape, momentOf, drawingOf, inSvg, looks, IMAGES, CONTROLS, SHAPES, isBox: (view, element, style) =>
    !INLINE.has(style.display) || isDecorated(view, element, style) };
}
