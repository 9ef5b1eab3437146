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

// Of what is to do, or not reviewed, the list gets shorter as it is worked through: what comes
// next stands behind those of this part that are left.
async function step(by) {
  const at = list.pairs.findIndex((one) => one.id === place.pair);
  const next = list.pairs[at + by];
  if (next) return openPair(next.id);
  if (by < 0) return list.offset ? turnList(-1) : tell("This is the first of the list.");
  const shrinks = ["todo", "unreviewed", "waiting", "disputed"].includes(place.filter.state);
  const left = shrinks ? list.pairs.filter((one) => !one.label).length : list.pairs.length;
  const offset = list.offset + left;
  if (!(await loadList(offset))) return;
  const first = list.offset === offset ? list.pairs[0] : null;
  if (first && first.id !== place.pair) return openPair(first.id);
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
