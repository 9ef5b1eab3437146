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
  // What a page then shows in its place is this browser's doing.
  const { getContext } = HTMLCanvasElement.prototype;
  let lacks = false;
  HTMLCanvasElement.prototype.getContext = function (kind, ...more) {
    const found = getContext.call(this, kind, ...more);
    if (found === null && /webgl/.test(kind) && !lacks) {
      lacks = true;
      say("lacks", "WebGL");
    }
    return found;
  };
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
