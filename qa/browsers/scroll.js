// Down to the cap by whole viewports, so that what loads when seen loads; then back up.
async (cap, pause) => {
  const wait = (ms) => new Promise((done) => setTimeout(done, ms));
  const step = Math.max(innerHeight, 100);
  const root = document.scrollingElement || document.documentElement;
  for (let y = 0; root && y < Math.min(root.scrollHeight, cap); y += step) {
    scrollTo(0, y);
    await wait(pause);
  }
  scrollTo(0, 0);
  for (const animation of document.getAnimations ? document.getAnimations() : []) {
    try { animation.finish(); } catch (error) { animation.cancel(); }
  }
  for (const media of document.querySelectorAll("video,audio")) media.pause();
  await wait(pause);
}
