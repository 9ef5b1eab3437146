// Down to the cap by whole viewports, so that what loads when seen loads; then back up.
async (cap, pause) => {
  // By Document's own getters: `<img name=scrollingElement>` would stand before them.
  const page = (name) => Reflect.get(Document.prototype, name, document);
  const wait = (ms) => new Promise((done) => setTimeout(done, ms));
  const step = Math.max(innerHeight, 100);
  const root = page("scrollingElement") || page("documentElement");
  for (let y = 0; root && y < Math.min(root.scrollHeight, cap); y += step) {
    scrollTo(0, y);
    await wait(pause);
  }
  scrollTo(0, 0);
  for (const animation of page("getAnimations") ? page("getAnimations").call(document) : []) {
    try { animation.finish(); } catch (error) { animation.cancel(); }
  }
  for (const media of page("querySelectorAll").call(document, "video,audio")) media.pause();
  await wait(pause);
}
