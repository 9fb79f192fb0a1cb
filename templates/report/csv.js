// Samples from a CSV file of ADC counts, refused as kerncast refuses them.
const MOST_PROBLEMS = 5;

function columnsOf(program) {
  const all = Array.from({ length: program.columns }, (_, i) => `x${i}`);
  if (program.uniform) return ["y"];
  return program.learn ? [...all, "y"] : all;
}

function wordProblem(text, [, least, most], where) {
  const value = /^[+-]?\d{1,18}(\.0*)?$/.test(text) ? Number(text) : NaN;
  if (Number.isNaN(value)) {
    return { code: "E244", message: "ADC counts must be integers", where, value: text || "an empty field",
      allowed: "integers", remedy: "export ADC counts; offset and gain of [input] convert them" };
  }
  return value >= least && value <= most ? null : { code: "E246",
    message: "the value does not fit the ADC format", where, value: text, allowed: `${least} to ${most}`, remedy: "use a wider format, or repair the sample" };
}

// { samples } or { problems }.
function readSamples(program, text, name) {
  const lines = text.replace(/^\ufeff/, "").split(/\r\n|\n|\r/);
  const head = lines[0].split(",").map((field) => field.trim());
  const lagged = program.lagged && !head.includes("x0");  // of a signal alone, its past is the input
  const wanted = lagged ? ["y"] : columnsOf(program);
  const order = wanted.map((column) => head.indexOf(column));
  if (order.includes(-1)) {
    return { problems: [{ code: "E242", message: `the header must name ${wanted.length} columns`,
      where: `${name}:1`, value: lines[0].slice(0, 60), allowed: wanted.length > 6
        ? `${wanted[0]},${wanted[1]},...,${wanted.at(-1)}` : wanted.join(","),
      remedy: "correct the first line" }] };
  }
  const rows = [], problems = [];
  lines.slice(1).forEach((line, at) => {
    if (!line.trim() || problems.length >= MOST_PROBLEMS) return;
    const fields = line.split(",").map((field) => field.trim());
    order.forEach((place, i) => {
      const words = wanted[i] === "y" ? program.y : program.x;
      const problem = wordProblem(fields[place] ?? "", words, `${name}:${at + 2} ${wanted[i]}`);
      if (problem && problems.length < MOST_PROBLEMS) problems.push(problem);
    });
    rows.push(order.map((place) => Number(fields[place])));
  });
  const before = lagged ? program.columns : 0, least = (program.batch || 1) + before;
  if (!problems.length && rows.length < least) {
    problems.push({ code: "E247", message: "the file contains too few samples", where: name,
      value: `${rows.length} rows`, allowed: `${least} rows or more`, remedy: "give more data" });
  }
  return problems.length ? { problems } : { samples: shaped(program, rows, lagged) };
}

function shaped(program, rows, lagged) {
  const y = program.learn ? rows.map((row) => row.at(-1)) : null;
  if (program.uniform) {
    const [first, step] = program.grid;
    return { x: Array.from({ length: program.batch }, (_, i) => [first + i * step]), y };
  }
  if (lagged) {
    const d = program.columns;
    return { x: y.slice(d).map((_, i) => y.slice(i, i + d).reverse()), y: y.slice(d) };
  }
  return { x: rows.map((row) => row.slice(0, program.columns)), y };
}
