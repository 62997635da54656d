// In a grid, arrows and h j k l go from cell to cell; the tab key leaves it. Without this script
// each cell is a normal link.
"use strict";
(() => {
  let rows = [], links = [];
  const hold = (link) => {
    links.forEach((l) => { l.tabIndex = -1; });
    if (link) link.tabIndex = 0;
  };
  const read = () => { // also after the table was updated
    rows = [...document.querySelectorAll(".grid tbody tr")].map((row) => [...row.cells].map((cell) => cell.querySelector("a")));
    links = rows.flat().filter(Boolean);
    hold(links.find((l) => l === document.activeElement) ?? links.find((l) => l.matches(".outcome")) ?? links[0]);
  };
  read();
  document.addEventListener("renewed", read);
  document.addEventListener("focusin", (event) => { if (links.includes(event.target)) hold(event.target); });
  const at = () => {
    for (let y = 0; y < rows.length; y++) {
      const x = rows[y].indexOf(document.activeElement);
      if (x >= 0) return [x, y];
    }
    return null;
  };
  const steps = { ArrowLeft: [-1, 0], h: [-1, 0], ArrowRight: [1, 0], l: [1, 0], ArrowUp: [0, -1], k: [0, -1], ArrowDown: [0, 1], j: [0, 1] };
  document.addEventListener("keydown", (event) => {
    const step = steps[event.key];
    if (!step || window.relabel.typing(event)) return;
    const from = at();
    if (!from) {
      if (event.key.length > 1) return; // arrows scroll the page until a cell has the focus
      event.preventDefault();
      links.find((l) => l.tabIndex === 0)?.focus();
      return;
    }
    event.preventDefault();
    let [x, y] = from;
    do { x += step[0]; y += step[1]; } while (rows[y]?.[x] === null);
    rows[y]?.[x]?.focus();
  });
})();
