// Filters of a report over all its pages.  What they are is in the address, behind the #.
// PAIRS, of pairs.js, has for each pair: verdict, kind, causes, settled, as places in the lists.
"use strict";

const NAMES = ["verdict", "kind", "cause", "settled"];
const form = document.getElementById("report-filters");
const size = Number(form.dataset.size);
const page = Number(form.dataset.page);
const pages = JSON.parse(form.dataset.names);
const counted = (value, one) => `${value.toLocaleString("en")} ${one}${value === 1 ? "" : "s"}`;

const matches = (pair, wanted) => NAMES.every((name, at) => wanted[name] === ""
  || (Array.isArray(pair[at]) ? pair[at].includes(+wanted[name]) : pair[at] === +wanted[name]));

function wantedNow() {
  return Object.fromEntries(NAMES.map((name) => [name, form.elements[name]?.value ?? ""]));
}

function hashOf(wanted) {
  const given = Object.entries(wanted).filter(([, value]) => value !== "");
  return given.length ? "#" + new URLSearchParams(given) : "";
}

function show() {
  const wanted = wantedNow();
  const found = PAIRS.map((pair, at) => (matches(pair, wanted) ? at : -1)).filter((at) => at >= 0);
  const here = new Set(found.filter((at) => Math.floor(at / size) === page));
  document.querySelectorAll("article[data-pair]").forEach((article) => {
    article.hidden = !here.has(Number(article.dataset.pair));
  });
  const hash = hashOf(wanted);
  const on = [...new Set(found.map((at) => Math.floor(at / size)))];
  const link = (number, words) => {
    const made = document.createElement("a");
    made.href = pages[number] + hash;
    made.textContent = words;
    return made;
  };
  const elsewhere = on.filter((number) => number !== page);
  const line = document.getElementById("found");
  line.textContent = `${counted(found.length, "pair")}, ${here.size.toLocaleString("en")} of them on this page. `;
  elsewhere.slice(0, 20).forEach((number) => line.append(link(number, `Page ${number + 1}`), " "));
  if (elsewhere.length > 20) line.append(`and ${counted(elsewhere.length - 20, "page")} more`);
  const before = on.filter((number) => number < page).at(-1);
  const next = on.find((number) => number > page);
  for (const [rel, number] of [["prev", before], ["next", next]])
    document.querySelectorAll(`nav a[rel=${rel}]`).forEach((one) => {
      one.hidden = number === undefined;
      if (number !== undefined) one.href = pages[number] + hash;
    });
}

function take() {
  const given = new URLSearchParams(location.hash.slice(1));
  if (location.hash && !NAMES.some((name) => given.has(name))) return; // a place on the page
  for (const name of NAMES) if (form.elements[name]) form.elements[name].value = given.get(name) ?? "";
  show();
}

form.hidden = false;
form.addEventListener("change", () => {
  location.replace(hashOf(wantedNow()) || "#"); // a file has no history of states in Chromium
  show();
});
form.addEventListener("reset", () => setTimeout(() => form.dispatchEvent(new Event("change"))));
form.addEventListener("submit", (event) => event.preventDefault());
window.addEventListener("hashchange", take);
for (const link of document.querySelectorAll("a[data-filter]")) {
  const wanted = { verdict: "", kind: "", cause: "", settled: "", ...Object.fromEntries(new URLSearchParams(link.dataset.filter)) };
  const first = PAIRS.findIndex((pair) => matches(pair, wanted));
  link.href = pages[Math.floor(Math.max(0, first) / size)] + "#" + link.dataset.filter;
}
take();
