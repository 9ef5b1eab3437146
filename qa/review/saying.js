// What is said of a pair, saved at once; what is not known to be saved is kept, and named.
"use strict";

const MARKED = "Marked, and not judged yet: r rejects with what is marked.";
const judged = []; // pairs that were judged since this page was opened, the last one last

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
  fill($("judging-title"), may ? "Your judgement"
    : author ? "The token is missing: open the address that was printed" : "You only look");
}

// Not of a pair that is not there yet: the one that is still shown is another.
function maySay() {
  if (!pair || !author || !run.viewer.may_write) return false;
  if (place.pair === pair.id) return true;
  tell("Nothing was saved: the pair was not shown yet.", "bad");
  return false;
}

function say(label) {
  if (!maySay()) return;
  const note = $("note").value;
  const isNew = draft.label !== label || draft.note !== note || drafts.has(pair.id);
  draft.note = note;
  draft.label = label;
  if (label === "accept") draft.faults.clear();
  if (isNew) save();
  if (judged.at(-1) !== pair.id) judged.push(pair.id);
  showLast();
  if ($("onward").checked) goOn();
}

const DONE = { accept: "Accepted", reject: "Rejected", unsure: "Unsure" };
const lastSaid = new Map(); // by pair: its URL and label

// What was said last, which is another pair than the one that is shown, and whether it is saved.
function showLast() {
  const id = judged.at(-1);
  const known = lastSaid.get(id);
  $("last").hidden = !known || (pair && pair.id === id);
  if ($("last").hidden) return;
  const state = !pending.has(id) ? "saved" : pending.get(id).problem ? "NOT saved" : "saving …";
  fill($("last-words"), `${SIGNS[known.label]} ${DONE[known.label]}, ${state}: ${known.url.replace(/^https?:\/\//, "")}`);
}

async function goBack() {
  if (pair && judged.at(-1) === pair.id) judged.pop();
  const id = judged.at(-1);
  if (!id) return tell("Nothing else was judged since this page was opened.");
  await openPair(id);
}

function toggleFault(fault) {
  if (!maySay()) {
    for (const box of $("faults").querySelectorAll("input")) box.checked = Boolean(draft?.faults.has(box.value));
    return;
  }
  draft.note = $("note").value;
  if (draft.faults.has(fault)) draft.faults.delete(fault);
  else draft.faults.add(fault);
  if (!draft.label) return keepDraft();
  if (draft.faults.size && draft.label === "accept") draft.label = "reject";
  save();
}

function noteLeft() {
  if (!pair || !draft || $("note").value === draft.note) return;
  draft.note = $("note").value;
  if (draft.label) return save();
  keepDraft();
  tell("The note is not saved: accept, reject, or say that you are unsure.", "bad");
}

// A fault that is marked or a note that is written is no verdict: it is kept until there is one.
function keepDraft() {
  if (draft.faults.size || draft.note) drafts.set(pair.id, draft);
  else drafts.delete(pair.id);
  showDraft();
  takePair(pair);
  tell(drafts.has(pair.id) ? MARKED : "");
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
  drafts.delete(pair.id);
  lastSaid.set(pair.id, { url: pair.url, label: draft.label });
  pending.set(pair.id, { body, author, url: pair.url, busy: before?.busy || false, problem: "" });
  keepPending();
  tell("Saving …");
  send(pair.id);
}

const sending = new Set(); // promises
const allSent = () => Promise.allSettled([...sending]);

function send(id) {
  const sent = sendOne(id).finally(() => sending.delete(sent));
  sending.add(sent);
}

const savings = new Map(); // by pair: how many judgements were saved since this page was opened
async function sendOne(id) {
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
  if (!problem) {
    savings.set(id, (savings.get(id) || 0) + 1);
    takeListed(found);
    countSoon();
  }
  if (!problem && now.body.id === body.id) pending.delete(id);
  else now.problem = problem;
  keepPending();
  if (pair && pair.id === id) {
    if (problem) tell(`NOT saved: ${problem}`, "bad");
    else if (!pending.has(id)) {
      const hidden = pair.verdict === null;
      takePair(found);
      if (hidden) showPair();
      else {
        showAbout();
        showMore();
      }
      tell(savedWords(found), "well");
    }
  }
  showAlarm();
  showLast();
  if (!problem && pending.has(id)) return sendOne(id);
  if (!problem) showProgress();
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
    for (const [id, entry] of entries) pending.set(id, { ...entry, busy: false, problem: "" });
  } catch {
    // Somebody else's entry.
  }
}

// The page was left before the server's answer came: it may have been saved all the same.
async function sendLeft() {
  for (const [id, entry] of [...pending]) {
    try {
      const found = await ask("/api/pairs/" + encodeURIComponent(id), { name: entry.author });
      if (found.history.some((one) => one.id === entry.body.id) && pending.get(id) === entry) {
        pending.delete(id);
        keepPending();
        takeListed(found);
        if (pair && pair.id === id && found.others_hidden === pair.others_hidden) openPair(id);
        continue;
      }
    } catch {
      // Sending says what is wrong.
    }
    send(id);
  }
  showAlarm();
}

function showAlarm() {
  const lost = [...pending.values()].filter((entry) => entry.problem);
  $("alarm").hidden = !lost.length;
  if (!lost.length) return;
  const what = lost.length === 1 ? `What you said of ${lost[0].url} is NOT saved` : `${number(lost.length)} judgements are NOT saved`;
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
