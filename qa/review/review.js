// The page of `pinakes qa review`.  It shows images and text, never anything that was archived:
// all text goes in as text (`append`), and the policy of the page lets no other script run.
"use strict";

const $ = (id) => document.getElementById(id);
const KEPT = "pinakes-review";
const MODES = ["side", "slider", "onion", "difference"];
const FILTERS = ["state", "verdict", "fault", "browsers", "site", "text", "low", "high"];
const FAULT_KEYS = "1234567890-=";
const SAVING_S = 90;
const SIGNS = { accept: "✓", reject: "✗", unsure: "?" };

let run = null; // what /api/run says
let token = ""; // for writing
let author = ""; // who reviews; empty: somebody who only looks
let place = { page: "pairs", mode: "side", pair: "", offset: 0, filter: {} }; // as the URL has it
let list = { pairs: [], total: 0, offset: 0 };
let pair = null; // the pair that is shown
let draft = null; // what is said of it: label, faults, note
let boxes = true;
const pending = new Map(); // by pair: a judgement that is not known to be saved

// Elements ----------------------------------------------------------------------------------
function make(name, properties = {}, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(properties)) {
    if (key in element && key !== "list") element[key] = value;
    else element.setAttribute(key, value);
  }
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return element;
}

function fill(element, ...children) {
  element.replaceChildren(...children.filter((child) => child !== null && child !== undefined));
}

// What a note holds may turn the direction of writing as well.
const DECEIVING = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]/g;
const visible = (text) =>
  text.replace(DECEIVING, (c) => "\\u" + c.charCodeAt(0).toString(16).padStart(4, "0"));

const number = (value, digits = 0) =>
  value === null || value === undefined
    ? "–"
    : value.toLocaleString("en", { minimumFractionDigits: digits, maximumFractionDigits: digits });
const percent = (value) => (value === null ? "–" : number(100 * value, 1) + " %");
const moment = (ms) => new Date(ms).toLocaleString("sv-SE");

function verdictMark(verdict, words = true) {
  const name = verdict === null ? "hidden-verdict" : verdict;
  const text = verdict === null ? "hidden" : verdict;
  return make("span", { className: "verdict " + name, title: "the machine: " + text }, words ? text : "");
}

// Asking ------------------------------------------------------------------------------------
async function ask(path, { body = null, name = author, seconds = 120 } = {}) {
  const headers = { "X-Pinakes-Token": token };
  if (name) headers["X-Pinakes-Reviewer"] = encodeURIComponent(name);
  if (body) headers["Content-Type"] = "application/json";
  const stop = new AbortController();
  const timer = setTimeout(() => stop.abort(), seconds * 1000);
  try {
    const answer = await fetch(path, {
      method: body ? "POST" : "GET",
      headers,
      body: body ? JSON.stringify(body) : undefined,
      signal: stop.signal,
      credentials: "omit",
      redirect: "error",
    });
    let said = null;
    try {
      said = await answer.json();
    } catch {
      throw new Error(`the server's answer is none (status ${answer.status})`);
    }
    if (!answer.ok) throw new Error(said.problem || `the server says ${answer.status}`);
    return said;
  } catch (error) {
    if (error.name === "AbortError") throw new Error("the server does not answer");
    if (error instanceof TypeError) throw new Error("the server is not there");
    throw error;
  } finally {
    clearTimeout(timer);
  }
}

function trouble(words) {
  $("trouble").hidden = !words;
  fill($("trouble"), words || "");
}

// What the URL says ---------------------------------------------------------------------------
function readPlace() {
  const query = new URLSearchParams(location.search);
  const filter = {};
  for (const name of FILTERS) if (query.get(name)) filter[name] = query.get(name);
  if (![...query].length) filter.state = "todo";
  place = {
    page: query.get("page") === "summary" ? "summary" : "pairs",
    mode: MODES.includes(query.get("mode")) ? query.get("mode") : "side",
    pair: query.get("pair") || "",
    offset: Math.max(0, parseInt(query.get("offset"), 10) || 0),
    filter,
  };
}

function writePlace(anew = false) {
  const query = new URLSearchParams(place.filter);
  query.set("mode", place.mode);
  if (place.page === "summary") query.set("page", "summary");
  if (place.offset) query.set("offset", place.offset);
  if (place.pair) query.set("pair", place.pair);
  history[anew ? "pushState" : "replaceState"](null, "", "?" + query);
}

function takeToken() {
  const given = new URLSearchParams(location.hash.slice(1)).get("token");
  if (given) {
    sessionStorage.setItem(KEPT + "-token", given);
    history.replaceState(null, "", location.pathname + location.search);
  }
  token = sessionStorage.getItem(KEPT + "-token") || "";
}

// The list ------------------------------------------------------------------------------------
function queryOfList(offset) {
  return "/api/pairs?" + new URLSearchParams({ ...place.filter, offset });
}

async function loadList(offset = place.offset) {
  try {
    list = await ask(queryOfList(offset));
    if (!list.pairs.length && list.total && offset) list = await ask(queryOfList(0));
    trouble(list.problem && `The list may be old, for the store cannot be read: ${list.problem}`);
  } catch (error) {
    trouble(`The list cannot be shown: ${error.message}`);
    return false;
  }
  place.offset = list.offset;
  showList();
  return true;
}

function stateWords(one) {
  if (one.label) return SIGNS[one.label] + " yours";
  if (one.standing === "open") return "";
  if (one.standing === "waiting") return "one of two";
  return one.standing;
}

function showList() {
  fill(
    $("list"),
    ...list.pairs.map((one) =>
      make(
        "li",
        {},
        make(
          "button",
          { type: "button", "data-pair": one.id, title: one.url, onclick: () => openPair(one.id) },
          verdictMark(one.verdict, false),
          make("span", { className: "where" }, one.url.replace(/^https?:\/\//, "")),
          make("span", { className: "state" }, stateWords(one)),
        ),
      ),
    ),
  );
  markCurrent();
  fill($("count"), list.total === 1 ? "1 pair" : `${number(list.total)} pairs`);
  const last = list.offset + list.pairs.length;
  fill($("list-part"), list.total ? `${number(list.offset + 1)}–${number(last)}` : "");
  $("list-before").disabled = list.offset === 0;
  $("list-next").disabled = last >= list.total;
  const words = FILTERS.filter((name) => place.filter[name]).map((n) => `${n}: ${place.filter[n]}`);
  fill($("filter-words"), words.join(", "));
}

function markCurrent() {
  for (const button of $("list").querySelectorAll("button")) {
    if (button.dataset.pair === place.pair) {
      button.setAttribute("aria-current", "true");
      button.scrollIntoView({ block: "nearest" });
    } else button.removeAttribute("aria-current");
  }
}

async function turnList(by) {
  if (await loadList(Math.max(0, list.offset + by * run.page_pairs))) {
    if (list.pairs.length) await openPair((by < 0 ? list.pairs.at(-1) : list.pairs[0]).id);
    else writePlace();
  }
}

// Of what is to do, or not reviewed, the list gets shorter as it is worked through: the next
// part of it is then what has become its first.
async function step(by) {
  const at = list.pairs.findIndex((one) => one.id === place.pair);
  const next = list.pairs[at + by];
  if (next) return openPair(next.id);
  if (by < 0) return list.offset ? turnList(-1) : undefined;
  const shrinks = ["todo", "unreviewed", "waiting", "disputed"].includes(place.filter.state);
  if (shrinks) {
    await loadList(0);
    if (list.pairs.length) return openPair(list.pairs[0].id);
  }
  if (list.offset + list.pairs.length < list.total) return turnList(1);
  tell("This is the last of the list.");
}

function fillFilters() {
  const form = $("filter-form").elements;
  const options = (element, names, words = {}) =>
    fill(element, make("option", { value: "" }, "all"),
      ...names.map((name) => make("option", { value: name }, words[name] || name)));
  options(form.state, run.states, {
    todo: "to do", waiting: "waiting for the second", disputed: "disputed: for the lead",
    audit: "audit of the similar",
  });
  options(form.verdict, ["dissimilar", "uncertain", "similar", run.hidden]);
  options(form.fault, run.faults);
  options(form.browsers, run.browsers);
  fill($("sites"), ...run.sites.map((site) => make("option", { value: site })));
  for (const name of FILTERS) form[name].value = place.filter[name] || "";
}

async function filterChanged() {
  const form = $("filter-form").elements;
  place.filter = {};
  for (const name of FILTERS) if (form[name].value) place.filter[name] = form[name].value;
  place.offset = 0;
  if (await loadList(0)) {
    if (list.pairs.length) await openPair(list.pairs[0].id, true);
    else showNothing("No pair is like that.");
  }
}

// A pair --------------------------------------------------------------------------------------
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
  let found;
  try {
    found = await ask("/api/pairs/" + encodeURIComponent(id));
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
  $("verdict").replaceWith(Object.assign(verdictMark(pair.verdict), { id: "verdict" }));
  fill($("url"), pair.url);
  fill($("date"), pair.date);
  const stands = pair.weight === 1 ? "itself" : `${number(pair.weight, 1)} pages`;
  const about = pair.verdict === null
    ? ["The machine's verdict is hidden until you have judged."]
    : [`Confidence ${number(pair.confidence, 2)}, model ${pair.model}.`];
  about.push(`${pair.browsers}.`, `Stands for ${stands}.`);
  if (pair.needs > 1) about.push(`Goes to two reviewers; ${pair.judged_by} so far.`);
  if (pair.in_audit) about.push("In the audit of the similar.");
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
    parts.push(make("details", { open: true }, make("summary", {}, "What others say"),
      judgements(pair.others)));
  if (pair.history.length)
    parts.push(make("details", {}, make("summary", {}, `All that was said (${pair.history.length})`),
      judgements(pair.history)));
  for (const view of [pair.reference, pair.other])
    if (view.missed.length)
      parts.push(make("details", {}, make("summary", {}, `${view.side}: URLs that the archive has not`),
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

// Both images ---------------------------------------------------------------------------------
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

// What is said --------------------------------------------------------------------------------
function tell(words, kind = "") {
  fill($("saved"), words);
  $("saved").className = kind;
}

function showDraft() {
  $("judging").hidden = false;
  const may = Boolean(author) && run.viewer.may_write;
  for (const element of $("judging").elements) element.disabled = !may;
  for (const button of document.querySelectorAll("[data-label]"))
    button.setAttribute("aria-pressed", String(button.dataset.label === draft.label));
  for (const box of $("faults").querySelectorAll("input")) box.checked = draft.faults.has(box.value);
  $("note").value = draft.note;
  fill($("judging-title"), may ? "What do you say?"
    : author ? "The token is missing: open the address that was printed" : "You only look");
}

function say(label) {
  if (!pair || !author || !run.viewer.may_write) return;
  draft.note = $("note").value;
  draft.label = label;
  if (label === "accept") draft.faults.clear();
  save();
}

function toggleFault(fault) {
  if (!pair || !author || !run.viewer.may_write) return;
  draft.note = $("note").value;
  if (draft.faults.has(fault)) draft.faults.delete(fault);
  else draft.faults.add(fault);
  if (draft.faults.size && (!draft.label || draft.label === "accept")) draft.label = "reject";
  save();
}

function noteLeft() {
  if (!pair || !draft || $("note").value === draft.note) return;
  draft.note = $("note").value;
  if (draft.label) save();
  else tell("The note is not saved: accept, reject, or say that you are unsure.", "bad");
}

function newId() {
  return [...crypto.getRandomValues(new Uint8Array(16))]
    .map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

function save() {
  showDraft();
  if (!draft.label) return;
  const body = { id: newId(), label: draft.label, faults: [...draft.faults], note: draft.note };
  const before = pending.get(pair.id);
  pending.set(pair.id, { body, author, url: pair.url, busy: before?.busy || false, problem: "" });
  keepPending();
  tell("Saving …");
  send(pair.id);
}

async function send(id) {
  const entry = pending.get(id);
  if (!entry || entry.busy) return;
  entry.busy = true;
  const { body, author: name } = entry;
  let found = null;
  let problem = "";
  try {
    found = await ask(`/api/pairs/${encodeURIComponent(id)}/judgements`, { body, name, seconds: SAVING_S });
    if (!found.history.some((one) => one.id === body.id)) throw new Error("the server does not show it");
  } catch (error) {
    problem = error.message || String(error);
  }
  const now = pending.get(id);
  if (!now) return;
  now.busy = false;
  if (!problem && now.body.id === body.id) pending.delete(id);
  else now.problem = problem;
  keepPending();
  if (pair && pair.id === id) {
    if (problem) tell(`NOT saved: ${problem}`, "bad");
    else if (!pending.has(id)) {
      const hidden = pair.verdict === null;
      takePair(found);
      if (hidden) showPair();
      else showMore();
      tell(savedWords(found), "well");
    }
  }
  showAlarm();
  if (!problem && pending.has(id)) send(id);
  else if (!problem) showProgress();
}

function keepPending() {
  const entries = [...pending].map(([id, { body, author: name, url }]) => [id, { body, author: name, url }]);
  try {
    sessionStorage.setItem(`${KEPT}-pending-${run.run}`, JSON.stringify(entries));
  } catch {
    // Full, or forbidden: what is not saved is still named on the page.
  }
}

function takePending() {
  try {
    const entries = JSON.parse(sessionStorage.getItem(`${KEPT}-pending-${run.run}`) || "[]");
    for (const [id, entry] of entries)
      pending.set(id, { ...entry, busy: false, problem: "the page was left before it was saved" });
  } catch {
    // Somebody else's entry.
  }
}

function showAlarm() {
  const lost = [...pending.values()].filter((entry) => entry.problem);
  $("alarm").hidden = !lost.length;
  if (!lost.length) return;
  const what = lost.length === 1 ? `What you said of ${lost[0].url} is NOT saved` : `${lost.length} judgements are NOT saved`;
  fill($("alarm-words"), `${what}: ${lost[0].problem}`);
}

function sendAgain() {
  for (const [id, entry] of pending) {
    entry.problem = entry.busy ? entry.problem : "";
    send(id);
  }
}

function discard() {
  for (const [id, entry] of [...pending]) if (entry.problem) pending.delete(id);
  keepPending();
  showAlarm();
  if (pair) openPair(pair.id);
}

// The summary ---------------------------------------------------------------------------------
async function showProgress() {
  try {
    const figures = await ask("/api/summary");
    fill($("progress"), `${number(figures.queue_done)} of ${number(figures.queued)} to be reviewed are settled, ` +
      `${number(figures.standings.disputed || 0)} disputed`);
    if (place.page === "summary") showSummary(figures);
  } catch (error) {
    fill($("progress"), "");
    if (place.page === "summary") fill($("summary"), make("p", { className: "bad" }, `No figures: ${error.message}`));
  }
}

function table(heads, rows) {
  const cell = (tag, value, at) =>
    value instanceof Node && value.tagName === "TD" ? value
      : make(tag, { className: at && !(value instanceof Node) ? "n" : "" }, value);
  return make("table", {},
    make("thead", {}, make("tr", {}, ...heads.map((head, at) =>
      make("th", { scope: "col", className: at ? "n" : "" }, head)))),
    make("tbody", {}, ...rows.map((row) => make("tr", {}, ...row.map((value, at) =>
      at ? cell("td", value, at) : make("th", { scope: "row" }, value))))));
}

function bars(parts, most) {
  const cell = make("td", { className: "barred" });
  for (const [name, count] of parts) {
    const bar = make("span", { className: "bar " + name, title: `${name}: ${number(count)}` });
    bar.style.width = (most ? (100 * count) / most : 0) + "%";
    cell.append(bar);
  }
  return cell;
}

function card(title, ...children) {
  return make("section", {}, make("h2", {}, title), ...children);
}

function estimateCard(figures) {
  return card("How many pages are faulty", ...figures.estimates.flatMap((one) => [
    make("h3", { className: "dim" }, one.browsers),
    one.share === null
      ? make("p", { className: "big" }, "Not enough")
      : make("p", { className: "big" }, `${percent(one.share)} `,
        make("small", {}, `(${percent(one.low)} to ${percent(one.high)}, 95 % interval)`)),
    make("p", {}, one.share === null ? `${one.wanting}.`
      : `${number(one.share * one.pages)} of ${number(one.pages)} pages, between ${number(one.low * one.pages)} and ${number(one.high * one.pages)}.`),
    make("p", { className: "dim" },
      `Rests on ${number(one.reviewed)} pairs that people settled: ${number(one.alarms_reviewed)} of ${number(one.alarms)} alarms, and the random audit of the similar. Weighted, bootstrapped by site.`),
  ]));
}

function agreementCard(figures) {
  const { pairs, observed, kappa } = figures.agreement;
  const rows = figures.agreement_by_two.map((one) =>
    [one.names.join(" and "), number(one.pairs), percent(one.observed), one.kappa === null ? "–" : number(one.kappa, 2)]);
  return card("How far reviewers agree",
    make("p", { className: "big" }, kappa === null ? "–" : `κ ${number(kappa, 2)}`),
    make("p", { className: "dim" }, pairs
      ? `Cohen's kappa over ${number(pairs)} pairs that two reviewed blind to each other; the same answer in ${percent(observed)}.`
        + (kappa === null ? " Not defined: all said the same of all." : "")
      : "No pair has been reviewed by two yet. One in ten goes to two."),
    rows.length ? table(["reviewers", "pairs", "same answer", "κ"], rows) : null);
}

function histogramCard(figures) {
  const names = ["dissimilar", "uncertain", "similar"];
  const bins = figures.histogram.similar.map((_, at) => names.map((name) => [name, figures.histogram[name][at]]));
  const most = Math.max(1, ...bins.map((bin) => bin.reduce((sum, [, count]) => sum + count, 0)));
  return card("Confidence of the machine",
    table(["confidence", "", ...names], bins.map((bin, at) =>
      [`${number(at / 10, 1)} to ${number((at + 1) / 10, 1)}`, bars(bin, most), ...bin.map(([, count]) => number(count))])));
}

function faultsCard(figures) {
  const rows = Object.entries(figures.faults).sort((a, b) => b[1].pairs - a[1].pairs);
  const most = Math.max(1, ...rows.map(([, part]) => part.pairs));
  return card("Faults by kind", make("p", { className: "dim" }, "Of pairs that are settled as faulty."),
    table(["kind", "", "pairs", "stand for"], rows.map(([name, part]) =>
      [name, bars([["", part.pairs]], most), number(part.pairs), number(part.weight)])));
}

function progressCard(figures) {
  const standings = figures.standings;
  const reviewers = Object.entries(figures.reviewers);
  return card("Progress",
    make("p", { className: "big" }, `${number(figures.queue_done)} of ${number(figures.queued)}`),
    make("p", { className: "dim" }, "to be reviewed are settled: all alarms, and an audit of the similar."),
    table(["of all pairs", "pairs"], [
      ["nobody has judged", number(standings.open || 0)], ["waiting for the second", number(standings.waiting || 0)],
      ["disputed: for the lead", number(standings.disputed || 0)], ["settled", number(standings.settled || 0)]]),
    reviewers.length ? table(["reviewer", "judged"], reviewers.map(([name, count]) => [name, number(count)])) : null,
    figures.unreadable ? make("p", { className: "bad" }, `${number(figures.unreadable)} judgements cannot be read by this version, and do not count.`) : null);
}

function verdictsCard(figures) {
  const against = (verdict, label) => (figures.against.find(([v, l]) => v === verdict && l === label) || [0, 0, 0])[2];
  return card("Machine and people", table(["the machine says", "pairs", "stand for", "people accept", "people reject"],
    ["dissimilar", "uncertain", "similar"].map((verdict) => [verdictMark(verdict),
      number(figures.verdicts[verdict].pairs), number(figures.verdicts[verdict].weight),
      number(against(verdict, "accept")), number(against(verdict, "reject"))])));
}

function signingCard(figures) {
  const latest = figures.signoffs.at(-1);
  const history = make("ul", {}, ...figures.signoffs.toReversed().map((one) =>
    make("li", {}, `${moment(one.at_ms)} ${one.author}${one.role === "lead" ? " (lead)" : ""}: ${one.state}`,
      one.note ? ` “${visible(one.note)}”` : "",
      make("span", { className: "dim" }, ` with ${number(one.counts.settled)} settled, ${number(one.counts.faulty)} of them faulty`))));
  const state = make("select", { id: "sign-state" }, ...run.signoffs.map((name) => make("option", {}, name)));
  const note = make("textarea", { id: "sign-note", rows: 2, maxLength: run.note_characters });
  const said = make("p", { role: "status", id: "signed" });
  const form = make("form", { className: "signing", id: "signing" },
    make("label", {}, "The crawl is ", state), make("label", {}, "Note ", note),
    make("button", { type: "submit" }, `Sign as ${author}`), said);
  const id = newId(); // of this form: signing again after a lost answer signs once
  form.onsubmit = async (event) => {
    event.preventDefault();
    fill(said, "Saving …");
    try {
      await ask("/api/signoffs", { body: { id, state: state.value, note: note.value }, seconds: SAVING_S });
      await showProgress();
    } catch (error) {
      said.className = "bad";
      fill(said, `NOT signed: ${error.message}`);
    }
  };
  return card("Sign-off",
    make("p", { className: "big" }, latest ? latest.state : "Not signed"),
    figures.signoffs.length ? history : null,
    run.viewer.may_sign && run.viewer.may_write ? form
      : make("p", { className: "dim" }, "A lead signs, where there is one; whoever signs needs a name and the token."));
}

function showSummary(figures) {
  fill($("summary"),
    figures.problem ? make("p", { className: "notice bad" }, `These figures may be old, for the store cannot be read: ${figures.problem}`) : null,
    make("div", { className: "cards" }, estimateCard(figures), progressCard(figures), agreementCard(figures),
      verdictsCard(figures), faultsCard(figures), histogramCard(figures), signingCard(figures)));
}

function showPage(page, anew = true) {
  noteLeft();
  place.page = page;
  if (anew) writePlace(true);
  const summary = page === "summary";
  $("summary").hidden = !summary;
  $("desk").hidden = summary;
  $("go-summary").setAttribute("aria-pressed", String(summary));
  $("go-pairs").setAttribute("aria-pressed", String(!summary));
  if (summary) fill($("summary"), make("p", { className: "dim" }, "Counting …"));
  showProgress();
}

// Keys ----------------------------------------------------------------------------------------
const KEYS = {
  a: ["accept: it looks right", () => say("accept")],
  r: ["reject: it is faulty", () => say("reject")],
  u: ["unsure", () => say("unsure")],
  j: ["next pair", () => step(1)],
  k: ["pair before", () => step(-1)],
  m: ["write a note; Escape leaves it", () => $("note").focus()],
  s: ["side by side", () => setMode("side")],
  l: ["slider", () => setMode("slider")],
  o: ["onion skin", () => setMode("onion")],
  d: ["difference", () => setMode("difference")],
  v: ["next of these views", () => setMode(MODES[(MODES.indexOf(place.mode) + 1) % MODES.length])],
  b: ["boxes of what differs", () => toggleBoxes()],
  f: ["filters", () => openFilters()],
  g: ["summary, and back", () => showPage(place.page === "summary" ? "pairs" : "summary")],
  x: ["save again what is not saved", () => sendAgain()],
  "?": ["these keys", () => $("help").showModal()],
};

function toggleBoxes() {
  boxes = !boxes;
  if (pair) showStage();
}

function openFilters() {
  if (place.page === "summary") showPage("pairs");
  $("filters").open = true;
  $("filter-form").elements.state.focus();
}

function keyPressed(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing || event.repeat && event.key !== "j" && event.key !== "k") return;
  const on = event.target;
  if (event.key === "Escape" && on === $("note")) return $("pair").focus();
  if (document.querySelector("dialog[open]") || !$("keys-on").checked) return;
  if (on.matches("textarea, select, input:not([type=checkbox])")) return;
  const fault = FAULT_KEYS.indexOf(event.key);
  const action = fault >= 0 && run.faults[fault] ? () => toggleFault(run.faults[fault]) : KEYS[event.key]?.[1];
  if (!action) return;
  if (place.page === "summary" && !"gfx?".includes(event.key)) return;
  event.preventDefault();
  action();
}

function fillKeys() {
  const entries = Object.entries(KEYS).map(([key, [words]]) => [key, words]);
  run.faults.forEach((fault, at) => FAULT_KEYS[at] && entries.push([FAULT_KEYS[at], fault]));
  fill($("keys"), ...entries.flatMap(([key, words]) =>
    [make("dt", {}, make("kbd", {}, key)), make("dd", {}, words)]));
  fill($("faults"), ...run.faults.map((fault, at) =>
    make("label", {}, make("input", { type: "checkbox", value: fault, onchange: () => toggleFault(fault) }),
      fault, FAULT_KEYS[at] ? make("kbd", {}, FAULT_KEYS[at]) : null)));
}

// Who, and the beginning ------------------------------------------------------------------------
async function askRun() {
  run = await ask("/api/run");
  author = run.viewer.author || "";
  document.title = `${run.title} · Review · Pinakes`;
  fill($("title"), run.title);
  const lead = run.viewer.role === "lead" ? " (lead)" : "";
  fill($("go-name"), author ? author + lead : "Who reviews?");
}

async function takeName(event) {
  event.preventDefault();
  const before = author;
  author = $("name").value;
  try {
    await askRun();
  } catch (error) {
    author = before;
    fill($("name-trouble"), error.message);
    return;
  }
  localStorage.setItem(KEPT + "-name", author);
  $("name-dialog").close();
  await showAll();
}

async function showAll() {
  fillFilters();
  showPage(place.page, false);
  if (!(await loadList())) return;
  const wanted = place.pair || list.pairs[0]?.id;
  if (wanted) await openPair(wanted);
  else showNothing(place.filter.state === "todo" ? "Nothing is left for you to do here." : "No pair is like that.");
  showAlarm();
}

function listen() {
  $("go-pairs").onclick = () => showPage("pairs");
  $("go-summary").onclick = () => showPage("summary");
  $("go-help").onclick = () => $("help").showModal();
  $("go-name").onclick = () => {
    $("name").value = author;
    fill($("name-trouble"));
    $("name-dialog").showModal();
  };
  $("only-look").onclick = () => $("name-dialog").close();
  $("name-form").onsubmit = takeName;
  $("again").onclick = sendAgain;
  $("discard").onclick = discard;
  $("list-before").onclick = () => turnList(-1);
  $("list-next").onclick = () => turnList(1);
  $("filter-form").onchange = filterChanged;
  $("filter-form").onreset = () => setTimeout(filterChanged);
  $("filter-form").onsubmit = (event) => event.preventDefault();
  $("judging").onsubmit = (event) => event.preventDefault();
  for (const button of document.querySelectorAll("[data-label]")) button.onclick = () => say(button.dataset.label);
  for (const button of document.querySelectorAll("[data-mode]")) button.onclick = () => setMode(button.dataset.mode);
  $("boxes").onclick = toggleBoxes;
  $("dial").oninput = turnDial;
  $("note").onchange = noteLeft;
  $("note").onkeydown = (event) => {
    if (event.key === "Enter" && event.ctrlKey) noteLeft();
  };
  $("keys-on").checked = localStorage.getItem(KEPT + "-keys") !== "off";
  $("keys-on").onchange = () => localStorage.setItem(KEPT + "-keys", $("keys-on").checked ? "on" : "off");
  document.addEventListener("keydown", keyPressed);
  window.addEventListener("popstate", () => {
    readPlace();
    showAll();
  });
  window.addEventListener("hashchange", async () => {
    if (!location.hash.includes("token=")) return;
    takeToken();
    await askRun().then(sendAgain, (error) => trouble(error.message));
    if (pair) showDraft();
  });
  window.addEventListener("beforeunload", (event) => {
    noteLeft();
    if (pending.size) event.preventDefault();
  });
}

async function begin() {
  takeToken();
  author = localStorage.getItem(KEPT + "-name") || "";
  readPlace();
  try {
    await askRun().catch((error) => {
      if (!author) throw error;
      author = ""; // it may be a name that is none
      return askRun();
    });
  } catch (error) {
    return trouble(`Nothing can be shown: ${error.message}`);
  }
  $("note").maxLength = run.note_characters;
  $("name").maxLength = run.name_characters;
  fillKeys();
  takePending();
  listen();
  if (!author) $("name-dialog").showModal();
  await showAll();
  document.body.dataset.ready = "yes";
}

begin();
