// What the page holds, out of its compact columns; elements are made with texts, never with markup.
const page = JSON.parse(document.getElementById("page-data").textContent);

function bytes(text) {
  const letters = atob(text), found = new Uint8Array(letters.length);
  for (let i = 0; i < letters.length; i += 1) found[i] = letters.charCodeAt(i);
  return found;
}

function unpacked(column) {
  if ("f4" in column || "f8" in column) {
    const numbers = "f4" in column ? new Float32Array(bytes(column.f4).buffer)
      : new Float64Array(bytes(column.f8).buffer);
    const exact = (v) => (Number.isInteger(v) || "f8" in column ? v : Number(v.toPrecision(6)));
    return Array.from(numbers, (v) => (Number.isNaN(v) ? null : exact(v)));
  }
  const Index = { 1: Uint8Array, 2: Uint16Array, 4: Uint32Array }[column.bytes];
  return Array.from(new Index(bytes(column.at).buffer), (at) => column.of[at]);
}

// Hashes are decoded on request only, because few of them are read.
function hashes(column) {
  const raw = bytes(column.hex);
  return (index) => Array.from(raw.subarray(column.bytes * index, column.bytes * (index + 1)),
    (byte) => byte.toString(16).padStart(2, "0")).join("");
}

function mapped(object, change) {
  return Object.fromEntries(Object.entries(object).map(([name, value]) => [name, change(value)]));
}

const sweep = page.kind === "sweep" ? {
  count: page.points.count,
  plan: hashes(page.points.plan), status: unpacked(page.points.status), kept: unpacked(page.points.kept),
  code: unpacked(page.points.code), message: unpacked(page.points.message),
  inputs: mapped(page.points.inputs, unpacked), measures: mapped(page.points.measures, unpacked),
  formats: mapped(page.formats, unpacked), texts: page.texts.map(unpacked), front: new Set(page.front),
} : null;

// The chosen design, and the callbacks for a change of the choice.
const chosen = { index: 0, design: null };
const followers = [];

function choose(index) {
  chosen.index = index;
  chosen.design = page.designs[index] ?? null;
  followers.forEach((follow) => follow());
}

function specOf(index) {
  return sweep ? sweep.texts.map((tables) => tables[index]).join("") : page.spec;
}

function element(tag, properties, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(properties ?? {})) {
    if (name in made) made[name] = value; else made.setAttribute(name, value);
  }
  made.append(...children.filter((child) => child !== null && child !== undefined));
  return made;
}

// Made once: to make it takes longer than to use it a thousand times.
const GROUPED = new Intl.NumberFormat("en-US");

function number(value, digits = 4) {
  if (value === null || value === undefined) return "-";
  if (typeof value !== "number") return String(value);
  if (Number.isInteger(value)) return GROUPED.format(value);
  return Math.abs(value) < 1e-3 || Math.abs(value) >= 1e5 ? value.toExponential(digits - 1)
    : String(Number(value.toPrecision(digits)));
}

function unit(name) {
  return page.measures[name][0];
}

function quantity(name, value) {
  return value === null || value === undefined ? "-" : `${number(value)}\u00a0${unit(name)}`.trim();
}

function table(head, rows, caption) {
  const numeric = (cell) => typeof cell === "number";
  const made = element("table", null,
    element("thead", null, element("tr", null, ...head.map((text, i) => element("th",
      { scope: "col", className: rows.some((row) => numeric(row[i])) ? "number" : "" }, text)))),
    element("tbody", null, ...rows.map((row) => element("tr", null, ...row.map((cell) =>
      element("td", { className: numeric(cell) ? "number" : "" },
        cell instanceof Node ? cell : number(cell)))))));
  if (caption) made.prepend(element("caption", null, caption));
  return element("div", { className: "scroll" }, made);
}
