// A chart with a description and a table of its numbers; it is drawn when it comes into view.

// Text inside a picture: plotly reads some markup, and here nothing is markup.
function plain(text) {
  return String(text).replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;");
}

function layoutOf(own) {
  const text = colour("text"), quiet = colour("quiet"), grid = colour("grid");
  const axis = { gridcolor: grid, linecolor: colour("line"), zerolinecolor: grid, tickfont: { color: quiet },
    title: { font: { color: text } }, automargin: true };
  const layout = { paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)",
    font: { color: text, size: 13 },
    margin: { l: 60, r: 16, t: 12, b: 48 }, hovermode: "closest", hoverlabel: { align: "left",
      bgcolor: colour("card"), bordercolor: colour("line"), font: { color: text } },
    legend: { orientation: "h", y: 1.02, yanchor: "bottom", x: 0, entrywidth: 0,
      font: { color: text, size: 12 } }, ...own };
  for (const name of Object.keys(layout)) {
    if (/^[xy]axis\d*$/.test(name)) {
      layout[name] = { ...axis, ...layout[name], title: { ...axis.title, ...(layout[name].title ?? {}) } };
    }
  }
  return layout;
}

// The page contains plotly.js as text, which is parsed after the rest is visible and usable.
function readPlotly() {
  document.head.append(element("script", null, document.getElementById("plotly").textContent));
  drawings.forEach((draw) => draw());
}
const drawings = [];

// `build()` returns traces, layout, description, table head and rows, or a text if there is nothing to draw; `early`
// draws what is above all else before plotly.js can.
function figure(id, build, { drawn = () => {}, follow = true, early = null } = {}) {
  const place = document.getElementById(id);
  if (!place) return;
  const says = document.getElementById(`${id}-says`), details = document.getElementById(`${id}-table`);
  let built = null, seen = early !== null, stale = true;
  const fill = () => {
    if (!details) return;
    details.hidden = !built?.rows;
    details.querySelector(".scroll")?.remove();
    if (details.open && built?.rows) details.append(table(built.head, built.rows));
  };
  const draw = () => {
    if (!seen || !(globalThis.Plotly || early)) { stale = true; return; }
    stale = !globalThis.Plotly;
    const made = build();
    built = typeof made === "string" ? null : made;
    says.textContent = built ? built.says : made;
    place.classList.toggle("empty", !built);
    if (stale) { if (built) early(place, built); fill(); return; }
    if (!built) Plotly.purge(place);
    else {
      place.querySelector(".preview")?.remove();
      Plotly.react(place, built.traces, layoutOf(built.layout), { responsive: true, displaylogo: false,
        modeBarButtonsToRemove: ["select2d", "lasso2d", "autoScale2d"] });
      drawn(place);
    }
    fill();
  };
  details?.addEventListener("toggle", fill);
  redrawn.push(draw);
  if (follow) followers.push(draw);
  new IntersectionObserver((entries) => {
    if (!entries.some((entry) => entry.isIntersecting)) return;
    seen = true;
    if (stale) draw();
  }, { rootMargin: "200px" }).observe(place);
  drawings.push(() => { if (stale) draw(); });
  addEventListener("beforeprint", () => { seen = true; if (stale) draw(); });
  return draw;
}

function options(id, entries, value) {
  const select = document.getElementById(id);
  select.append(...entries.map(([key, text]) => element("option", { value: key }, text)));
  select.value = value;
  return select;
}
