// Runs in every frame before any script of the page, where two browsers are compared: notes where
// letters are drawn on canvases, for decoded.js.  Every browser has them a little elsewhere, and all
// that is beside them, too, where a page measures letters.
() => {
  "use strict";
  // By canvas the corners of rectangles, or null where they may be anywhere.
  const MOST_LETTERED = 300, lettered = new WeakMap(), flat = new WeakSet(), measuring = new Map();
  let isMeasured = false;
  const noteRect = (context, sides, ends) => {
    const { canvas } = context, rects = lettered.get(canvas) ?? new Set(), at = context.getTransform();
    const corners = sides.flatMap((x) => ends.map((y) => at.transformPoint({ x, y })));
    const [across, down] = ["x", "y"].map((axis) => corners.map((corner) => Math.round(corner[axis])));
    rects.add([Math.min(...across), Math.min(...down), Math.max(...across), Math.max(...down)].join());
    lettered.set(canvas, rects.size > MOST_LETTERED ? null : rects);
  };
  const noteLetters = (context, text, x, y) => {
    const { canvas, shadowBlur, shadowOffsetX, shadowOffsetY, lineWidth } = context;
    if (lettered.get(canvas) === null) return;
    const box = measuring.get(Object.getPrototypeOf(context)).call(context, text), more = 2 + shadowBlur + Math.max(lineWidth, Math.abs(shadowOffsetX), Math.abs(shadowOffsetY));
    noteRect(context, [x - box.actualBoundingBoxLeft - more, x + box.actualBoundingBoxRight + more], [y - box.actualBoundingBoxAscent - more, y + box.actualBoundingBoxDescent + more]);
  };
  // A drawing may have letters, and so may what was made of a canvas.
  const mayHaveLetters = (source) => {
    if (source instanceof HTMLImageElement) return /\.svg\b|svg\+xml|^blob:/.test(source.currentSrc);
    return source instanceof HTMLCanvasElement || (self.OffscreenCanvas && source instanceof OffscreenCanvas) ? lettered.has(source) || !flat.has(source) : true;
  };
  // Each browser has its own way to make a picture larger or smaller.
  const notePicture = (context, source, ...given) => {
    if (lettered.get(context.canvas) === null) return;
    if (mayHaveLetters(source)) return lettered.set(context.canvas, null);
    const { a, b, c, d } = context.getTransform(), [x, y, width, height] = given.slice(-4), isWhole = given.length < 8;
    const own = isWhole ? [source.naturalWidth ?? source.width, source.naturalHeight ?? source.height] : given.slice(2, 4);
    const size = given.length < 4 ? own : [width, height], isScaled = a !== 1 || b || c || d !== 1 || size[0] !== own[0] || size[1] !== own[1];
    const [left, top] = given.length < 4 ? given : [x, y];
    if (isScaled) noteRect(context, [left - 2, left + size[0] + 2], [top - 2, top + size[1] + 2]);
  };
  const around = (prototype, name, before) => {
    const original = prototype?.[name];
    if (original) prototype[name] = function (...given) {
      try { before(this, ...given); } catch (error) { lettered.set(this.canvas ?? this, null); }
      return original.apply(this, given);
    };
  };
  for (const { prototype } of [CanvasRenderingContext2D, self.OffscreenCanvasRenderingContext2D ?? {}]) {
    for (const name of ["fillText", "strokeText"]) around(prototype, name, noteLetters);
    measuring.set(prototype, prototype?.measureText);
    around(prototype, "measureText", () => { isMeasured = true; });
    around(prototype, "createPattern", (context, source) => { if (mayHaveLetters(source)) lettered.set(context.canvas, null); });
    around(prototype, "drawImage", notePicture);
  }
  addEventListener("pinakes:letters", (event) => {
    const canvas = event.composedPath()[0], rects = flat.has(canvas) ? lettered.get(canvas) : null;
    const isAnywhere = rects === null || (isMeasured && rects?.size);
    canvas.dispatchEvent(new CustomEvent("pinakes:lettered", { detail: isAnywhere ? "anywhere" : [...(rects ?? [])].join(" ") }));
  }, true);
  const { getContext } = HTMLCanvasElement.prototype;
  HTMLCanvasElement.prototype.getContext = function (kind, ...more) {
    const found = getContext.call(this, kind, ...more);
    if (found && kind === "2d") flat.add(this);
    return found;
  };
  if (self.OffscreenCanvas) around(OffscreenCanvas.prototype, "getContext", (canvas, kind) => { if (kind === "2d") flat.add(canvas); });
}
