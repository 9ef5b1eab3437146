// Elements of the page, and asking the server.  First of the review's scripts: the others, which
// stand in the page in this order, share its names.
//
// The page shows images and text, never anything that was archived: all text goes in as text
// (`append`), and its policy lets no other script run.
"use strict";

const $ = (id) => document.getElementById(id);
const KEPT = "pinakes-review";
const MODES = ["side", "flip", "slider", "onion", "difference"];
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
const drafts = new Map(); // by pair: what is marked or noted of it, and not judged yet

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
const counted = (value, one, many = one + "s") => `${number(value)} ${value === 1 ? one : many}`;
const percent = (value) => (value === null ? "–" : number(100 * value, 1) + " %");
const moment = (ms) => new Date(ms).toLocaleString("sv-SE");

function verdictMark(verdict, words = true) {
  const name = verdict === null ? "hidden-verdict" : verdict;
  const text = verdict === null ? "hidden" : verdict;
  return make("span", { className: "verdict " + name, title: "the machine: " + text },
    words ? text : make("span", { className: "unseen" }, text));
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
      keepalive: Boolean(body), // it goes on where the page is left
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
