// What the explorer shows, as a value: read from an address or a world file, checked, and written
// back. Nothing here touches the page.
//
// A state: axes; words, a Map from name to vector; sentence; focus; sentences, those of the world;
// channels, W_Q, W_K; W_V or null for the identity; head, "raw" or "wired"; scaled; causal;
// sharpness; plane, the two axes of the picture.

import { identity } from "./attention.mjs";

/** The package's limits (attnlab/world_file.py), and the explorer's own: the words that it shows. */
export const LIMITS = {
  words: 64, axes: 16, channels: 16, sentences: 8, sentenceWords: 12, shown: 8, name: 40,
  number: 1e6, sharpness: 1000, address: 8000, bytes: 100000,
};

const VERSION = "1";
const splitWords = (text) => text.split(/\s+/u).filter(Boolean);

/** The state that a world begins with. `data` is a world file's content, parsed. */
export function fromWorld(data) {
  const faults = [];
  const list = (value, what) => {
    if (Array.isArray(value) && value.every((x) => typeof x === "string")) return value;
    faults.push(`${what} must be a list of texts.`);
    return [];
  };
  const table = (value, what) => {
    if (value && typeof value === "object" && !Array.isArray(value) && !(value instanceof Date))
      return value;
    faults.push(`${what} must be a table.`);
    return {};
  };
  const given = table(data, "The file");
  const known = ["seed", "focus", "axes", "sentences", "words", "head", "explorer"];
  for (const key of Object.keys(given))
    if (!known.includes(key)) faults.push(`The key ${quoted(key)} is not known.`);
  const axes = list(given.axes, "axes").map(composed);
  const words = new Map();
  for (const [name, vector] of Object.entries(table(given.words, "[words]")))
    words.set(composed(name), vector);
  const sentences = list(given.sentences, "sentences").map((text) => splitWords(composed(text)));
  const head = given.head === undefined ? {} : table(given.head, "[head]");
  const wired = given.head !== undefined;
  const settings = given.explorer === undefined ? {} : table(given.explorer, "[explorer]");
  const shown = sentences.find((words) => words.length <= LIMITS.shown);
  if (sentences.length && !shown)
    faults.push(`The explorer shows up to ${LIMITS.shown} words; each sentence has more.`);
  const state = {
    axes,
    words,
    sentence: shown ?? [],
    focus: typeof given.focus === "string" ? composed(given.focus) : given.focus,
    sentences,
    channels: wired ? list(head.channels, "channels").map(composed) : axes,
    W_Q: wired ? head.W_Q : identity(axes.length),
    W_K: wired ? head.W_K : identity(axes.length),
    W_V: settings.W_V ?? null,
    head: settings.head ?? "raw",
    scaled: settings.scaled ?? true,
    causal: settings.causal ?? false,
    sharpness: settings.sharpness ?? 1,
    plane: [0, Math.min(1, Math.max(0, axes.length - 1))],
  };
  faults.push(...check(state));
  if (faults.length) throw new Error([...new Set(faults)].slice(0, 8).join(" "));
  return planed(state);
}

/** The picture shows the axes on which the sentences' own words are strongest, if they differ. */
function planed(state) {
  const strongest = contexts(state.sentences)
    .filter((word) => word !== undefined)
    .map((word) => {
      const vector = state.words.get(word);
      return vector.indexOf(Math.max(...vector));
    });
  const [a, b] = [...new Set(strongest)];
  return b === undefined ? state : { ...state, plane: [a, b] };
}

/** What is wrong with a state, in sentences; nothing if all is well. */
export function check(state) {
  const faults = [];
  const need = (holds, fault) => holds || faults.push(fault);
  const names = (what, list, most) => {
    need(list.length >= 1 && list.length <= most, `${what}: 1 to ${most} are wanted.`);
    for (const name of list) need(isName(name), `${what}: ${quoted(name)} cannot be a name.`);
    need(new Set(list).size === list.length, `${what}: a name stands there twice.`);
  };
  names("axes", state.axes, LIMITS.axes);
  names("words", [...state.words.keys()], LIMITS.words);
  names("channels", state.channels, LIMITS.channels);
  for (const [word, vector] of state.words)
    need(isRow(vector, state.axes.length), `${quoted(word)} needs a number for each axis.`);
  for (const [what, matrix, columns] of [
    ["W_Q", state.W_Q, state.channels.length],
    ["W_K", state.W_K, state.channels.length],
    ["W_V", state.W_V ?? identity(state.axes.length), state.axes.length],
  ])
    need(
      Array.isArray(matrix) &&
        matrix.length === state.axes.length &&
        matrix.every((row) => isRow(row, columns)),
      `${what} needs ${state.axes.length} rows of ${columns} numbers.`,
    );
  need(state.sentences.length <= LIMITS.sentences, `At most ${LIMITS.sentences} sentences.`);
  for (const [most, words] of [
    [LIMITS.shown, state.sentence],
    ...state.sentences.map((words) => [LIMITS.sentenceWords, words]),
  ]) {
    need(words.length >= 1 && words.length <= most, `A sentence has 1 to ${most} words.`);
    for (const word of words) need(state.words.has(word), `The word ${quoted(word)} is not known.`);
    need(new Set(words).size === words.length, "A sentence must hold no word twice.");
  }
  need(state.words.has(state.focus), `The focus ${quoted(state.focus)} is not a word.`);
  need(["raw", "wired"].includes(state.head), "The head must be raw or wired.");
  need(typeof state.scaled === "boolean", "scaled must be true or false.");
  need(typeof state.causal === "boolean", "causal must be true or false.");
  need(
    isNumber(state.sharpness) && state.sharpness > 0 && state.sharpness <= LIMITS.sharpness,
    `sharpness must be above 0 and at most ${LIMITS.sharpness}.`,
  );
  need(
    state.plane.length === 2 &&
      state.plane.every((axis) => Number.isInteger(axis) && axis >= 0 && axis < state.axes.length),
    "The picture needs two of the axes.",
  );
  return [...new Set(faults)];
}

export const isNumber = (x) => typeof x === "number" && Math.abs(x) <= LIMITS.number;
const isRow = (row, length) => Array.isArray(row) && row.length === length && row.every(isNumber);
const composed = (text) => text.normalize("NFC");
const quoted = (text) => {
  const shown = String(text);
  return `“${shown.length > LIMITS.name ? `${shown.slice(0, LIMITS.name)}…` : shown}”`;
};

/** Whether a text can name a word, an axis or a channel: as in the package. */
export const isName = (name) =>
  typeof name === "string" &&
  [...name].length <= LIMITS.name &&
  /^[^\s\p{C}\p{Z}\p{M}][^\s\p{C}\p{Z}]*$/u.test(name);

/** What a head is given: see attention.mjs. */
export function inputs(state) {
  const raw = state.head === "raw";
  const same = identity(state.axes.length);
  return {
    X: state.sentence.map((word) => state.words.get(word)),
    W_Q: raw ? same : state.W_Q,
    W_K: raw ? same : state.W_K,
    W_V: state.W_V ?? same,
    scaled: !raw && state.scaled,
    causal: state.causal,
    sharpness: state.sharpness,
  };
}

// The address.

const row = (numbers) => numbers.join(" ");
const matrix = (rows) => rows.map(row).join("_");
const same = (a, b) => JSON.stringify(a) === JSON.stringify(b);

/** The part of an address after #, which says in what a state differs from a world's first one. */
export function toAddress(state, base) {
  const parts = new URLSearchParams({ v: VERSION, s: state.sentence.join(" ") });
  const put = (key, value, usual) => same(value, usual) || parts.append(key, value);
  const own = !same(state.axes, base.axes) || [...base.words.keys()].some((w) => !state.words.has(w));
  if (own) parts.append("a", state.axes.join(" "));
  for (const [word, vector] of state.words)
    if (own || !same(vector, base.words.get(word))) parts.append("w", `${word} ${row(vector)}`);
  if (!same(state.sentences, base.sentences))
    for (const words of state.sentences) parts.append("o", words.join(" "));
  put("f", state.focus, base.focus);
  put("h", state.head, base.head);
  put("c", state.channels.join(" "), own ? "" : base.channels.join(" "));
  put("q", matrix(state.W_Q), own ? "" : matrix(base.W_Q));
  put("k", matrix(state.W_K), own ? "" : matrix(base.W_K));
  if (state.W_V) parts.append("m", matrix(state.W_V));
  put("d", String(Number(state.scaled)), String(Number(base.scaled)));
  put("l", String(Number(state.causal)), String(Number(base.causal)));
  put("x", String(state.sharpness), String(base.sharpness));
  put("p", row(state.plane), row(base.plane));
  return parts.size === 2 && same(state.sentence, base.sentence) ? "" : parts.toString();
}

/** The state that an address holds; an error says what is wrong with it. */
export function fromAddress(text, base) {
  if (text === "") return base;
  if (text.length > LIMITS.address) throw new Error("It is too long.");
  const parts = new URLSearchParams(text);
  const many = ["w", "o"];
  for (const key of new Set(parts.keys())) {
    if (![..."vsawofhcqkmdlxp"].includes(key)) throw new Error(`It has an unknown part, ${quoted(key)}.`);
    if (!many.includes(key) && parts.getAll(key).length > 1)
      throw new Error(`It has the part ${quoted(key)} twice.`);
  }
  if (parts.get("v") !== VERSION) throw new Error("It is of another version of the explorer.");
  const number = (digits) => {
    if (!/^-?(\d+(\.\d*)?|\.\d+)(e[-+]?\d{1,3})?$/i.test(digits))
      throw new Error(`${quoted(digits)} is no number.`);
    return Number(digits);
  };
  const numbers = (text) => splitWords(text).map(number);
  const rows = (text) => text.split("_").map(numbers);
  const flag = (digit) => {
    if (digit !== "0" && digit !== "1") throw new Error(`${quoted(digit)} is neither 0 nor 1.`);
    return digit === "1";
  };
  const read = (key, as, usual) => (parts.has(key) ? as(parts.get(key)) : usual);
  const names = (text) => splitWords(composed(text));
  const own = parts.has("a");
  const words = new Map(own ? [] : base.words);
  for (const text of parts.getAll("w")) {
    const [word, ...vector] = splitWords(composed(text));
    words.set(word, vector.map(number));
  }
  const state = {
    axes: read("a", names, base.axes),
    words,
    sentence: read("s", names, base.sentence),
    focus: read("f", composed, base.focus),
    sentences: parts.has("o") ? parts.getAll("o").map(names) : base.sentences,
    channels: read("c", names, base.channels),
    W_Q: read("q", rows, base.W_Q),
    W_K: read("k", rows, base.W_K),
    W_V: read("m", rows, null),
    head: read("h", String, base.head),
    scaled: read("d", flag, base.scaled),
    causal: read("l", flag, base.causal),
    sharpness: read("x", number, base.sharpness),
    plane: read("p", numbers, base.plane),
  };
  const faults = check(state);
  if (faults.length) throw new Error(faults.slice(0, 4).join(" "));
  return state;
}

// World files.

/** Each sentence's first word that is not in all of them. */
const contexts = (sentences) =>
  sentences.map((words) => words.find((word) => !sentences.every((other) => other.includes(word))));

const isWorld = (sentences, focus) => {
  const own = contexts(sentences);
  return (
    sentences.every((words) => words.includes(focus)) &&
    !own.includes(undefined) &&
    new Set(own).size === own.length
  );
};

/** The content of a world file with this state's sentence first. */
export function toWorld(state) {
  const focus = state.sentence.includes(state.focus) ? state.focus : state.sentence.at(-1);
  const others = [...state.sentences];
  // Where the world has no second sentence with the focus word, the first one with a word exchanged.
  for (let i = 0; i < state.sentence.length; i++)
    for (const word of state.words.keys())
      if (state.sentence[i] !== focus && !state.sentence.includes(word))
        others.push(state.sentence.with(i, word));
  const sentences = [state.sentence];
  for (const [i, words] of others.entries()) {
    const extra = i >= state.sentences.length;
    if (extra && sentences.length > 1) break;
    if (sentences.length < LIMITS.sentences && isWorld([...sentences, words], focus))
      sentences.push(words);
  }
  if (sentences.length < 2)
    throw new Error(
      `A world file needs two sentences with ${quoted(focus)} and another word each. ` +
        "Put a second word into this one, and add a third to the vocabulary.",
    );
  return {
    seed: 0,
    focus,
    axes: state.axes,
    sentences: sentences.map((words) => words.join(" ")),
    words: Object.fromEntries(state.words),
    head: { channels: state.channels, W_Q: state.W_Q, W_K: state.W_K },
    explorer: {
      head: state.head,
      scaled: state.scaled,
      causal: state.causal,
      sharpness: state.sharpness,
      ...(state.W_V && { W_V: state.W_V }),
    },
  };
}

// Situations of the lessons.

/** Where to start from: a name, the lesson, what to look for, and what it changes in a world. */
export const PRESETS = [
  {
    name: "The river bank",
    lesson: "s1_toy_world",
    look: "Put money in the place of river. The row of bank in X stays as it is. Does its output?",
    change: () => ({}),
  },
  {
    name: "One clear winner",
    lesson: "s2_dot_softmax",
    look: "Sharpness multiplies the scores. Turn it down to one, and watch the weights even out.",
    change: () => ({ sharpness: 5 }),
  },
  {
    name: "The money bank",
    lesson: "s3_raw_attention",
    look: "The same row of bank as beside river, and an output that leans to money.",
    change: (base) => ({ sentence: base.sentences[1] ?? base.sentence }),
  },
  {
    name: "A wired head",
    lesson: "s4_wired_head",
    look: "Read a row of W_Q as a question and a row of W_K as an offer. Who asks, who answers?",
    change: () => ({ head: "wired" }),
  },
  {
    name: "Swap Q and K",
    lesson: "s4_wired_head",
    look: "Questions and offers change places. The scores are the old ones, rows and columns exchanged.",
    change: (base) => ({ head: "wired", W_Q: base.W_K, W_K: base.W_Q }),
  },
  {
    name: "Winner takes all",
    lesson: "s5_scaling",
    look: "Each channel is there four times, so scores are four times as large. Divide by √d_k again.",
    change: (base) => {
      const four = (list) => list.flatMap((x) => [x, x, x, x]);
      return {
        head: "wired",
        scaled: false,
        channels: base.channels.flatMap((name) => [1, 2, 3, 4].map((i) => `${name}${i}`)),
        W_Q: base.W_Q.map(four),
        W_K: base.W_K.map(four),
      };
    },
  },
  {
    name: "Hide the future",
    lesson: "s6_general_head",
    look: "No word sees what comes after it. Move a word to the end: now it sees everything.",
    change: () => ({ head: "wired", causal: true }),
  },
  {
    name: "Order does not matter",
    lesson: "s6_general_head",
    look: "The sentence backwards: each word keeps its output. Switch the causal mask on, and it does not.",
    change: (base) => ({ sentence: base.sentence.toReversed() }),
  },
];
