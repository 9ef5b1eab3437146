// What the URL says, and the list of pairs that it asks for.
"use strict";

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

// The list ----------------------------------------------------------------------------------
function queryOfList(offset) {
  return "/api/pairs?" + new URLSearchParams({ ...place.filter, offset });
}

const STATE_WORDS = {
  todo: "to do", open: "open", unreviewed: "not judged", waiting: "waiting for the second",
  unsure: "unsure", disputed: "disputed", audit: "audit of the similar",
};
const SHRINKING = ["todo", "open", "unreviewed", "waiting", "unsure", "disputed"];

async function loadList(offset = place.offset) {
  try {
    list = await ask(queryOfList(offset));
    if (!list.pairs.length && list.total && offset) list = await ask(queryOfList(0));
    trouble(list.problem && `The list may be stale, since the store cannot be read: ${list.problem}`);
  } catch (error) {
    trouble(`The list cannot be shown: ${error.message}`);
    return false;
  }
  place.offset = list.offset;
  showList();
  return true;
}

// What a lead settles comes from reviewers: where there is nothing of it, a lead may review.
async function fallBack() {
  const alone = FILTERS.every((name) => !place.filter[name] || name === "state");
  if (list.total || !alone || place.filter.state !== "todo") return;
  if (run.viewer.role !== "lead" || !list.held.open) return;
  place.filter = { state: "open" };
  fillFilters();
  if (await loadList(0)) $("count").prepend("Nothing is left to you to settle; what is open for any reviewer: ");
}

function showHeld() {
  const names = run.states.filter((name) => list.held[name] || name === place.filter.state);
  const words = (name) => STATE_WORDS[name] || name;
  fill($("held"), ...["", ...names].map((name) => {
    const is = (place.filter.state || "") === name;
    return make("button", { type: "button", "aria-pressed": String(is), "data-state": name, onclick: () => showState(name) },
      name ? `${words(name)} ${number(list.held[name])}` : "all");
  }));
}

// Behind a number of judgements, not behind each: the server counts all pairs.
let counting = 0;
function countSoon() {
  clearTimeout(counting);
  counting = setTimeout(async () => {
    try {
      list.held = (await ask(queryOfList(0) + "&limit=1")).held;
      showHeld();
    } catch {
      // Whatever else is asked says so.
    }
  }, 1000);
}

function showState(name) {
  $("filter-form").elements.state.value = name;
  return filterChanged();
}

function stateWords(one) {
  if (one.label) return SIGNS[one.label] + " yours";
  if (drafts.has(one.id)) return "marked";
  if (one.standing === "waiting") return "one of two";
  return one.standing === "open" ? "" : one.standing;
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
  fill($("count"), counted(list.total, "pair"));
  showHeld();
  const last = list.offset + list.pairs.length;
  fill($("list-part"), list.total ? `${number(list.offset + 1)}–${number(last)}` : "");
  $("list-before").disabled = list.offset === 0;
  $("list-next").disabled = last >= list.total;
  const words = FILTERS.filter((name) => place.filter[name])
    .map((name) => (name === "state" ? STATE_WORDS[place.filter.state] || place.filter.state : `${name}: ${place.filter[name]}`));
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

// Of what is to do, or not reviewed, the list gets shorter as it is worked through: what comes
// next stands behind those of this part that are left.
async function step(by) {
  const at = list.pairs.findIndex((one) => one.id === place.pair);
  const next = list.pairs[at + by];
  if (next) return openPair(next.id);
  if (by < 0) return list.offset ? turnList(-1) : tell("This is the first of the list.");
  const mine = opening;
  await allSent();
  const offset = nextOffset();
  if (mine !== opening || !(await loadList(offset)) || mine !== opening) return;
  const first = list.offset === offset ? list.pairs[0] : null;
  if (first && first.id !== place.pair) return openPair(first.id);
  tell("This is the last of the list.");
}

function nextOffset() {
  const shrinks = SHRINKING.includes(place.filter.state);
  return list.offset + (shrinks ? list.pairs.filter((one) => !one.label).length : list.pairs.length);
}

// Pairs further down the list that this reviewer has not judged.
function openBehind(id) {
  const at = list.pairs.findIndex((one) => one.id === id);
  return list.pairs.slice(at + 1).filter((one) => !one.label && !pending.has(one.id));
}

// To the next open pair: behind this one, in further parts, then what was passed over.
let going = false;
async function goOn() {
  const [next] = openBehind(pair.id);
  if (next) return openPair(next.id);
  if (going) return;
  going = true;
  const mine = opening;
  try {
    await allSent();
    for (const start of [nextOffset(), 0])
      for (let offset = start; ; offset += list.pairs.length) {
        if (mine !== opening || !(await loadList(offset)) || mine !== opening) return;
        if (list.offset !== offset) break; // behind the end
        const [first] = openBehind("");
        if (first) return await openPair(first.id);
        if (offset + list.pairs.length >= list.total) break;
      }
    tell("That was the last open pair of this list.");
  } finally {
    going = false;
  }
}

function fillFilters() {
  const form = $("filter-form").elements;
  const options = (element, names, words = {}) =>
    fill(element, make("option", { value: "" }, "all"),
      ...names.map((name) => make("option", { value: name }, words[name] || name)));
  options(form.state, run.states, STATE_WORDS);
  options(form.verdict, ["dissimilar", "uncertain", "differs-by-browser", "similar", run.hidden]);
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
    else showNothing("No pair matches.");
  }
}
