// Runs in every frame before any script of the page: its clock, its dice, and what would
// open a window or wait for a person.  Notes go to the console, which only the driver reads.
(shift, seed) => {
  "use strict";
  const note = console.debug.bind(console);
  const say = (kind, text) => note("pinakes:" + kind + ":" + String(text).slice(0, 200));

  if (shift !== null) {
    const Real = Date;
    const now = () => Real.now() + shift;
    const Shifted = function Date(...parts) {
      if (!new.target) return new Real(now()).toString();
      return Reflect.construct(Real, parts.length ? parts : [now()], new.target);
    };
    Shifted.prototype = Real.prototype;
    Object.defineProperty(Real.prototype, "constructor", { value: Shifted, writable: true, configurable: true });
    for (const [name, value] of [["now", now], ["parse", Real.parse], ["UTC", Real.UTC]])
      Object.defineProperty(Shifted, name, { value, writable: true, configurable: true });
    Object.defineProperty(Shifted, "length", { value: 7 });
    Object.defineProperty(globalThis, "Date", { value: Shifted, writable: true, configurable: true });
  }

  if (seed !== null) {
    let state = seed >>> 0;
    Math.random = () => {  // mulberry32
      state = (state + 0x6d2b79f5) >>> 0;
      let mixed = Math.imul(state ^ (state >>> 15), state | 1);
      mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
      return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
    };
  }

  window.alert = (text) => say("dialog", "alert " + text);
  window.confirm = (text) => (say("dialog", "confirm " + text), false);
  window.prompt = (text) => (say("dialog", "prompt " + text), null);
  window.print = () => say("dialog", "print");
  window.open = (url) => (say("popup", url), null);
  window.close = () => say("close", "");
  addEventListener("beforeunload", (event) => event.stopImmediatePropagation(), true);
  // Where letters are drawn on canvases, for decoded.js: every browser has them a little elsewhere,
  // and all that is beside them, too, where a page measures letters.
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
  // What a page then shows in its place is this browser's doing.
  const { getContext } = HTMLCanvasElement.prototype;
  let lacks = false;
  HTMLCanvasElement.prototype.getContext = function (kind, ...more) {
    const found = getContext.call(this, kind, ...more);
    if (found && kind === "2d") flat.add(this);
    if (found === null && /webgl/.test(kind) && !lacks) {
      lacks = true;
      say("lacks", "WebGL");
    }
    return found;
  };
  if (self.OffscreenCanvas) around(OffscreenCanvas.prototype, "getContext", (canvas, kind) => { if (kind === "2d") flat.add(canvas); });
  if (navigator.serviceWorker)
    navigator.serviceWorker.register = (url) => (
      say("service-worker", url), Promise.reject(new DOMException("blocked", "SecurityError")));

  try {
    const sheet = new CSSStyleSheet();
    sheet.replaceSync(
      "*,*::before,*::after{animation-duration:0s!important;animation-delay:0s!important;" +
      "transition-duration:0s!important;transition-delay:0s!important;" +
      "caret-color:transparent!important;scroll-behavior:auto!important}");
    document.adoptedStyleSheets = [sheet];
  } catch (error) {
    say("unpinned", "animations");
  }
}
