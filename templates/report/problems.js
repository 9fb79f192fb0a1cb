// The problems with code and remedy, as on the command line.
function problemList(problems) {
  return problems.map((problem) => element("div", { className: "problem" },
    element("p", { className: "bad" }, `${problem.code}: ${problem.message}`),
    element("dl", null, ...[["where", problem.where], ["found", problem.value], ["allowed", problem.allowed],
      ["do", problem.remedy]].filter(([, text]) => text).flatMap(([name, text]) =>
      [element("dt", null, name), element("dd", null, text)]))));
}

function showProblems(id, problems) {
  document.getElementById(id).replaceChildren(...problemList(problems));
}
