// Where the error comes from, how it falls, and the reflection coefficients.
const LINES = { words: ["integer model", "model", "solid"], row: ["row in fixed point", "model", "solid"],
  float64: ["float64", "front", "dash"] };

function buildBudget(budget, { y_unit: unit }) {
  const names = Object.keys(budget.terms);
  const rms = names.map((name) => budget.terms[name].rms),
    parts = names.map((name) => budget.terms[name].part);
  return { traces: [{ type: "bar", orientation: "h",
    y: [...names, "total"].map(plain), x: [...rms, budget.rms],
    marker: { color: [...names.map(() => colour("model")), colour("other")] },
    text: [...rms.map((v, i) => `${number(v, 3)} (${number(100 * parts[i], 3)} %)`), number(budget.rms, 3)],
    textposition: "auto",
      insidetextfont: { color: colour("card") }, outsidetextfont: { color: colour("text") },
    hovertemplate: "%{y}: rms %{x:.4g}<extra></extra>" }],
  layout: { height: 300, xaxis: { title: { text: `RMS, in ${plain(unit)}` }, rangemode: "tozero" },
    yaxis: { autorange: "reversed" }, showlegend: false },
  says: `RMS error ${number(budget.rms)} on ${number(budget.samples)} training samples, of which: `
    + names.map((name, i) => `${name} ${number(100 * parts[i], 3)} %`).join(", ") + ".",
  head: ["term", `RMS, in ${unit}`, "share, %"],
  rows: [...names.map((name, i) => [name, rms[i], 100 * parts[i]]), ["total", budget.rms, 100]] };
}

function line(key, x, y, own) {
  const [name, shade, dash] = LINES[key];
  return { type: "scatter", mode: "lines", name, x, y, line: { color: colour(shade), dash, width: 2 },
    hovertemplate: `${name}: %{y:.4g} at %{x}<extra></extra>`, ...own };
}

function buildCurve(held) {
  const curve = { ...held, lines: mapped(held.lines, (one) => mapped(one, unpacked)) };
  const keys = Object.keys(curve.lines), values = keys.flatMap((key) => curve.lines[key].y);
  const last = keys.map((key) => `${LINES[key][0]} ${number(curve.lines[key].y.at(-1))}`);
  const at = curve.lines[keys[0]].x;
  return { traces: keys.map((key) => line(key, curve.lines[key].x, curve.lines[key].y)),
    layout: { height: 300, xaxis: { title: { text: plain(curve.x) } }, showlegend: true,
      yaxis: { title: { text: plain(curve.y) }, type: spread(values),
        ...(spread(values) === "log" ? {} : { rangemode: "tozero" }) } },
    says: `${curve.y}, after ${number(at.at(-1))}: ${last.join(", ")}.`,
    head: [curve.x, ...keys.map((key) => LINES[key][0])],
    rows: at.map((x, i) => [x, ...keys.map((key) => curve.lines[key].y[i] ?? null)]) };
}

function buildXi(held) {
  const xi = mapped(held, unpacked);
  const order = (values) => values.map((_, i) => i + 1);
  const most = Math.max(...xi.row.map(Math.abs));
  const own = { mode: "lines+markers", marker: { size: 4 } };
  const keys = ["row", "float64"].filter((key) => xi[key].length);
  return { traces: keys.map((key) => line(key, order(xi[key]), xi[key], key === "row" ? own : {})),
    layout: { height: 300, xaxis: { title: { text: "order m" } },
      yaxis: { title: { text: "xi" }, range: [-1.05, 1.05] },
      shapes: [-1, 1].map((y) => ({ type: "line", xref: "paper", x0: 0, x1: 1, y0: y, y1: y,
        line: { color: colour("bad"), width: 1, dash: "dot" } })), showlegend: true },
    says: `${number(xi.row.length)} coefficients of the row in fixed point; the largest magnitude is `
      + `${number(most)}, ${number(1 - most)} below 1.`,
    head: ["order m", ...keys.map((key) => LINES[key][0])],
    rows: xi.row.map((value, i) => [i + 1, ...keys.map((key) => xi[key][i] ?? null)]) };
}

function startCurves() {
  figure("budget", ofDesign("budget",
    "There is no error budget: no data, no solution, or too many samples.", buildBudget));
  figure("curve", ofDesign("curve", "This model is not trained on the device, or there are no data.", buildCurve));
  figure("xi", ofDesign("xi", "Without data there is no system.", buildXi));
}
