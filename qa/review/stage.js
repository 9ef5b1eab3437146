// Both images of a pair, side by side or one over the other, and the boxes of what differs.
"use strict";

let boxAt = 0; // the box that is looked at
let boxesOf = ""; // of this pair
let flipped = true; // one, then the other: whether the other is shown
let unseenShown = ""; // the pair whose equal images are shown all the same

function caption(view) {
  const words = `${view.kind}, ${view.browser}, ${number(view.milliseconds / 1000, 1)} s`;
  const line = make("p", {}, make("b", {}, view.side), ` ${words}`);
  const said = view.reasons.join("; ");
  if (view.outcome !== "complete")
    line.append(make("span", { className: "bad" }, ` ${view.outcome.replaceAll("_", " ")}: ${said}`));
  else if (said) line.append(make("span", { className: "dim" }, `; ${said}`));
  return line;
}

function picture(view) {
  if (!view.image) return make("p", { className: "dim none" }, `${view.side}: no image.`);
  const image = make("img", { alt: `What the browser showed: ${view.side.toLowerCase()}`, decoding: "sync" });
  image.onerror = () => image.replaceWith(
    make("p", { className: "bad none" }, `${view.side}: the image ${view.image} is not in the run's folder.`));
  image.src = "/image/" + encodeURIComponent(view.image);
  return image;
}

// In pixels of the image; shown as shares of it, whatever its size on the screen.
function drawBoxes(layer, image) {
  const draw = () => {
    for (const [x, y, width, height] of pair.changes) {
      const box = make("div", { className: "box" });
      box.style.left = (100 * x) / image.naturalWidth + "%";
      box.style.top = (100 * y) / image.naturalHeight + "%";
      box.style.width = (100 * width) / image.naturalWidth + "%";
      box.style.height = (100 * height) / image.naturalHeight + "%";
      layer.append(box);
    }
    markBox();
  };
  if (boxes && image.tagName === "IMG")
    if (image.complete && image.naturalWidth) draw();
    else image.addEventListener("load", draw, { once: true });
}

function pane(label, ...children) {
  return make("div", { className: "pane", tabIndex: 0, role: "region", "aria-label": label }, ...children);
}

function showStage() {
  showStepping();
  const stage = $("stage");
  if (pair.is_unseen && unseenShown !== pair.id) return showUnseen(stage);
  const before = picture(pair.reference);
  const after = picture(pair.other);
  stage.className = place.mode === "side" ? "two" : "one";
  if (place.mode === "side") {
    const layer = make("div", { className: "layer" }, after);
    drawBoxes(layer, after);
    const panes = [
      pane(pair.reference.side, caption(pair.reference), make("div", { className: "stack" }, before)),
      pane(pair.other.side, caption(pair.other), make("div", { className: "stack" }, layer)),
    ];
    together(panes);
    fill(stage, ...panes);
  } else {
    const layer = make("div", { className: "layer" }, after);
    drawBoxes(layer, after);
    const both = make("div", { className: "stack " + place.mode }, before, layer);
    sizeBoth(before, after, layer);
    fill(stage, pane("Both, one over the other", ...(place.mode === "flip" ? [make("div", { id: "flip-caption", role: "status" })] : []), both));
    turnDial();
    showFlip();
  }
  for (const button of document.querySelectorAll("[data-mode]"))
    button.setAttribute("aria-pressed", String(button.dataset.mode === place.mode));
  lookWhenDrawn();
  $("dial-label").hidden = !["slider", "onion"].includes(place.mode);
  const [one, other] = [pair.reference.side, pair.other.side];
  fill($("dial-words"), place.mode === "slider" ? `${one} ↔ ${other}` : `${other} over ${one.toLowerCase()}`);
}

// Equal pictures tell a reviewer nothing: what is proven is said in their place.
function showUnseen(stage) {
  stage.className = "one";
  $("dial-label").hidden = true;
  fill(stage, make("div", { className: "pane unseen-harm" },
    make("p", {}, make("strong", {}, "The harm is proven by the bytes that were sent, and is not to be seen.")),
    make("p", {}, "Both pictures and the text of the page are the same; the reasons above say what was sent."),
    make("button", { type: "button", onclick: showSeen }, "Show both pictures ", make("kbd", {}, "t"))));
  prepareNext();
}

function showSeen() {
  unseenShown = pair.id;
  showStage();
}

// Boxes ---------------------------------------------------------------------------------------
function showStepping() {
  const count = pair.changes.length;
  $("stepping").hidden = !count;
  $("boxes").setAttribute("aria-pressed", String(boxes));
  const left = pair.changes_left_out ? ` of ${count + pair.changes_left_out}` : "";
  $("boxes").firstChild.textContent = `Boxes (${count}${left}) `;
  const same = pair.reference.image && pair.reference.image === pair.other.image;
  fill($("no-boxes"), count ? "" : pair.verdict === null ? "Boxes are hidden until you have judged."
    : same ? "Both pictures are the same, byte for byte." : "No box: no place is known that differs.");
}

function markBox() {
  const all = [...$("stage").querySelectorAll(".box")];
  all.forEach((box, at) => box.classList.toggle("current", at === boxAt));
  fill($("box-at"), all.length ? `${number(boxAt + 1)} of ${number(pair.changes.length)}` : "");
  return all[boxAt];
}

// In the middle of its pane; a high one from its top.
function lookAtBox() {
  const box = markBox();
  const area = box?.closest(".pane");
  if (!area) return;
  const [inner, outer] = [box.getBoundingClientRect(), area.getBoundingClientRect()];
  area.scrollTop += inner.top - outer.top - Math.max(60, (outer.height - inner.height) / 2);
  area.scrollLeft += inner.left - outer.left - Math.max(20, (outer.width - inner.width) / 2);
}

function stepBox(by) {
  if (!pair || !pair.changes.length) return;
  boxAt = (boxAt + by + pair.changes.length) % pair.changes.length;
  if (place.mode === "flip") flipped = true;
  if (!boxes) boxes = true;
  if (!$("stage").querySelector(".box")) {
    if (pair.is_unseen) unseenShown = pair.id;
    return showStage();
  }
  showFlip();
  lookAtBox();
}

// What differs is in view at once; both panes can be scrolled only when both images are there.
async function lookWhenDrawn() {
  const images = [...$("stage").querySelectorAll("img")];
  await Promise.allSettled(images.map((image) => image.decode()));
  if (!images.length || !images[0].isConnected) return;
  lookAtBox();
  prepareNext();
}

// The pictures of the pairs that come next, loaded and decoded while this one is looked at.
const prepared = new Map();
function prepareNext() {
  for (const { images } of openBehind(pair.id).slice(0, 2))
    for (const name of images || []) {
      if (!name || prepared.has(name)) continue;
      const image = make("img", { src: "/image/" + encodeURIComponent(name) });
      image.decode().catch(() => prepared.delete(name));
      prepared.set(name, image);
      if (prepared.size > 8) prepared.delete(prepared.keys().next().value);
    }
}

// One, then the other ---------------------------------------------------------------------------
function flip() {
  if (!pair) return;
  if (pair.is_unseen && unseenShown !== pair.id) return showSeen();
  if (place.mode !== "flip") {
    flipped = true;
    return setMode("flip");
  }
  flipped = !flipped;
  showFlip();
}

function showFlip() {
  if (place.mode !== "flip" || !$("flip-caption")) return;
  const [before, layer] = $("stage").querySelector(".stack").children;
  before.style.visibility = flipped ? "hidden" : "";
  layer.style.visibility = flipped ? "" : "hidden";
  fill($("flip-caption"), caption(flipped ? pair.other : pair.reference));
}

// Pixel on pixel: the narrower one takes its share of the wider one's width.
function sizeBoth(before, after, layer) {
  const size = () => {
    const widest = Math.max(before.naturalWidth || 0, after.naturalWidth || 0);
    if (!widest) return;
    if (before.naturalWidth) before.style.width = (100 * before.naturalWidth) / widest + "%";
    if (after.naturalWidth) layer.style.width = (100 * after.naturalWidth) / widest + "%";
  };
  for (const image of [before, after]) image.addEventListener("load", size);
  size();
}

function turnDial() {
  const layer = $("stage").querySelector(".layer");
  if (!layer) return;
  const value = Number($("dial").value);
  layer.style.clipPath = place.mode === "slider" ? `inset(0 0 0 ${value}%)` : "";
  layer.style.opacity = place.mode === "onion" ? value / 100 : "";
  if (place.mode === "difference") layer.style.mixBlendMode = "difference";
}

// A pane that ends earlier must not pull the other one back: what we set ourselves is no scroll.
function together(panes) {
  const set = new Map();
  for (const one of panes)
    one.addEventListener("scroll", () => {
      if (set.get(one) === one.scrollTop + "," + one.scrollLeft) return;
      set.delete(one);
      for (const other of panes) {
        if (other === one) continue;
        other.scrollTop = one.scrollTop;
        other.scrollLeft = one.scrollLeft;
        set.set(other, other.scrollTop + "," + other.scrollLeft);
      }
    }, { passive: true });
}

function setMode(mode) {
  place.mode = mode;
  if (pair) unseenShown = pair.id;
  writePlace();
  if (pair) showStage();
}
