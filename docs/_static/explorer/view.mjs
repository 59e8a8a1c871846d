// The explorer's page: controls that change the state, and tables and a picture that follow.

import { attend, identity } from "./attention.mjs";
import { given, lines, shown } from "./byhand.mjs";
import { LIMITS, PRESETS, check, fromAddress, fromWorld, inputs, isName, isNumber, toAddress, toWorld } from "./state.mjs";

const root = document.getElementById("explorer-here");
const base = fromWorld(JSON.parse(root.dataset.world));
let state = base;
let result;
let chosen = { kind: "weights", row: base.focus, column: base.sentence[1] ?? base.sentence[0] };
let built = ""; // the shape of what is on the page

function make(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties))
    if (name in element && name !== "list") element[name] = value;
    else element.setAttribute(name, value);
  element.append(...children);
  return element;
}
const button = (text, onclick, properties = {}) =>
  make("button", { type: "button", textContent: text, onclick, ...properties });

// Changing the state. What is chosen goes into the browser's history; what is typed replaces.

function change(parts, { typed = false } = {}) {
  const next = { ...state, ...parts };
  const faults = check(next);
  if (faults.length) return say(faults[0], true);
  state = next;
  say("");
  remember(typed);
  show();
}

let written = null; // the address that this script wrote last
function remember(typed) {
  written = toAddress(state, base);
  const address = `${location.pathname}${location.search}${written ? `#${written}` : ""}`;
  try {
    history[typed ? "replaceState" : "pushState"](null, "", address);
  } catch {
    location.hash = written; // a browser may refuse the others in a local folder
  }
}

function follow() {
  const text = location.hash.slice(1);
  if (text && !/^(v=|.*[&=])/.test(text)) return; // a place on the page
  if (text === written) return;
  try {
    state = fromAddress(text, base);
    written = text;
    say("");
  } catch (error) {
    state = base;
    say(`This address cannot be shown: ${error.message} Here is the workshop's world instead.`, true);
  }
  show();
}

const message = make("p", { className: "explorer-message", role: "alert" });
function say(text, wrong = false) {
  message.textContent = text;
  message.classList.toggle("explorer-wrong", wrong);
}

// Presets.

const look = make("p", { className: "explorer-look" });
const presets = make("div", { className: "explorer-presets", role: "group", ariaLabel: "Situations" });
for (const preset of PRESETS)
  presets.append(
    button(preset.name, () => {
      look.replaceChildren(
        `${preset.look} `,
        make("a", { href: `lessons/${preset.lesson}.html`, textContent: `Lesson\u00a0${preset.lesson[1]}` }),
      );
      state = base;
      change(preset.change(base));
    }),
  );

// The sentence.

const list = make("ol", { className: "explorer-words" });
const vocabulary = make("select", { ariaLabel: "A word of the world" });
const newWord = make("input", { type: "text", ariaLabel: "A new word", autocomplete: "off", size: 8 });
newWord.setAttribute("autocapitalize", "off");
const addKnown = button("Add", () => change({ sentence: [...state.sentence, vocabulary.value] }), {
  ariaLabel: "Add the word of the world",
});
const addNew = (event) => {
  event.preventDefault();
  const word = newWord.value.trim().normalize("NFC");
  if (!isName(word)) return say("A word has no spaces and up to 40 letters or signs.", true);
  const words = state.words.has(word)
    ? state.words
    : new Map(state.words).set(word, state.axes.map(() => 0));
  change({ words, sentence: [...state.sentence, word] });
  if (state.sentence.includes(word)) newWord.value = "";
};
const newForm = make("form", { onsubmit: addNew }, newWord, " ", make("button", { textContent: "Add a new word" }));

function showSentence() {
  list.replaceChildren(
    ...state.sentence.map((word, i) => {
      const at = (action) => ({ "data-key": `${action} ${word}`, ariaLabel: `${action} ${word}`, title: `${action} ${word}` });
      const moved = (to) => {
        const sentence = state.sentence.toSpliced(i, 1).toSpliced(to, 0, word);
        change({ sentence });
      };
      return make(
        "li",
        {},
        make("bdi", { className: `explorer-word-${colour(word)}`, textContent: word }),
        button("←", () => moved(i - 1), { ...at("Move left"), disabled: i === 0 }),
        button("→", () => moved(i + 1), { ...at("Move right"), disabled: i === state.sentence.length - 1 }),
        button("×", () => change({ sentence: state.sentence.toSpliced(i, 1) }), { ...at("Remove"), disabled: state.sentence.length === 1 }),
      );
    }),
  );
  const free = [...state.words.keys()].filter((word) => !state.sentence.includes(word));
  vocabulary.replaceChildren(...free.map((word) => make("option", { textContent: word, value: word })));
  const full = state.sentence.length >= LIMITS.shown;
  vocabulary.disabled = addKnown.disabled = full || !free.length;
  for (const control of newForm.elements) control.disabled = full;
}
const colour = (word) => [...state.words.keys()].indexOf(word) % 6;

// The head.

const choice = (value, text) => {
  const input = make("input", { type: "radio", name: "explorer-head", value });
  input.onchange = () => change({ head: value });
  return [input, make("label", {}, input, ` ${text}`)];
};
const [raw, rawLabel] = choice("raw", "raw: words are their own queries and keys");
const [wired, wiredLabel] = choice("wired", "with W_Q and W_K");
const flag = (text, onchange) => {
  const input = make("input", { type: "checkbox" });
  input.onchange = () => onchange(input.checked);
  return [input, make("label", {}, input, ` ${text}`)];
};
const [scaled, scaledLabel] = flag("divide by √d_k", (scaled) => change({ scaled }));
const [causal, causalLabel] = flag("causal mask: hide later words", (causal) => change({ causal }));
const [values, valuesLabel] = flag("values from W_V", (on) =>
  change({ W_V: on ? identity(state.axes.length) : null }));
const slider = make("input", { type: "range", min: -2, max: 5, step: 0.05, ariaLabel: "Sharpness, on a scale" });
const sharpness = make("input", { type: "number", min: 0, step: "any", ariaLabel: "Sharpness", className: "explorer-number" });
slider.oninput = () => change({ sharpness: Number((2 ** slider.valueAsNumber).toPrecision(3)) }, { typed: true });
sharpness.oninput = () => typed(sharpness, (x) => x > 0 && x <= LIMITS.sharpness, (x) => ({ sharpness: x }));

function typed(input, holds, parts) {
  const x = input.valueAsNumber;
  const right = isNumber(x) && holds(x);
  input.ariaInvalid = right ? null : "true";
  if (right) change(parts(x), { typed: true });
}

function showHead() {
  raw.checked = state.head === "raw";
  wired.checked = !raw.checked;
  scaled.checked = state.scaled && wired.checked;
  scaled.disabled = raw.checked;
  causal.checked = state.causal;
  values.checked = state.W_V !== null;
  slider.value = Math.log2(state.sharpness);
  slider.ariaValueText = given(state.sharpness);
  put(sharpness, state.sharpness);
}
const put = (input, x) => {
  if (document.activeElement !== input || input.valueAsNumber !== x) input.value = String(x);
  input.ariaInvalid = null;
};

// The tables.

const tables = make("div", { className: "explorer-tables" });
const cells = new Map(); // "kind row column" to its cell or its field
const key = (kind, i, j) => `${kind} ${i} ${j}`;

function table(kind, caption, rows, columns, edit) {
  const body = rows.map((name, i) =>
    make(
      "tr",
      {},
      make("th", { scope: "row" }, make("bdi", { textContent: name })),
      ...columns.map((column, j) => {
        const cell = make("td");
        if (edit) {
          const input = make("input", {
            type: "number", step: "any", className: "explorer-number",
            ariaLabel: `${kind}, ${name}, ${column}`, "data-key": key(kind, i, j),
          });
          input.oninput = () => typed(input, () => true, (x) => edit(i, j, x));
          input.onblur = () => put(input, valueAt(kind, i, j));
          input.onkeydown = (event) => {
            const step = { ArrowUp: 0.1, ArrowDown: -0.1 }[event.key];
            if (!step) return;
            event.preventDefault();
            input.value = String(Number((valueAt(kind, i, j) + step).toFixed(9)));
            input.oninput();
          };
          cell.append(input);
          cells.set(key(kind, i, j), input);
        } else {
          cell.setAttribute("data-key", key(kind, i, j));
          cell.setAttribute("aria-describedby", "explorer-lines");
          cell.onclick = () => cell.focus();
          cell.onfocus = () => choose(kind, i, j);
          cells.set(key(kind, i, j), cell);
        }
        return cell;
      }),
    ),
  );
  const head = make("tr", {}, make("td"), ...columns.map((name) => make("th", { scope: "col" }, make("bdi", { textContent: name }))));
  const element = make(
    "table",
    { className: kind === "weights" ? "attnlab-weights" : "attnlab-matrix" },
    make("caption", { textContent: caption }),
    make("thead", {}, head),
    make("tbody", {}, ...body),
  );
  if (!edit) {
    element.role = "grid";
    element.onkeydown = walk;
  }
  return make("div", { className: "attnlab-scroll" }, element);
}

function walk(event) {
  const { cellIndex, parentNode } = event.target;
  const steps = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] };
  const [down, right] = steps[event.key] ?? [0, 0];
  const next = event.currentTarget.rows[parentNode.rowIndex + down]?.cells[cellIndex + right];
  if (next && next !== event.target && next.matches("[aria-describedby]")) {
    event.preventDefault();
    next.focus();
  }
}

const source = { X: (i) => state.words.get(state.sentence[i]), W_Q: (i) => state.W_Q[i], W_K: (i) => state.W_K[i], W_V: (i) => state.W_V[i] };
const valueAt = (kind, i, j) => (source[kind] ? source[kind](i)[j] : result[kind][i][j]);
const replaced = (rows, i, j, x) => rows.with(i, rows[i].with(j, x));

function build() {
  const { sentence, axes } = state;
  const channels = state.head === "raw" ? axes : state.channels;
  const own = (name) => (i, j, x) => ({ [name]: replaced(state[name], i, j, x) });
  const row = (...parts) => make("div", { className: "explorer-row" }, ...parts);
  cells.clear();
  tables.replaceChildren(
    row(
      table("X", "X, the words’ rows: change any number", sentence, axes, (i, j, x) => ({
        words: new Map(state.words).set(sentence[i], state.words.get(sentence[i]).with(j, x)),
      })),
      picture,
    ),
    row(
      ...(state.head === "wired"
        ? [table("W_Q", "W_Q, what each axis asks", axes, channels, own("W_Q")),
           table("W_K", "W_K, what each axis offers", axes, channels, own("W_K"))]
        : []),
      ...(state.W_V ? [table("W_V", "W_V, what each axis hands over", axes, axes, own("W_V"))] : []),
    ),
    row(
      table("Q", "Q, the queries", sentence, channels),
      table("K", "K, the keys", sentence, channels),
      ...(state.W_V ? [table("V", "V, the values", sentence, axes)] : []),
    ),
    row(
      table("scores", "Scores: a row looks at a column", sentence, sentence),
      table("weights", "Weights: each row sums to 1", sentence, sentence),
      table("output", "Output: the rows, mixed by the weights", sentence, axes),
    ),
  );
}

function showTables() {
  for (const [name, cell] of cells) {
    const [kind, i, j] = name.split(" ");
    const x = valueAt(kind, i, j);
    if (cell.matches("input")) {
      if (document.activeElement !== cell) put(cell, x);
    } else {
      cell.textContent = shown(x);
      if (kind === "weights") cell.className = `w${Math.min(10, Math.round(x * 10))}`;
    }
  }
}

// The calculation of the number that was chosen, remembered by its names. It stands in the row of
// that number's table.

const title = make("strong");
const steps = make("div", { id: "explorer-lines" });
const calculation = make("div", { className: "explorer-calculation" }, title, steps);

function namesOf(kind) {
  const channels = state.head === "raw" ? state.axes : state.channels;
  const columns = { Q: channels, K: channels, V: state.axes, output: state.axes };
  return [state.sentence, columns[kind] ?? state.sentence];
}

function choose(kind, i, j) {
  const [rows, columns] = namesOf(kind);
  chosen = { kind, row: rows[i], column: columns[j] };
  showCalculation();
}

function showCalculation() {
  if (chosen.kind === "V" && !state.W_V) chosen = { ...chosen, kind: "output" };
  const { kind } = chosen;
  const [rows, columns] = namesOf(kind);
  const i = Math.max(0, rows.indexOf(chosen.row));
  const j = Math.max(0, columns.indexOf(chosen.column));
  const between = kind === "scores" || kind === "weights" ? " looks at " : ", ";
  const named = { words: state.sentence, axes: state.axes, channels: namesOf("Q")[1] };
  title.textContent = `${kind}: ${rows[i]}${between}${columns[j]}: ${shown(result[kind][i][j])}`;
  steps.replaceChildren(
    ...lines(kind, i, j, inputs(state), result, named).map((line) => make("p", { textContent: line })),
  );
  const line = cells.get(key(kind, i, j)).closest(".explorer-row");
  if (calculation.parentNode !== line) line.append(calculation);
  for (const [name, cell] of cells) {
    if (cell.matches("input")) continue;
    const [itsKind, itsRow, itsColumn] = name.split(" ");
    const here = name === key(kind, i, j);
    cell.classList.toggle("attnlab-shown", here);
    cell.tabIndex = here || (itsKind !== kind && itsRow === "0" && itsColumn === "0") ? 0 : -1;
  }
}

const status = make("p", { className: "explorer-status", role: "status" });
function showStatus() {
  const word = state.sentence.includes(state.focus) ? state.focus : state.sentence[0];
  const weights = result.weights[state.sentence.indexOf(word)];
  const most = Math.max(...weights);
  const winners = state.sentence.filter((_, j) => weights[j] > most - 1e-9);
  const looked = winners.map((name) => (name === word ? "itself" : name)).join(" and ");
  status.textContent = `${word} looks most at ${looked}: ${shown(most)}.`;
}

// The picture: each word's row as a dot on two axes, its output as the tip of an arrow.

const SIZE = 320, MARGIN = 36;
const svg = (tag, attributes = {}, ...children) => {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
};
const plane = svg("svg", { viewBox: `0 0 ${SIZE} ${SIZE}`, role: "img" });
const across = make("select", { ariaLabel: "The axis to the right" });
const up = make("select", { ariaLabel: "The axis upwards" });
across.onchange = () => change({ plane: [across.selectedIndex, state.plane[1]] });
up.onchange = () => change({ plane: [state.plane[0], up.selectedIndex] });
const picture = make(
  "div",
  { className: "explorer-picture" },
  make("p", {}, "Each dot is a word’s row, each arrow ends at its output. To the right: ", across, " upwards: ", up),
);
picture.append(plane);

function showPicture() {
  for (const [select, axis] of [[across, state.plane[0]], [up, state.plane[1]]]) {
    if ([...select.options].map((option) => option.value).join("\n") !== state.axes.join("\n"))
      select.replaceChildren(...state.axes.map((name) => make("option", { textContent: name, value: name })));
    select.selectedIndex = axis;
  }
  const point = (row) => state.plane.map((axis) => row[axis]);
  const from = result.X.map(point);
  const to = result.output.map(point);
  const all = [...from, ...to].flat();
  const low = Math.min(0, ...all);
  const high = Math.max(1, ...all);
  const place = (x) => MARGIN + ((x - low) / (high - low)) * (SIZE - 2 * MARGIN);
  const at = ([x, y]) => [place(x), SIZE - place(y)].map((x) => Number(x.toFixed(2)));
  const [left, bottom] = at([low, low]);
  const parts = [
    svg("path", { class: "explorer-axes", d: `M${left} ${MARGIN / 2}V${bottom}H${SIZE - MARGIN / 2}` }),
    text(SIZE - 4, SIZE - 8, state.axes[state.plane[0]], "end"),
    text(4, 14, state.axes[state.plane[1]], "start"),
    text(left, bottom + 16, shortly(low), "middle"),
    text(at([high, low])[0], bottom + 16, shortly(high), "middle"),
    text(left - 6, bottom + 4, shortly(low), "end"),
    text(left - 6, at([low, high])[1] + 4, shortly(high), "end"),
  ];
  const said = [];
  const taken = [];
  state.sentence.forEach((word, i) => {
    const [x, y] = at(from[i]);
    const [toX, toY] = at(to[i]);
    const length = Math.hypot(toX - x, toY - y);
    const group = svg("g", { class: `explorer-word-${colour(word)}` });
    if (length > 1) {
      const [dx, dy] = [(toX - x) / length, (toY - y) / length];
      const tip = [[-7, 3.5], [-7, -3.5]].map(([a, b]) => `${toX + a * dx - b * dy} ${toY + a * dy + b * dx}`);
      group.append(
        svg("path", { class: "explorer-arrow", d: `M${x} ${y}L${toX} ${toY}` }),
        svg("path", { class: "explorer-tip", d: `M${toX} ${toY}L${tip.join("L")}Z` }),
      );
    }
    group.append(svg("circle", { cx: x, cy: y, r: 5 }));
    let labelY = y - 8;
    while (taken.some(([a, b]) => Math.abs(a - x) < 60 && Math.abs(b - labelY) < 13)) labelY += 13;
    taken.push([x, labelY]);
    group.append(text(x + (x > SIZE - 80 ? -7 : 7), labelY, word, x > SIZE - 80 ? "end" : "start"));
    parts.push(group);
    const pair = (numbers) => `(${numbers.map(shown).join(", ")})`;
    said.push(`${word} from ${pair(from[i])} to ${pair(to[i])}`);
  });
  plane.replaceChildren(...parts);
  const [a, b] = state.plane.map((axis) => state.axes[axis]);
  plane.setAttribute("aria-label", `On ${a} and ${b}: ${said.join("; ")}.`);
}
const shortly = (x) => given(Number(x.toPrecision(3)));
const text = (x, y, words, anchor) => {
  const element = svg("text", { x, y, "text-anchor": anchor });
  element.textContent = words;
  return element;
};

// Taking it away and bringing it back.

const link = make("input", { type: "text", readOnly: true, ariaLabel: "The link", hidden: true });
const copy = button("Copy the link", async () => {
  try {
    await navigator.clipboard.writeText(location.href);
    say("The link is copied.");
  } catch {
    link.value = location.href;
    link.hidden = false;
    link.select();
    say("Copy the link from the field.");
  }
});
const save = button("Save as a world file", () => {
  try {
    const comment = "# A toy world, made with the explorer. python -m attnlab world check FILE checks it.\n\n";
    const blob = new Blob([comment, TOML.stringify(toWorld(state)), "\n"], { type: "application/toml" });
    const address = URL.createObjectURL(blob);
    make("a", { href: address, download: "world.toml" }).click();
    setTimeout(() => URL.revokeObjectURL(address), 1000);
    say("");
  } catch (error) {
    say(error.message, true);
  }
});
const file = make("input", { type: "file", accept: ".toml", ariaLabel: "Open a world file" });
file.onchange = async () => {
  const [picked] = file.files;
  if (!picked) return;
  try {
    if (picked.size > LIMITS.bytes) throw new Error(`It has more than ${LIMITS.bytes} bytes.`);
    const next = fromWorld(TOML.parse(await picked.text()));
    look.replaceChildren();
    change(next);
  } catch (error) {
    say(`${picked.name} cannot be opened: ${error.message}`, true);
  }
  file.value = "";
};
const reset = button("Start again", () => {
  look.replaceChildren();
  change(base);
});

function show() {
  result = attend(inputs(state));
  const shape = JSON.stringify([state.sentence, state.axes, state.channels, state.head, !!state.W_V, [...state.words.keys()]]);
  if (shape !== built) {
    const focused = document.activeElement?.dataset?.key;
    built = shape;
    showSentence();
    build();
    const again = focused && root.querySelector(`[data-key="${CSS.escape(focused)}"]:not(:disabled)`);
    (again || (focused && list.querySelector("button:not(:disabled)")))?.focus({ preventScroll: true });
  }
  showHead();
  showTables();
  showStatus();
  showCalculation();
  showPicture();
}

const section = (name, ...parts) => make("fieldset", {}, make("legend", { textContent: name }), ...parts);
root.replaceChildren(
  make(
    "div",
    { className: "explorer-app" },
    section("Start from", presets, look),
    section("The sentence", list, make("div", { className: "explorer-add" }, make("span", {}, vocabulary, " ", addKnown), newForm)),
    section(
      "The head",
      make("div", { className: "explorer-head" }, rawLabel, wiredLabel, scaledLabel, causalLabel, valuesLabel,
        make("span", { className: "explorer-sharpness" }, "sharpness ", sharpness, " ", slider)),
    ),
    message,
    status,
    tables,
    section("Take it away", make("div", { className: "explorer-head" }, copy, link, save, make("label", {}, "Open a world file ", file), reset)),
  ),
);
addEventListener("hashchange", follow);
addEventListener("popstate", follow);
show();
if (location.hash) follow();
