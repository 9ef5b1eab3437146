// Shapes of drawings in SVG: what they are painted with, and where in the drawing they are.
({ of, tagOf, pageOf, boxOf, attribute, CLEAR, pixels, tenth, numbered, layerOf }) => {
  const hrefOf = (element) => element.getAttribute("href") ?? element.getAttribute("xlink:href") ?? "";
  // What is in a page may be named by a script that counts.
  const counted = (name) => "#" + name.replace(/\d+/g, "0");
  const named = (text) => text.replace(/url\("?[^#")]*#([^")]*)"?\)/g, (_, name) => counted(name));
  // What is drawn by reference: colours of a gradient, or shapes of a pattern or the end of a line.
  const referred = (element, text) => {
    const name = /url\("?[^#")]*#([^")]*)/.exec(text)?.[1];
    let found = name && Document.prototype.getElementById.call(pageOf(element), name);
    for (let hops = 0; found && hops < 3 && /Gradient$/.test(tagOf(found)) && !Element.prototype.querySelector.call(found, "stop"); hops++)
      found = Document.prototype.getElementById.call(pageOf(element), hrefOf(found).slice(1));
    if (!found) return named(text);
    if (!references.has(found)) references.set(found, wordsOf(found, of(pageOf(element), "defaultView")));
    return references.get(found);
  };
  const references = new Map();
  const wordsOf = (found, view) => tagOf(found) + [...Element.prototype.querySelectorAll.call(found, "*")].slice(0, 20).map((one) => {
    const style = view.getComputedStyle(one);
    if (tagOf(one) === "stop") return Math.round(100 * one.offset?.baseVal) + "%" + style.stopColor + tenth(style.stopOpacity);
    return tagOf(one) + style.fill.replace(/^url.*/, "") + attribute(one, "d").slice(0, 40);
  }).join(" ");
  const inkOf = (element, colour, opacity) => (colour.startsWith("url(") ? referred(element, colour) : colour) + (tenth(opacity) === 1 ? "" : " " + tenth(opacity));
  const ENDS = ["markerStart", "markerMid", "markerEnd"];
  const paint = (element, style) => {
    const isInked = (colour, opacity) => colour !== "none" && !CLEAR.test(colour) && tenth(opacity) > 0;
    const fill = isInked(style.fill, style.fillOpacity) ? inkOf(element, style.fill, style.fillOpacity) + (style.fillRule === "evenodd" ? " evenodd" : "") : "";
    if (!isInked(style.stroke, style.strokeOpacity) || !parseFloat(style.strokeWidth)) return fill;
    const dashes = style.strokeDasharray === "none" ? "" : " " + style.strokeDasharray.split(/[ ,]+/).map(pixels).join();
    const ends = [style.strokeLinecap, style.strokeLinejoin].filter((one) => !["butt", "miter"].includes(one));
    ends.push(...ENDS.filter((name) => (style[name] ?? "none") !== "none").map((name) => referred(element, style[name])));
    return fill + " line " + tenth(style.strokeWidth) + " " + inkOf(element, style.stroke, style.strokeOpacity) + dashes + ends.map((one) => " " + one).join("");
  };
  // Of what is in a file its own name.
  const used = (element) => {
    const [file, name] = hrefOf(element).split("#");
    return " " + (file ? file.split("/").pop() + "#" + (name ?? "") : counted(name ?? ""));
  };
  const SHAPES = new Set(["path", "rect", "circle", "ellipse", "line", "polyline", "polygon", "use"]);
  const UNDRAWN = "defs, symbol, clipPath, mask, pattern, marker";
  const lookOfShape = (opacity, painted) => numbered([...Array(9).fill(""), opacity, ...Array(14).fill(""), painted]);
  const drawings = new Map();
  const drawingOf = (element) => {
    let outer = element;
    for (let at = element; at; at = Reflect.get(SVGElement.prototype, "ownerSVGElement", at)) outer = at;
    if (!drawings.has(outer)) {
      const { width, height } = boxOf(outer), scale = tagOf(outer) === "svg" ? scaleOf(outer, getComputedStyle(outer)) : 1;
      // Scripts lay out charts by what their letters measure, and what they lay over letters; formulas
      // are as large as a letter is.
      const isOver = getComputedStyle(outer).position === "absolute", isOfLetters = /[\d.](ch|ex)\b/.test(attribute(outer, "width") + attribute(outer, "style"));
      const hasLetters = isOver || isOfLetters || Boolean(Element.prototype.querySelector.call(outer, "text, foreignObject"));
      drawings.set(outer, { outer, number: drawings.size, isSeen: width >= 1 && height >= 1, scale, hasLetters });
    }
    return drawings.get(outer);
  };
  // From the shape's units to pixels from where those of the drawing begin. Whether its own size and
  // place are in getCTM, and how what is around it is turned in getScreenCTM, browsers do not agree on.
  const scaleOf = (outer, style) => {
    const { width, height } = Reflect.get(SVGSVGElement.prototype, "viewBox", outer).baseVal ?? {};
    return width && height ? Math.min(parseFloat(style.width) / width, parseFloat(style.height) / height) || 1 : 1;
  };
  const matrixIn = (outer, element, scale) => {
    const screen = SVGGraphicsElement.prototype.getScreenCTM;
    const { a, b, c, d, e, f } = screen.call(outer).inverse().multiply(screen.call(element));
    return { a: a * scale, b: b * scale, c: c * scale, d: d * scale, e: e * scale, f: f * scale };
  };
  // A shape of a drawing: its place and size there, and what it is painted with; null if it is not drawn.
  const GEOMETRY = new Set(["path", "polyline", "polygon"]), LONGEST = 3000;
  const lengthOf = (element, at) => attribute(element, "d").length + attribute(element, "points").length > LONGEST ? 0 :
    SVGGeometryElement.prototype.getTotalLength.call(element) * Math.sqrt(Math.abs(at.a * at.d - at.b * at.c));
  const placeIn = (drawing, element) => {
    const own = SVGGraphicsElement.prototype.getBBox.call(element), at = matrixIn(drawing.outer, element, drawing.scale);
    return { at, place: [
      own.x * at.a + own.y * at.c + at.e, own.x * at.b + own.y * at.d + at.f,
      own.width * Math.hypot(at.a, at.b), own.height * Math.hypot(at.c, at.d)] };
  };
  // What is another a moment later of a shape that moves; null where it is not drawn.
  const exactly = (style, place) => [...place, style.opacity, style.fill].join();
  const momentOf = (view, element) => {
    try {
      return exactly(view.getComputedStyle(element), placeIn(drawingOf(element), element).place);
    } catch (error) {
      return null;
    }
  };
  const shape = (view, element, style) => {
    const painted = paint(element, style);
    if (!painted || Element.prototype.closest.call(element, UNDRAWN)) return null;
    try {
      const drawing = drawingOf(element), { at, place } = placeIn(drawing, element);
      // A line has one side alone; what is filled has two.
      const least = painted.includes("line ") ? 0 : 0.5;
      if (!drawing.isSeen || Math.max(place[2], place[3]) < 1 || Math.min(place[2], place[3]) < least) return null;
      // Whether the place that `use` names is its own or that of what is in it, browsers do not agree on.
      const isUse = tagOf(element) === "use", placed = isUse ? [] : place.map(Math.round);
      if (GEOMETRY.has(tagOf(element))) placed.push(Math.round(lengthOf(element, at)));
      const layer = layerOf(view, element), look = lookOfShape(String(tenth(layer.opacity)), [painted + (isUse ? used(element) : ""), layer.filter].filter(Boolean).join(" "));
      return { place: placed, drawing: drawing.number, by_letters: drawing.hasLetters, exact: exactly(style, place), look };
    } catch (error) {
      return null;
    }
  };
  return { paint, shape, momentOf, drawingOf, SHAPES };
}
