// The figures of the run, and signing it.
"use strict";

async function showProgress() {
  try {
    const { queued, queue_done, unsure, disputed } = await ask("/api/progress");
    fill($("progress"), `${number(queue_done)} of ${number(queued)} to be reviewed ${queue_done === 1 ? "is" : "are"} settled`
      + (unsure ? `, ${number(unsure)} unsure` : "") + (disputed ? `, ${number(disputed)} disputed` : ""));
  } catch {
    fill($("progress"), ""); // whatever else is asked says so
  }
}

async function askSummary() {
  try {
    showSummary(await ask("/api/summary"));
  } catch (error) {
    fill($("summary"), make("p", { className: "bad" }, `No figures: ${error.message}`));
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
      : `${number(one.share * one.pages)} of ${counted(one.pages, "page")}, between ${number(one.low * one.pages)} and ${number(one.high * one.pages)}.`),
    make("p", { className: "dim" },
      `Rests on ${counted(one.reviewed, "pair")} that people settled: ${number(one.alarms_reviewed)} of ${counted(one.alarms, "alarm")}, and the random audit of the similar`
      + (one.proven ? `; and on ${counted(one.proven, "pair")} proven similar by the bytes that were sent` : "") + ". Weighted, bootstrapped by site and by page."),
  ]));
}

function agreementCard(figures) {
  const { pairs, observed, kappa } = figures.agreement;
  const rows = figures.agreement_by_two.map((one) =>
    [one.names.join(" and "), number(one.pairs), percent(one.observed), one.kappa === null ? "–" : number(one.kappa, 2)]);
  return card("How far reviewers agree",
    make("p", { className: "big" }, kappa === null ? "–" : `κ ${number(kappa, 2)}`),
    make("p", { className: "dim" }, pairs
      ? `Fleiss's kappa over ${counted(pairs, "pair")} that two reviewed blind to each other; the same answer in ${percent(observed)}.`
        + (kappa === null ? " Not defined: all said the same of all." : "")
      : "No pair has been reviewed by two yet. One in ten goes to two."),
    rows.length ? table(["reviewers", "pairs", "same answer", "Cohen's κ"], rows) : null);
}

const VERDICTS = ["dissimilar", "uncertain", "differs-by-browser", "similar"];

function histogramCard(figures) {
  const names = VERDICTS.filter((name) => figures.verdicts[name].pairs || name !== "differs-by-browser");
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
      ["not judged yet", number(standings.open || 0)], ["waiting for the second", number(standings.waiting || 0)],
      ["unsure: for another opinion", number(standings.unsure || 0)],
      ["disputed: for the lead", number(standings.disputed || 0)], ["settled", number(standings.settled || 0)]]),
    reviewers.length ? table(["reviewer", "judged"], reviewers.map(([name, count]) => [name, number(count)])) : null,
    figures.unreadable ? make("p", { className: "bad" }, `${counted(figures.unreadable, "judgement")} cannot be read by this version: not counted.`) : null);
}

function verdictsCard(figures) {
  const against = (verdict, label) => (figures.against.find(([v, l]) => v === verdict && l === label) || [0, 0, 0])[2];
  return card("Machine and people", table(["the machine says", "pairs", "stand for", "people accept", "people reject"],
    VERDICTS.map((verdict) => [verdictMark(verdict),
      number(figures.verdicts[verdict].pairs), number(figures.verdicts[verdict].weight),
      number(against(verdict, "accept")), number(against(verdict, "reject"))])));
}

function signingCard(figures) {
  const latest = figures.signoffs.at(-1);
  const history = make("ul", {}, ...figures.signoffs.toReversed().map((one) =>
    make("li", {}, `${moment(one.at_ms)} ${one.author}${one.role === "lead" ? " (lead)" : ""}: ${one.state}`,
      one.note ? ` “${visible(one.note)}”` : "",
      make("span", { className: "dim" }, ` with ${number(one.counts.settled)} settled, ${number(one.counts.faulty)} of them faulty`,
        one.counts.pages_left ? `, ${counted(one.counts.pages_left, "page")} not looked at` : ""))));
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
      await askSummary();
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
    figures.unlooked ? make("p", { className: "notice bad" }, `These figures are of a part of the sample, as it was when this review was started: ${figures.unlooked}.`) : null,
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
  if (summary) {
    fill($("summary"), make("p", { className: "dim" }, "Counting …"));
    askSummary();
  }
  showProgress();
}
