// Error of every design against the bits of one signal's format.
function bitsOf(format) {
  return format === null ? null : Number(/^[su](\d+)/.exec(format)[1]);
}

function buildBits() {
  const signal = document.getElementById("bits-signal").value, name = page.objectives[0];
  const formats = sweep.formats[signal], y = sweep.measures[name];
  const shown = all((i) => formats[i] !== null && y[i] !== null);
  if (!shown.length) return "No design with a result has this signal.";
  const lengths = [...new Set(shown.map((i) => bitsOf(formats[i])))].sort((a, b) => a - b);
  const of = lengths.map((bits) => shown.filter((i) => bitsOf(formats[i]) === bits));
  const best = of.map((group) => group.reduce((a, b) => (y[b] < y[a] ? b : a)));
  // Points of equal length are spread sideways by their position in the list, not at random.
  const beside = new Map(of.flatMap((group) =>
    group.map((index, at) => [index, ((at * 0.618034) % 1 - 0.5) * 0.6])));
  const x = Object.fromEntries(shown.map((i) => [i, bitsOf(formats[i]) + beside.get(i)]));
  const whole = Object.fromEntries(shown.map((i) => [i, bitsOf(formats[i])]));
  const traces = [scatter(shown, x, y, { name: "designs",
    marker: { size: 6, color: colour("model"), opacity: 0.6 } }),
    scatter(best, whole, y, { name: "best per word length", mode: "lines+markers",
      line: { color: colour("front") }, marker: { size: 10, symbol: "diamond", color: colour("front") } })];
  if (shown.includes(chosen.index)) {
    traces.push(scatter([chosen.index], x, y, { name: "chosen", marker: { size: 18, symbol: "circle-open",
      color: colour("text"), line: { width: 2.5 } } }));
  }
  return { traces, layout: { height: 340,
    xaxis: { title: { text: plain(`bits of ${signal}`) }, tickvals: lengths,
    range: [lengths[0] - 1, lengths.at(-1) + 1] },
    yaxis: axisOf(name, scaled(shown.map((i) => y[i]))), showlegend: true },
    says: `Smallest ${name} by bits of ${signal}: `
      + lengths.map((bits, i) => `${bits} bits ${quantity(name, y[best[i]])}`).join(", ") + ".",
    head: [`bits of ${signal}`, "format of the best", "designs", `smallest ${name}`, "its keys"],
    rows: lengths.map((bits, i) => [bits, formats[best[i]], of[i].length, y[best[i]], nameOf(best[i])]) };
}

function startBits() {
  const varied = (signal) => new Set(sweep.formats[signal].map(bitsOf).filter((bits) => bits !== null)).size;
  const names = Object.keys(sweep.formats).sort((a, b) => varied(b) - varied(a));
  const first = names.includes("alpha") ? "alpha" : names[0];
  const choice = options("bits-signal", names.map((name) => [name,
    varied(name) > 1 ? name : `${name} (one length)`]), first);
  let bound = false;
  const draw = figure("bits", buildBits, { drawn: (place) => {
    if (bound) return;
    bound = true;
    place.on("plotly_click", (event) => choose(event.points[0].customdata));
  } });
  choice.addEventListener("change", draw);
}
