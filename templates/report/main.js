// Everything in its order: what is above is drawn first, what is below when it comes into view.
function start() {
  startTheme();
  if (page.live) startExplore();
  if (sweep) {
    startFront();
    startPoints();
    startBits();
  }
  followers.push(drawChosen);
  startWords();
  startCurves();
  startProgram();
  choose(sweep ? page.best ?? page.front[0] ?? 0 : 0);
  addEventListener("DOMContentLoaded", () => requestAnimationFrame(() => setTimeout(readPlotly)));
}
