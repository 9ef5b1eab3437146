// A pair: what is known of it, and both its images.
"use strict";

function showNothing(words) {
  pair = null;
  place.pair = "";
  writePlace();
  fill($("nothing"), words);
  $("nothing").hidden = false;
  $("shown").hidden = $("judging").hidden = true;
}

let opening = 0;
async function openPair(id, anew = false) {
  noteLeft();
  const mine = ++opening;
  place.pair = id;
  markCurrent();
  writePlace(anew);
  $("shown").classList.add("leaving");
  $("note").disabled = true; // until the note is that of the next pair
  let found;
  try {
    let known;
    do {
      known = savings;
      found = await ask("/api/pairs/" + encodeURIComponent(id));
    } while (known !== savings && mine === opening); // what was saved meanwhile may not be in it
  } catch (error) {
    if (mine === opening) showNothing(`The pair cannot be shown: ${error.message}`);
    return;
  }
  if (mine !== opening) return; // somebody has gone on meanwhile
  takePair(found);
  draft = ownDraft(found);
  showPair();
  showDraft();
  fill($("saved"), savedWords(found));
  $("saved").className = "";
}

function ownDraft(found) {
  const waiting = pending.get(found.id);
  const own = waiting ? waiting.body : found.own;
  return own
    ? { label: own.label, faults: new Set(own.faults), note: own.note }
    : { label: "", faults: new Set(), note: "" };
}

function savedWords(found) {
  return found.own ? `Saved ${moment(found.own.at_ms)}` : "";
}

function takePair(found) {
  pair = found;
  const at = list.pairs.findIndex((one) => one.id === found.id);
  if (at < 0) return;
  list.pairs[at] = { ...list.pairs[at], ...found, url: list.pairs[at].url };
  const button = $("list").children[at].firstElementChild;
  button.querySelector(".state").textContent = stateWords(list.pairs[at]);
  button.firstElementChild.replaceWith(verdictMark(found.verdict, false));
}

function showPair() {
  $("nothing").hidden = true;
  $("shown").hidden = false;
  $("shown").classList.remove("leaving");
  $("verdict").replaceWith(Object.assign(verdictMark(pair.verdict), { id: "verdict" }));
  fill($("url"), pair.url);
  fill($("date"), pair.date);
  const stands = pair.weight === 1 ? "itself" : `${number(pair.weight, 1)} pages`;
  const about = pair.verdict === null
    ? ["The machine's verdict is hidden until you have judged."]
    : [`Confidence ${number(pair.confidence, 2)}, model ${pair.model}.`];
  about.push(`${pair.browsers}.`, `Stands for ${stands}.`);
  if (pair.needs > 1) about.push(`Needs two reviewers; ${pair.judged_by} so far.`);
  if (pair.in_audit) about.push("Part of the audit of similar pairs.");
  if (pair.settled) about.push(`Settled: ${pair.settled}.`);
  else if (pair.standing === "disputed") about.push("Disputed: the lead settles it.");
  fill($("about"), about.join(" "));
  fill($("reasons"), ...pair.reasons.map((reason) => make("li", {}, reason)));
  showStage();
  showMore();
}

function showMore() {
  const parts = [];
  if (pair.others.length)
    parts.push(make("details", { open: true }, make("summary", {}, "Judgements by others"),
      judgements(pair.others)));
  if (pair.history.length)
    parts.push(make("details", {}, make("summary", {}, `All judgements (${pair.history.length})`),
      judgements(pair.history)));
  for (const view of [pair.reference, pair.other])
    if (view.missed.length)
      parts.push(make("details", {}, make("summary", {}, `${view.side}: URLs missing in the archive`),
        make("ul", {}, ...view.missed.map((url) => make("li", {}, url)))));
  const features = Object.entries(pair.features);
  if (features.length)
    parts.push(make("details", {}, make("summary", {}, "What was measured"),
      make("ul", { className: "columns" },
        ...features.map(([name, value]) => make("li", {}, `${name}: ${value === null ? "–" : +value.toPrecision(4)}`)))));
  if (pair.unreadable)
    parts.push(make("p", { className: "bad" },
      `${pair.unreadable} judgements of this pair cannot be read by this version.`));
  fill($("more"), ...parts);
}

function judgements(all) {
  return make("ul", {}, ...all.map((one) =>
    make("li", {},
      `${moment(one.at_ms)} ${one.author}${one.role === "lead" ? " (lead)" : ""}: ${one.label}`,
      one.faults.length ? `: ${one.faults.join(", ")}` : "",
      one.note ? ` “${visible(one.note)}”` : "")));
}

// Both images -------------------------------------------------------------------------------
function caption(view) {
  const words = `${view.kind}, ${view.browser}, ${number(view.milliseconds / 1000, 1)} s`;
  const line = make("p", {}, make("b", {}, view.side), ` ${words}`);
  if (view.outcome !== "complete")
    line.append(make("span", { className: "bad" },
      ` ${view.outcome.replaceAll("_", " ")}: ${view.reasons.join("; ")}`));
  return line;
}

function picture(view) {
  if (!view.image) return make("p", { className: "dim none" }, `${view.side}: no image.`);
  const image = make("img", { alt: `What the browser showed: ${view.side.toLowerCase()}`, decoding: "async" });
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
  };
  if (boxes && image.tagName === "IMG")
    if (image.complete && image.naturalWidth) draw();
    else image.addEventListener("load", draw, { once: true });
}

function pane(label, ...children) {
  return make("div", { className: "pane", tabIndex: 0, role: "region", "aria-label": label }, ...children);
}

function showStage() {
  const stage = $("stage");
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
    fill(stage, pane("Both, one over the other", both));
    turnDial();
  }
  for (const button of document.querySelectorAll("[data-mode]"))
    button.setAttribute("aria-pressed", String(button.dataset.mode === place.mode));
  $("boxes").setAttribute("aria-pressed", String(boxes));
  const left = pair.changes_left_out ? ` of ${pair.changes.length + pair.changes_left_out}` : "";
  $("boxes").firstChild.textContent = `Boxes (${pair.changes.length}${left}) `;
  $("dial-label").hidden = !["slider", "onion"].includes(place.mode);
  const [one, other] = [pair.reference.side, pair.other.side];
  fill($("dial-words"), place.mode === "slider" ? `${one} ↔ ${other}` : `${other} over ${one.toLowerCase()}`);
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
  writePlace();
  if (pair) showStage();
}
