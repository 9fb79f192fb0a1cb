// The page while it is live: a slider asks, and each answer becomes a point of the pictures.
const EVERY = 50, REST = 300;  // ms: between questions while one drags; until the whole design is asked for
const live = { id: String(Math.random()), number: 0, asked: 0, shown: 0, values: {}, seen: new Map(), problems: [[]],
  moved: false, pausing: null, resting: null };

// The token leaves the address for the fragment, which is not sent; requests carry it in a header.
const token = page.live ? location.pathname.split("/")[1] : "";
if (page.live) history.replaceState(null, "", "/#" + token);

async function fetched(name, question) {
  try {
    const answer = await fetch("/" + name, { method: "POST",
      headers: { "Content-Type": "application/json", "X-Kerncast-Token": token },
      body: JSON.stringify({ page: live.id, number: live.number, ...question }) });
    return await answer.json();
  } catch {
    return { problems: [{ code: "ended", message: "kerncast explore does not respond",
      remedy: "start it again, and open its new address" }] };
  }
}

function keyOf(inputs) {
  return JSON.stringify(page.controls.map((control) => inputs[control.key]));
}

// What no other beats in any objective.
function frontOf() {
  const values = (i) => page.objectives.map((name) => sweep.measures[name][i]);
  const having = all((i) => sweep.status[i] !== "refused" && values(i).every((v) => v !== null));
  const beats = (a, b) => a.every((v, k) => v <= b[k]) && a.some((v, k) => v < b[k]);
  return new Set(having.filter((i) => !having.some((j) => beats(values(j), values(i)))));
}

function addPoint(point) {
  const key = keyOf(point.inputs);
  if (live.seen.has(key)) return live.seen.get(key);
  const index = sweep.count;
  live.seen.set(key, index);
  live.plans.push(point.plan);
  live.problems.push(point.problems);
  for (const name of ["status", "kept", "code", "message"]) sweep[name].push(point[name]);
  for (const [name, column] of Object.entries(sweep.inputs)) column.push(point.inputs[name]);
  for (const [name, column] of Object.entries(sweep.measures)) column.push(point.measures[name] ?? null);
  for (const name of Object.keys(point.formats)) sweep.formats[name] ??= Array(index).fill(null);
  for (const [name, column] of Object.entries(sweep.formats)) column.push(point.formats[name] ?? null);
  sweep.texts[0].push(point.text);
  sweep.count += 1;
  sweep.front = frontOf();
  for (const { key: name, values, at } of page.controls) {
    if (point.inputs[name] !== values[at] && !page.axes.includes(name)) {
      page.axes.push(name);
      document.getElementById("front-colour").append(element("option", { value: name }, name));
    }
  }
  return index;
}

async function askPoint() {
  const number = live.asked = live.number += 1, busy = document.getElementById("busy");
  live.moved = false;
  live.pausing = setTimeout(() => { live.pausing = null; if (live.moved) askPoint(); }, EVERY);
  busy.textContent = "computing";
  const answer = await fetched("point", { inputs: live.values });
  if (number === live.number) busy.textContent = "";
  if (number < live.shown) return;
  live.shown = number;
  if (answer.superseded) return;
  if (!answer.inputs) { showProblems("problems", answer.problems); return; }
  choose(addPoint(answer));
}

async function askDesign() {
  const index = chosen.index, number = live.number += 1;
  const answer = await fetched("design", { inputs: live.values });
  if (answer.superseded || answer.problems) {
    if (answer.problems && number === live.number) showProblems("problems", answer.problems);
    return;
  }
  page.designs[index] = answer;
  if (index === chosen.index) choose(index);
}

function changed() {
  clearTimeout(live.resting);
  live.moved = true;
  if (live.pausing === null) askPoint();
}

// The sliders stand where the chosen design is, and what it lacks is asked for; not where one was moved since it
// was asked for, whose answer is to come.
function followChosen() {
  const i = chosen.index;
  showProblems("problems", live.problems[i]);
  clearTimeout(live.resting);
  if (live.moved || live.shown < live.asked) return;
  for (const control of page.controls) live.values[control.key] = sweep.inputs[control.key][i];
  showControls();
  if (!chosen.design && sweep.plan(i)) live.resting = setTimeout(askDesign, REST);
}

function formatted(value) {
  return value === null ? "not set" : value === true ? "yes" : value === false ? "no" : number(value, 6);
}

function showControls() {
  for (const { key, values, slides } of page.controls) {
    const field = document.getElementById(`c-${key}`), at = values.indexOf(live.values[key]);
    field.value = at;
    if (slides) field.setAttribute("aria-valuetext", formatted(values[at]));
    document.getElementById(`v-${key}`).textContent = slides ? formatted(values[at]) : "";
  }
}

function controlOf({ key, values, slides, about }) {
  const id = `c-${key}`;
  const field = slides ? element("input", { type: "range", id, min: 0, max: values.length - 1, step: 1 })
    : element("select", { id }, ...values.map((value, at) => element("option", { value: at }, formatted(value))));
  field.addEventListener("input", () => {
    live.values[key] = values[Number(field.value)];
    showControls();
    changed();
  });
  return element("div", { className: "control" }, element("label", { htmlFor: id, title: about },
    key.split(".").at(-1), element("span", null, key.split(".").slice(0, -1).join(" "))), field,
    element("output", { id: `v-${key}`, htmlFor: id }));
}

function startExplore() {
  live.plans = [sweep.plan(0)];
  sweep.plan = (index) => live.plans[index];
  sweep.texts = [[specOf(0)]];
  for (const { key, values, at } of page.controls) live.values[key] = values[at];
  live.seen.set(keyOf(live.values), 0);
  document.getElementById("controls").replaceChildren(...page.controls.map(controlOf));
  document.getElementById("reset").addEventListener("click", () => {
    live.moved = false;
    live.shown = live.number += 1;  // what is still asked is not shown
    choose(0);
  });
  document.getElementById("list-of").value = list.of = "all";
  followers.push(followChosen);
}
