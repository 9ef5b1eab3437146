// A pair: what is known of it.
"use strict";

const REASONS = 8; // that are shown without asking

function showNothing(words) {
  pair = null;
  place.pair = "";
  writePlace();
  fill($("nothing"), words);
  $("nothing").hidden = false;
  $("shown").hidden = $("judging").hidden = true;
  showLast();
}

let opening = 0;
async function openPair(id, anew = false) {
  noteLeft();
  const mine = ++opening;
  if ($("judging").contains(document.activeElement)) $("pair").focus(); // a key there is for the pair before
  place.pair = id;
  markCurrent();
  writePlace(anew);
  $("shown").classList.add("leaving");
  $("note").disabled = true; // until the note is that of the next pair
  let found;
  try {
    let known;
    do {
      known = savings.get(id);
      found = await ask("/api/pairs/" + encodeURIComponent(id));
    } while (known !== savings.get(id) && mine === opening); // what was saved meanwhile may not be in it
  } catch (error) {
    if (mine === opening) showNothing(`The pair cannot be shown: ${error.message}`);
    return;
  }
  if (mine !== opening) return; // somebody has gone on meanwhile
  takePair(found);
  $("pair").scrollTop = 0;
  draft = ownDraft(found);
  showPair();
  showDraft();
  showLast();
  fill($("saved"), drafts.has(id) ? MARKED : savedWords(found));
  $("saved").className = "";
}

function ownDraft(found) {
  const waiting = pending.get(found.id);
  if (!waiting && drafts.has(found.id)) return drafts.get(found.id);
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
  takeListed(found);
}

function takeListed(found) {
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
  showAbout();
  const reasons = pair.reasons.map((reason) => make("li", {}, reason));
  const more = reasons.splice(REASONS + (reasons.length === REASONS + 1));
  fill($("reasons"), ...reasons);
  $("more-reasons").hidden = !more.length;
  fill($("more-reasons").firstElementChild, counted(more.length, "more reason"));
  fill($("more-reasons").lastElementChild, ...more);
  if (boxesOf !== pair.id) boxAt = 0; // shown again, it stays at its box
  boxesOf = pair.id;
  showStage();
  showMore();
}

// What changes with each judgement, too.
function showAbout() {
  const stands = pair.weight === 1 ? "itself" : `${number(pair.weight, 1)} pages`;
  const about = pair.verdict === null
    ? ["The machine's verdict is hidden until you have judged."]
    : [pair.is_proven ? "Proven by the bytes that were sent." : `Confidence ${number(pair.confidence, 2)}, model ${pair.model}.`];
  about.push(`${pair.browsers}.`, `Stands for ${stands}.`);
  if (pair.needs > 1) about.push(`Needs two reviewers; ${pair.judged_by} so far.`);
  if (pair.in_audit) about.push("Part of the audit of similar pairs.");
  if (pair.settled) about.push(`Settled: ${pair.settled}.`);
  else if (pair.standing === "disputed") about.push("Disputed: the lead settles it.");
  else if (pair.standing === "unsure") about.push("A reviewer is unsure: it waits for another opinion.");
  fill($("about"), about.join(" "));
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
      `${counted(pair.unreadable, "judgement")} of this pair cannot be read by this version.`));
  fill($("more"), ...parts);
}

function judgements(all) {
  return make("ul", {}, ...all.map((one) =>
    make("li", {},
      `${moment(one.at_ms)} ${one.author}${one.role === "lead" ? " (lead)" : ""}: ${one.label}`,
      one.faults.length ? `: ${one.faults.join(", ")}` : "",
      one.note ? ` “${visible(one.note)}”` : "")));
}
