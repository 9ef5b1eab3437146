// Keys, who reviews, and the beginning.  Last of the review's scripts.
"use strict";

const KEYS = {
  a: ["accept: it looks right", () => say("accept")],
  r: ["reject: it is faulty", () => say("reject")],
  u: ["unsure", () => say("unsure")],
  z: ["back to what was judged last", () => goBack()],
  j: ["next pair", () => step(1)],
  k: ["pair before", () => step(-1)],
  m: ["write a note; Escape leaves it", () => $("note").focus()],
  s: ["side by side", () => setMode("side")],
  t: ["one, then the other, in one place", () => flip()],
  l: ["slider", () => setMode("slider")],
  o: ["onion skin", () => setMode("onion")],
  d: ["difference", () => setMode("difference")],
  v: ["next of these views", () => setMode(MODES[(MODES.indexOf(place.mode) + 1) % MODES.length])],
  n: ["next box of what differs", () => stepBox(1)],
  p: ["box before", () => stepBox(-1)],
  b: ["boxes of what differs", () => toggleBoxes()],
  f: ["filters; Escape leaves them", () => ($("filters").open ? closeFilters() : openFilters())],
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

function closeFilters() {
  $("filters").open = false;
  $("pair").focus();
}

// What is typed into; all else that has the focus lets keys through.
const TYPED = "textarea, input:not([type=checkbox], [type=range], [type=radio])";

function keyPressed(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing || event.repeat && !"jknp".includes(event.key)) return;
  const on = event.target;
  if (event.key === "Escape" && on.closest("#filters")) return closeFilters();
  if (event.key === "Escape" && on.matches(TYPED) && !on.closest("dialog"))
    return (place.page === "summary" ? $("summary") : $("pair")).focus();
  if (document.querySelector("dialog[open]") || !$("keys-on").checked) return;
  if (on.matches(TYPED)) return;
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

let hasAsked = false; // for a pair, by the URL: else the first of the list is shown

// Who, and the beginning --------------------------------------------------------------------
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
  if (!hasAsked) place.pair = ""; // the first of another's list
  await showAll();
}

async function showAll() {
  fillFilters();
  showPage(place.page, false);
  if (!(await loadList())) return;
  await fallBack();
  hasAsked = Boolean(place.pair);
  const wanted = place.pair || list.pairs[0]?.id;
  if (wanted) await openPair(wanted);
  else showNothing(place.filter.state === "todo" ? "You have nothing left to review. The counts beside the list show what other filters hold." : "No pair matches.");
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
  for (const button of document.querySelectorAll("[data-mode]")) button.onclick = () => (button.dataset.mode === "flip" ? flip() : setMode(button.dataset.mode));
  $("boxes").onclick = toggleBoxes;
  $("box-before").onclick = () => stepBox(-1);
  $("box-next").onclick = () => stepBox(1);
  $("back").onclick = goBack;
  $("dial").oninput = turnDial;
  $("note").onchange = noteLeft;
  $("note").onkeydown = (event) => {
    if (event.key === "Enter" && event.ctrlKey) noteLeft();
  };
  $("keys-on").checked = localStorage.getItem(KEPT + "-keys") !== "off";
  $("keys-on").onchange = () => localStorage.setItem(KEPT + "-keys", $("keys-on").checked ? "on" : "off");
  $("onward").checked = localStorage.getItem(KEPT + "-onward") !== "off";
  $("onward").onchange = () => localStorage.setItem(KEPT + "-onward", $("onward").checked ? "on" : "off");
  document.addEventListener("keydown", keyPressed);
  window.addEventListener("popstate", () => {
    if (location.hash.includes("token=")) return; // no place, and no other page: see hashchange
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
    if (pending.size || drafts.size) event.preventDefault();
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
  sendLeft();
  document.body.dataset.ready = "yes";
}

begin();
