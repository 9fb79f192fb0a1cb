// Run the generated C of the chosen design on the user's data.
const MOST_DRAWN = 4000;
const runs = { program: null, text: null, result: null };

async function programOf(index) {
  const hash = sweep ? sweep.plan(index) : page.designs[0].plan;
  if (!page.programs[hash] && page.live) page.programs[hash] = await fetched("program", { plan: hash });
  return page.programs[hash] ?? null;
}

function held() {  // the design whose program a page from disk holds
  return sweep && !page.live ? all((i) => page.programs[sweep.plan(i)])[0] : undefined;
}

async function runChosen() {
  const index = chosen.index, program = await programOf(index);
  if (index !== chosen.index || runs.text === null) return;
  Object.assign(runs, { program, of: index, result: null });
  const problems = (found) => { showProblems("run-problems", found); drawRun(); };
  if (!program) { await showProgram(); return; }
  if (program.problems ?? program.problem) { problems(program.problems ?? [program.problem]); return; }
  const read = readSamples(program, runs.text, runs.name);
  if (read.problems) { problems(read.problems); return; }
  const result = await runProgram(program, read.samples);
  runs.result = { ...result, y: read.samples.y && read.samples.y.map((word) =>
    (word - program.offset) * program.gain), value: result.f.map((word) => word * program.unit) };
  problems([]);
}

function drawRun() {
  document.getElementById("run-save").hidden = !runs.result;
  runs.draw?.();
}

function counted(program, codes) {
  const counts = new Map();
  codes.forEach((code) => counts.set(code, (counts.get(code) ?? 0) + 1));
  return [...counts].map(([code, count]) => `${program.statuses[code] ?? code} ${number(count)} times`)
    .join(", ");
}

function buildRun() {
  const { program, result } = runs;
  if (!result) return runs.text === null ? "No data have been run yet." : "";
  const count = result.f.length, each = Math.ceil(count / MOST_DRAWN);
  const at = Array.from({ length: Math.ceil(count / each) }, (_, i) => i * each);
  const trace = (name, values, own) => ({ type: "scatter", name, x: at.map((i) => i + 1),
    y: at.map((i) => values[i]), hovertemplate: `${name}: %{y:.5g} at sample %{x}<extra></extra>`, ...own });
  const traces = [trace("f, the generated C", result.value,
    { mode: "lines", line: { color: colour("model") } })];
  const y = result.y?.slice(0, count);
  if (y) {
    traces.unshift(trace("y, your data", y,
      { mode: "markers", marker: { size: 4, color: colour("faint") } }));
  }
  const rms = y && Math.sqrt(y.reduce((sum, v, i) => sum + (v - result.value[i]) ** 2, 0) / count);
  const trained = result.trained === null ? "" : `training ${program.statuses[result.trained]}; `;
  return { traces, layout: { height: 320, xaxis: { title: { text: "sample" } },
    yaxis: { title: { text: `in ${plain(program.y_unit)}` } }, showlegend: true },
    says: `${number(count)} samples of ${runs.name} by ${program.name} in WebAssembly: ${trained}`
      + `predictions ${counted(program, result.status)}${y ? `; RMS of y - f ${number(rms)}` : ""}.`,
    head: ["sample", ...(y ? ["y"] : []), "f, fixed point", "f", "status"],
    rows: at.slice(0, 500).map((i) => [i + 1, ...(y ? [y[i]] : []), result.f[i], result.value[i],
      program.statuses[result.status[i]]]) };
}

async function showProgram() {
  const place = document.getElementById("run-columns"), other = held();
  const same = runs.of === chosen.index;  // unchanged
  if (!same) {
    Object.assign(runs, { result: null });
    drawRun();
  }
  const program = page.live ? null : await programOf(chosen.index);
  const shown = runs.program ?? program;
  if (page.live || (program && !program.problem)) {
    const columns = shown?.wasm ? columnsOf(shown) : null, some = columns?.slice(0, 3).join(", ");
    place.replaceChildren(!columns ? "the columns of the spec."
      : columns.length > 4 ? `columns ${some}, ..., ${columns.at(-1)}.` : `columns ${columns.join(", ")}.`);
    if (!same) showProblems("run-problems", []);
  } else if (program) {
    showProblems("run-problems", [program.problem]);
  } else {
    const go = element("button", { type: "button" }, "Show it");
    go.addEventListener("click", () => choose(other));
    place.replaceChildren(...(other === undefined ? ["this page has no program."]
      : ["this page has the program of one design: ", nameOf(other), ". ", go]));
  }
}

function take(name, text) {
  Object.assign(runs, { name, text });
  runChosen().catch((error) => showProblems("run-problems", [{ code: "WebAssembly",
    message: String(error), remedy: "try another browser" }]));
}

function startProgram() {
  const file = document.getElementById("run-file"), drop = document.getElementById("run-drop");
  const read = async (one) => { if (one) take(one.name, await one.text()); };
  file.addEventListener("change", () => read(file.files[0]));
  drop.addEventListener("dragover", (event) => event.preventDefault());
  drop.addEventListener("drop", (event) => { event.preventDefault(); read(event.dataTransfer.files[0]); });
  document.getElementById("run-samples")?.addEventListener("click", () => take("the spec", page.samples));
  document.getElementById("run-save").addEventListener("click", () => save(`${page.name}-answers.csv`,
    ["status,word,f", ...runs.result.f.map((word, i) =>
      `${runs.result.status[i]},${word},${runs.result.value[i]}`), ""].join("\n")));
  runs.draw = figure("run", buildRun, { follow: false });
  followers.push(showProgram);
}
