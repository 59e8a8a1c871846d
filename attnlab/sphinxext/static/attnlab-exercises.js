// An exercise gets a field for the reader's number, and tells what the number is: right, close, or
// what a mistake leads to. What there is to tell stands in the fold with the solution. Which
// exercises are done is kept in this browser and nowhere else.
"use strict";
{
  const exercises = [...document.querySelectorAll(".attnlab-exercise")];
  const here = exercises[0]?.dataset.page;
  const STORE = "attnlab-exercises";
  const ROUNDED =
    "Close: right but for rounding. Keep more digits on the way, and round once, at the end.";
  const AGAIN = "Not yet. Go through your steps again, or open the solution.";
  const FORMS = "Write it like 0.25, 0,25, -0.5, 1/4 or 25 %.";

  // Progress: for each page how many exercises it has, and the keys of those that are done.

  let memory = "{}"; // where a browser refuses storage, until the page is left
  let kept = true;
  const read = () => {
    try {
      memory = localStorage.getItem(STORE) ?? "{}";
    } catch {
      kept = false;
    }
    try {
      return Object(JSON.parse(memory));
    } catch {
      return {};
    }
  };
  const write = (pages) => {
    memory = JSON.stringify(pages);
    try {
      localStorage.setItem(STORE, memory);
    } catch {
      kept = false;
    }
  };
  const keys = (page) => (Array.isArray(page?.done) ? page.done : []);
  const isDone = ({ dataset }) => keys(read()[here]).includes(dataset.key);
  const mark = (exercise) => {
    const done = exercises.filter((other) => other === exercise || isDone(other));
    const entry = { of: exercises.length, done: done.map(({ dataset }) => dataset.key) };
    write({ ...read(), [here]: entry });
  };

  // Reading a number.

  function plain(text, whole) {
    const sign = text.startsWith("-") ? -1 : 1;
    let digits = text.replace(/^[-+]\s*/, "");
    digits = digits.replace(/(\d)[ '’](?=\d{3}(?!\d))/g, "$1"); // between thousands
    const marks = new Set(digits.match(/[.,]/g));
    const last = [...digits].findLast((sign) => marks.has(sign));
    const grouped = /^\d{1,3}(?:([.,])\d{3})(?:\1\d{3})*$/.test(digits);
    if (marks.size === 2) digits = digits.replaceAll(last === "," ? "." : ",", "");
    else if (grouped && (whole || digits.split(last).length > 2)) digits = digits.replaceAll(last, "");
    digits = digits.replace(",", ".");
    if (!/^(\d+\.?\d*|\.\d+)$/.test(digits)) return null;
    return { value: sign * Number(digits), places: (digits.split(".")[1] ?? "").length };
  }

  function number(text, whole) {
    const tidy = text.trim().replace(/^[=≈~]\s*/, "").replace(/[−‐‑‒–]/g, "-").replace(/\s+/g, " ");
    const percent = /\s?%$/;
    const parts = tidy.replace(percent, "").split(/\s?[/⁄∕÷]\s?/).map((part) => plain(part, whole));
    if (parts.includes(null) || parts.length > 2 || parts[1]?.value === 0) return null;
    const [{ value, places }, below] = parts;
    const exact = below ? { value: value / below.value, places: Infinity } : { value, places };
    if (percent.test(tidy)) return { value: exact.value / 100, places: exact.places + 2 };
    return exact;
  }

  // Telling what a number is.

  function judge(exercise, text) {
    const { answer, near, places, wanted } = exercise.dataset;
    const given = number(text, places === "0");
    if (!text.trim()) return { kind: "unread", words: `Type a number first. ${FORMS}` };
    if (!given) return { kind: "unread", words: `“${text.trim()}” is no number here. ${FORMS}` };
    const unit = 10 ** -places;
    const off = (value) => Math.abs(given.value - value);
    const within = (value, units) => off(value) <= units * unit * (1 + 1e-9);
    const cut = (value) => off(value) <= 0.5 * 10 ** -given.places && off(value) <= 0.05 * Math.abs(value);
    const mistakes = [...exercise.querySelectorAll("li[data-value]")];
    const made = (test) => {
      const found = mistakes.filter((item) => test(Number(item.dataset.value), item.dataset.near));
      return found.length === 1 ? { kind: "not-yet", hint: found[0] } : null;
    };
    if (within(Number(answer), 0.5)) return { kind: "right", words: "Right." };
    const mistake = made(within);
    if (mistake) return mistake;
    if (cut(Number(answer))) return { kind: "close", words: `Close: right so far. Give it ${wanted}.` };
    if (within(Number(answer), near)) return { kind: "close", words: ROUNDED };
    return made(cut) ?? { kind: "not-yet", words: AGAIN };
  }

  function hint(item) {
    const copy = item.cloneNode(true);
    copy.querySelector(".attnlab-got").remove();
    for (const part of copy.querySelectorAll("[id]")) part.removeAttribute("id");
    copy.firstElementChild.prepend("Not yet. ");
    return copy.childNodes;
  }

  // What is shown.

  const progress = document.createElement("p");
  progress.className = "attnlab-progress";
  progress.tabIndex = -1;
  const count = document.createElement("span");
  const again = document.createElement("button");
  again.type = "button";
  again.textContent = "Start over";
  progress.append(count, " ", again);

  function show() {
    const done = exercises.filter((exercise) => {
      const yes = isDone(exercise);
      exercise.classList.toggle("attnlab-done", yes);
      exercise.querySelector(".attnlab-tick").textContent = yes ? " ✓ done" : "";
      return yes;
    });
    const where = kept ? "Kept in this browser only." : "This browser keeps no progress.";
    count.textContent = `${done.length} of ${exercises.length} done. ${where}`;
    again.hidden = !done.length;
    ticks();
  }

  // A tick on each lesson, in the strip at the top of a lesson's page, all of whose exercises are done.
  function ticks() {
    const pages = read();
    for (const link of document.querySelectorAll("nav.lessons a")) {
      const path = decodeURI(link.pathname).replace(/(\.html|\/)$/, "");
      const current = link.ariaCurrent === "page";
      const page = current ? here : Object.keys(pages).find((name) => path.endsWith(`/${name}`));
      const yes = pages[page]?.of > 0 && keys(pages[page]).length >= pages[page].of;
      link.querySelector(".attnlab-unseen")?.remove();
      link.classList.toggle("attnlab-done", yes);
      if (yes) {
        const words = document.createElement("span");
        words.className = "attnlab-unseen";
        words.textContent = " (exercises done)";
        link.append(words);
      }
    }
  }

  for (const exercise of exercises) {
    const form = exercise.querySelector(".attnlab-answer");
    const [words, blank] = form.children;
    const label = document.createElement("label");
    const input = document.createElement("input");
    const check = document.createElement("button");
    const told = document.createElement("div");
    const tick = document.createElement("span");
    label.textContent = words.textContent;
    label.htmlFor = input.id = `${exercise.id}-number`;
    input.type = "text";
    input.inputMode = "decimal";
    input.autocomplete = "off";
    input.maxLength = 40;
    input.setAttribute("aria-describedby", `${exercise.id}-told`);
    check.textContent = "Check";
    told.id = `${exercise.id}-told`;
    told.className = "attnlab-told";
    told.setAttribute("role", "status");
    tick.className = "attnlab-tick";
    words.replaceWith(label);
    blank.replaceWith(input, " ", check);
    form.after(told);
    exercise.querySelector(".attnlab-exercise-title").append(tick);
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      const result = judge(exercise, input.value);
      told.dataset.kind = result.kind;
      input.setAttribute("aria-invalid", result.kind === "unread");
      if (result.kind === "right") {
        mark(exercise);
        show();
        const done = exercises.filter(isDone).length;
        result.words += ` ${done} of ${exercises.length} done.`;
      }
      told.replaceChildren(...(result.hint ? hint(result.hint) : [result.words]));
    });
  }

  again.addEventListener("click", () => {
    const { [here]: _, ...others } = read();
    write(others);
    for (const exercise of exercises) {
      exercise.querySelector("form").reset();
      exercise.querySelector("input").removeAttribute("aria-invalid");
      exercise.querySelector(".attnlab-told").replaceChildren();
    }
    show();
    progress.focus();
  });

  if (exercises.length) {
    exercises.at(-1).after(progress);
    if (read()[here]) mark(null); // forget exercises that are no longer there
    show();
    addEventListener("storage", show); // from another tab
  }
}
