// The chosen design: its keys and measures, its spec and command, its plan, and its resource use on each target.
function fact(value, name) {
  return element("div", null, element("b", null, value), element("span", null, name));
}

function save(name, text) {
  const link = element("a", { download: name,
    href: URL.createObjectURL(new Blob([text], { type: "text/plain" })) });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);  // a busy browser takes it later
}

function command(text) {
  const copied = element("button", { type: "button" }, "Copy");
  copied.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(text);
      copied.textContent = "Copied";
    } catch {
      getSelection().selectAllChildren(line);
    }
  });
  const line = element("pre", { tabIndex: 0, id: "command" }, text);
  return element("div", { className: "command" }, line, copied);
}

function chosenPoint() {
  const i = chosen.index, hash = sweep.plan(i);
  if (sweep.code[i]) {
    return [element("p", null, nameOf(i)),
      element("p", { className: "bad" }, `Refused, ${sweep.code[i]}: ${sweep.message[i]}`),
      command(`kerncast explain ${sweep.code[i]}`)];
  }
  const file = `${page.name}-${hash.slice(0, 12)}.toml`, spec = specOf(i);
  const saved = element("button", { type: "button" }, `Save ${file}`);
  saved.addEventListener("click", () => save(file, spec));
  const names = Object.keys(page.measures).filter((name) => sweep.measures[name][i] !== null);
  return [element("p", null, nameOf(i)),
    element("p", { className: sweep.kept[i] ? "good" : "bad" },
      `${i === page.best ? "The cheapest design within the limits"
        : sweep.kept[i] ? "Satisfies every limit" : "Exceeds a limit"}`
      + `${sweep.front.has(i) ? "; on the Pareto front" : ""}; status: ${sweep.status[i]}`),
    element("div", { className: "facts" }, ...names.map((name) =>
      fact(quantity(name, sweep.measures[name][i]), `${name}, ${page.measures[name][1]}`))),
    ...planLines(hash),
    element("p", null, saved, page.live ? " next to the spec, then run:"
      : " in the folder of the sweep, then run:"),
    command(`kerncast gen ${file} -o ${page.name}-${hash.slice(0, 12)}`),
    element("details", null, element("summary", null, "Its spec"),
      element("pre", { tabIndex: 0, id: "spec" }, spec))];
}

function planLines(hash) {
  return [element("dl", null, element("dt", null, "plan"),
    element("dd", null, element("code", { className: "hash", id: "plan-hash" }, hash)))];
}

function chosenDesign() {
  const design = chosen.design;
  return [element("div", { className: "facts" }, fact(`${number(design.ram)} B`, "RAM of the structure"),
    fact(`${number(design.flash)} B`, "flash of the tables"),
    fact(design.status ?? "-", "status of the run")),
  ...planLines(design.plan), page.command ? command(page.command) : ""];
}

function drawChosen() {
  document.getElementById("chosen").replaceChildren(...(sweep ? chosenPoint() : chosenDesign()));
  drawPlan();
  drawTargets();
}

function drawPlan() {
  const place = document.getElementById("plan"), design = chosen.design;
  if (!design) {
    const rows = Object.entries(sweep.formats).map(([name, column]) => [name, column[chosen.index]])
      .filter(([, format]) => format !== null);
    place.replaceChildren(rows.length ? table(["signal", "format"], rows, "Formats of the signals")
      : element("p", null, "There is no plan: the spec was refused."));
    return;
  }
  const mark = (row) => element("span", { className: row.saturated ? "bad"
    : row.headroom !== null && row.headroom < 1
    ? "warn" : "" }, row.headroom === null ? "-" : `${number(row.headroom, 3)} bits`);
  place.replaceChildren(
    table(["signal", "format", "exponent", "cast", "chosen by", "at most", "seen",
      "headroom", "saturated", "unit"],
      design.signals.map((row) => [row.name, row.format, row.exponent ?? "-", row.cast, row.decided ?? "-",
        number(row.most),
        number(row.seen), mark(row), row.saturated ?? "-", row.unit]),
          "Formats, how they were chosen, and the range seen in a run"),
    table(["member", "type", "elements", "bytes", "meaning"],
      [...design.memory, ["total", "", "", design.ram, ""]],
      "RAM: the structure of the model, owned by the caller"),
    ...(design.tables.length ? [table(["table", "format", "entries", "bytes"],
      [...design.tables, ["total", "", "", design.flash]],
      "Flash: constant tables")] : []),
    table(["call", "operation", "formula", "at most"], design.operations, "Operations per call, worst case"));
}

function drawTargets() {
  const place = document.getElementById("targets"), design = chosen.design;
  if (!design) { place.replaceChildren(element("p", null, page.live ? WHEN_AT_REST : NOT_KEPT)); return; }
  const share = (part, whole) => `${number(100 * part / whole, 3)}\u00a0%`;
  place.replaceChildren(table(["target", "core", "RAM, B", "of", "share", "tables, B", "of", "share", "fits"],
    design.targets.map((row) => [row.id, row.title,
      design.ram, row.room, share(design.ram, row.room), design.flash,
      row.flash, share(design.flash, row.flash), element("span", { className: row.refused ? "bad" : "good" },
        row.refused ? `no, ${row.refused}` : "yes")])));
}
