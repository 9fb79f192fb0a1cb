// The list of designs: what the keyboard and screen readers choose from.
const A_PAGE = 14;
const list = { of: "front", from: 0 };

function listed() {
  const name = page.objectives[0], cost = page.objectives[1] ?? name;
  const value = (measure, i) => sweep.measures[measure][i] ?? Infinity;
  const wanted = { front: (i) => sweep.front.has(i), kept: (i) => sweep.kept[i], all: () => true }[list.of];
  return all(wanted).sort((a, b) => value(cost, a) - value(cost, b)
    || value(name, a) - value(name, b) || a - b);
}

function listRow(index) {
  const radio = element("input", { type: "radio", name: "design", checked: index === chosen.index,
    "aria-label": `${nameOf(index)}; ${page.objectives.map((name) =>
      `${name} ${quantity(name, sweep.measures[name][index])}`).join(", ")}` });
  radio.addEventListener("change", () => choose(index));
  const cells = [radio, ...page.objectives.map((name) => quantity(name, sweep.measures[name][index])),
    ...page.axes.map((key) => number(sweep.inputs[key][index], 6)),
    sweep.code[index] || (index === page.best ? "cheapest" : sweep.kept[index] ? "kept" : "missed")];
  const row = element("tr", { className: index === chosen.index ? "chosen" : "" },
    ...cells.map((cell) => element("td", null, cell)));
  row.dataset.index = index;
  row.addEventListener("click", () => { if (index !== chosen.index) choose(index); });
  return row;
}

function drawList() {
  const place = document.getElementById("list"), rows = listed();
  list.from = Math.max(0, Math.min(list.from, Math.floor((rows.length - 1) / A_PAGE) * A_PAGE));
  const shown = rows.slice(list.from, list.from + A_PAGE), focused = place.contains(document.activeElement);
  place.replaceChildren(element("caption", null, "Designs, cheapest first"),
    element("thead", null, element("tr", null,
      ...["", ...page.objectives, ...page.axes, "limits"].map((text) =>
      element("th", { scope: "col", title: text },
        text.split(".").slice(page.axes.includes(text) ? 1 : 0).join("."))))),
    element("tbody", null, ...shown.map(listRow)));
  if (focused) place.querySelector("input:checked")?.focus();
  document.getElementById("list-at").textContent = rows.length
    ? `${number(list.from + 1)} to ${number(list.from + shown.length)} of ${number(rows.length)}` : "none";
  document.getElementById("list-back").disabled = list.from === 0;
  document.getElementById("list-on").disabled = list.from + A_PAGE >= rows.length;
}

function follow() {
  const at = listed().indexOf(chosen.index);
  if (at >= 0) list.from = Math.floor(at / A_PAGE) * A_PAGE;
  drawList();
  document.getElementById("said").textContent = `Chosen: ${nameOf(chosen.index)}`;
}

function startPoints() {
  document.getElementById("list-of").addEventListener("change", (event) => {
    Object.assign(list, { of: event.target.value, from: 0 });
    drawList();
  });
  for (const [id, by] of [["list-back", -A_PAGE], ["list-on", A_PAGE]]) {
    document.getElementById(id).addEventListener("click", () => { list.from += by; drawList(); });
  }
  followers.push(follow);
}
