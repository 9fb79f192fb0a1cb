// The Pareto front: every design with an answer, by two measures.
const CHEAPEST = "cheapest";

function nameOf(index) {
  return page.axes.map((key) => `${key} = ${number(sweep.inputs[key][index], 6)}`).join(", ")
    || "as in the spec";
}

function hoverOf(index) {
  return [...page.axes.map((key) => `${key} = ${number(sweep.inputs[key][index], 6)}`),
    ...page.objectives.map((name) => `${name} ${quantity(name, sweep.measures[name][index])}`),
    sweep.kept[index] ? "satisfies every limit" : "exceeds a limit"].map(plain).join("<br>");
}

function all(test) {
  return Array.from({ length: sweep.count }, (_, index) => index).filter(test);
}

function scatter(indices, x, y, own) {
  return { type: "scatter", mode: "markers", x: indices.map((i) => x[i]), y: indices.map((i) => y[i]),
    customdata: indices, text: globalThis.Plotly ? indices.map(hoverOf) : [], hovertemplate: "%{text}<extra></extra>", ...own };
}

// Ticks of a logarithmic axis: 1, 2 and 5 of every decade, written in full.
function ticksOf(values) {
  const [least, most] = [Math.min(...values), Math.max(...values)], decade = Math.floor(Math.log10(least));
  const decades = Math.ceil(Math.log10(most)) - decade + 1;
  const ticks = Array.from({ length: decades }, (_, i) => 10 ** (decade + i));
  const tickvals = ticks.flatMap((tick) => [tick, 2 * tick, 5 * tick]);
  return { type: "log", tickvals, ticktext: tickvals.map((tick) => number(Number(tick.toPrecision(3)))) };
}

function scaled(values) {
  return spread(values) === "log" ? ticksOf(values) : { type: "linear" };
}

function axisOf(name, own) {
  const of = unit(name) ? ` [${unit(name)}]` : "";
  return { title: { text: plain(`${name}${of}, ${page.measures[name][1]}`) }, ...own };
}

function spread(values) {
  const found = values.filter((v) => v > 0);
  return found.length === values.length && Math.max(...found) / Math.min(...found) > 5 ? "log" : "linear";
}

function coloured(indices, x, y, key) {
  const column = sweep.inputs[key], values = [...new Set(column)];
  const numeric = values.every((v) => typeof v === "number");
  const colours = indices.map((i) => (numeric ? column[i] : values.indexOf(column[i])));
  return scatter(indices, x, y, { name: plain(key), showlegend: false, marker: { size: 7, color: colours,
    colorscale: "Viridis", line: { width: 0.5, color: colour("card") },
    colorbar: { title: { text: plain(key), side: "right" }, thickness: 12, outlinewidth: 0,
      ...(numeric ? {} : { tickvals: values.map((_, i) => i), ticktext: values.map(plain) }) } } });
}

function buildFront() {
  const xName = document.getElementById("front-x").value, yName = document.getElementById("front-y").value;
  const key = document.getElementById("front-colour").value;
  const x = sweep.measures[xName], y = sweep.measures[yName];
  const shown = all((i) => x[i] !== null && y[i] !== null && sweep.status[i] !== "refused");
  if (!shown.length) return "No design has both measures.";
  const front = shown.filter((i) => sweep.front.has(i)).sort((a, b) => x[a] - x[b] || y[a] - y[b]);
  const kept = shown.filter((i) => sweep.kept[i]), missed = shown.filter((i) => !sweep.kept[i]);
  const traces = key ? [coloured(shown, x, y, key)] : [
    scatter(missed, x, y, { name: "misses a limit",
      marker: { size: 6, symbol: "circle-open", color: colour("faint") } }),
    scatter(kept, x, y, { name: "within limits",
      marker: { size: 6, color: colour("model"), opacity: 0.75 } })];
  traces.push(scatter(front, x, y, { name: "front", mode: "lines+markers",
    line: { color: colour("front"), width: 1.5, shape: "hv" },
    marker: { size: 10, symbol: "diamond", color: colour("front") } }));
  if (shown.includes(page.best)) {
    traces.push(scatter([page.best], x, y, { name: CHEAPEST, marker: { size: 17, symbol: "star",
      color: colour("good"), line: { width: 1, color: colour("card") } } }));
  }
  if (shown.includes(chosen.index)) {
    traces.push(scatter([chosen.index], x, y, { name: "chosen", marker: { size: 24, symbol: "circle-open",
      color: colour("text"), line: { width: 2.5 } } }));
  }
  const of = (values) => shown.map((i) => values[i]);
  return { traces, layout: { height: 430, xaxis: axisOf(xName, scaled(of(x))),
    yaxis: axisOf(yName, scaled(of(y))), showlegend: true },
    says: `${number(shown.length)} designs, ${number(kept.length)} of them within the limits; `
      + `${front.length} on the front, from ${quantity(xName, x[front[0]])} with ${yName} `
      + `${quantity(yName, y[front[0]])} to `
      + `${quantity(xName, x[front.at(-1)])} with ${yName} ${quantity(yName, y[front.at(-1)])}.`
      + " The list shows their numbers." };
}

function startFront() {
  const names = Object.keys(page.measures).filter((name) => sweep.measures[name].some((v) => v !== null));
  const entries = names.map((name) => [name, `${name}: ${page.measures[name][2]}`]);
  const [first, second] = [...page.objectives, ...names];
  const choices = [options("front-x", entries, second), options("front-y", entries, first),
    options("front-colour", [["", "limits"], ...page.axes.map((key) => [key, key])], "")];
  let bound = false;
  const draw = figure("front", buildFront, { early: preview, drawn: (place) => {
    if (bound) return;
    bound = true;
    place.on("plotly_click", (event) => choose(event.points[0].customdata));
  } });
  choices.forEach((choice) => choice.addEventListener("change", draw));
}
