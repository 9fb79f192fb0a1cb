// Histograms of the signals: how many bits their words take, of those that there are.
const NOT_KEPT = "This page has this chart for designs of the front only. Save the "
  + "spec of this design and run kerncast report.";
const WHEN_AT_REST = "This appears when the sliders stop.";

function ofDesign(name, missing, build) {
  return () => {
    if (!chosen.design) return page.live ? WHEN_AT_REST : NOT_KEPT;
    return chosen.design[name] ? build(chosen.design[name], chosen.design) : missing;
  };
}

function verdict(row) {
  if (row.used === null) return [colour("grid"), "not seen"];
  if (row.saturated) return [colour("bad"), "saturates"];
  return row.used >= row.room ? [colour("warn"), "uses its last bit"] : [colour("model"), "has headroom"];
}

function panel(row, at, columns, lines) {
  const column = at % columns, line = Math.floor(at / columns), suffix = at ? at + 1 : "";
  const wide = 1 / columns, high = 1 / lines, top = 1 - line * high;
  const x = [column * wide + 0.035 * (columns < 3 ? 1.3 : 1), (column + 1) * wide - 0.012];
  const y = [top - high + high * 0.27, top - high * 0.24];
  const [fill] = verdict(row), total = row.counts?.reduce((a, b) => a + b, 0);
  const lengths = Array.from({ length: row.room + 1 }, (_, bits) => bits);
  const share = row.counts ? row.counts.map((count) => 100 * count / total) : null;
  const colours = lengths.map((bits) => (bits === row.room ? fill : colour("model")));
  const trace = row.used === null ? { type: "bar", x: [], y: [] } : row.counts
    ? { type: "bar", x: lengths, y: share, marker: { color: colours }, customdata: row.counts,
      hovertemplate: `${plain(row.name)}: %{x} bits<br>%{customdata} words, %{y:.3g} %<extra></extra>` }
    : { type: "bar", x: [row.used / 2], y: [50], width: [Math.max(row.used, 0.4)],
      marker: { color: fill, opacity: 0.6,
      pattern: { shape: "/", fgcolor: fill, size: 6, fillmode: "overlay", bgcolor: "rgba(0,0,0,0)" } },
      hovertemplate: `${plain(row.name)}: up to ${row.used} bits<extra></extra>` };
  const left = Math.max(0, row.room - row.used);
  const lost = row.saturated ? `, ${number(row.saturated)} saturated` : "";
  const use = row.used === null ? "not seen" : `${left} ${left === 1 ? "bit" : "bits"} left${lost}`;
  return { trace: { ...trace, xaxis: `x${suffix}`, yaxis: `y${suffix}`, showlegend: false },
    axes: { [`xaxis${suffix}`]: { domain: x, anchor: `y${suffix}`, range: [-0.7, row.room + 0.7],
      dtick: row.room > 16 ? 8 : 4,
      tick0: 0, showgrid: false },
    [`yaxis${suffix}`]: { domain: y, anchor: `x${suffix}`, rangemode: "tozero", nticks: 3, ticksuffix: "%",
      ...(row.counts ? {} : { range: [0, 100], showticklabels: false, showgrid: false }) } },
    shape: { type: "rect", xref: `x${suffix}`, yref: `y${suffix} domain`,
      x0: Math.min(row.used, row.room) + 0.5, x1: row.room + 0.5,
      y0: 0, y1: 1, fillcolor: colour("room"), line: { width: 0 }, layer: "below" },
    title: { text: `<b>${plain(row.name)}</b> ${plain(row.format)}: ${use}`, xref: "paper", yref: "paper",
      x: x[0], y: y[1], xanchor: "left", yanchor: "bottom", showarrow: false,
      font: { size: 12, color: row.saturated ? colour("bad") : colour("text") } } };
}

function buildWords(rows) {
  const width = document.getElementById("words").clientWidth;
  const columns = width > 1000 ? 4 : width > 680 ? 3 : width > 430 ? 2 : 1;
  const lines = Math.ceil(rows.length / columns);
  const panels = rows.map((row, at) => panel(row, at, columns, lines));
  const layout = { height: 20 + 150 * lines, margin: { l: 8, r: 8, t: 6, b: 6 }, bargap: 0.12,
    shapes: panels.map((p) => p.shape), annotations: panels.map((p) => p.title) };
  const saturated = rows.filter((row) => row.saturated)
    .map((row) => `${row.name} ${number(row.saturated)} times`);
  const tight = rows.filter((row) => row.used !== null)
    .reduce((a, b) => (b.room - b.used < a.room - a.used ? b : a));
  return { traces: panels.map((p) => p.trace), layout: Object.assign(layout, ...panels.map((p) => p.axes)),
    says: `Smallest headroom: ${tight.name}, ${Math.max(0, tight.room - tight.used)} bits. Saturated: `
      + `${saturated.join(", ") || "none"}. x axis: bits used; y axis: share of the values; `
      + "hatched: only the largest is known.",
    head: ["signal", "format", "bits of the format", "bits used",
      "headroom", "values at full scale", "casts saturated", ""],
    rows: rows.map((row) => [row.name, row.format, row.room, row.used ?? "-",
      row.used === null ? "-" : row.room - row.used,
      row.counts ? row.rails : "-", row.saturated, verdict(row)[1]]) };
}

function startWords() {
  figure("words", ofDesign("histograms",
    "Nothing was run without data: name data in [data] of the spec.", buildWords));
}
