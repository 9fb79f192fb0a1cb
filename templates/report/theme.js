// Dark or light theme, from the system or the switch on the page; charts use the colours of the style.
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
