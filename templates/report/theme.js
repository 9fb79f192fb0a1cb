// Dark and light: as the system says, or as chosen on the page; pictures take the colours of the style.
const redrawn = [];

function colour(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
}

function startTheme() {
  const choice = document.getElementById("theme");
  const apply = () => {
    if (choice.value) document.documentElement.dataset.theme = choice.value;
    else delete document.documentElement.dataset.theme;
    redrawn.forEach((redraw) => redraw());
  };
  choice.addEventListener("change", apply);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", apply);
}
