// Suggests URLs while one types.  Everything works without it.
"use strict";
const box = document.querySelector("#q");
const list = document.querySelector("#suggestions");
const address = box.form.dataset.suggest;
let wanted = "";
let waiting = 0;

async function suggest() {
  const typed = box.value.trim();
  if (typed === wanted || typed.length < 3) return;
  wanted = typed;
  try {
    const answer = await fetch(`${address}?q=${encodeURIComponent(typed)}`);
    const urls = answer.ok ? await answer.json() : [];
    if (typed !== wanted) return; // a later answer is on its way
    list.replaceChildren(...urls.map((url) => {
      const option = document.createElement("option");
      option.value = url;
      return option;
    }));
  } catch {
    list.replaceChildren();
  }
}

box.addEventListener("input", () => {
  clearTimeout(waiting);
  waiting = setTimeout(suggest, 250);
});
