// f opens the form of a new review. The author is remembered in this browser.
"use strict";
(() => {
  const name = "relabel-author";
  document.addEventListener("keydown", (event) => {
    if (event.key !== "f" || window.relabel.typing(event)) return;
    const link = document.querySelector("a[data-operation][href*='/reviews/new']");
    if (!link) return;
    event.preventDefault();
    link.click();
  });
  document.addEventListener("click", (event) => { // about the current turn
    const link = event.target.closest("a[data-operation][href*='/reviews/new']");
    const turn = /^#t(\d+)$/.exec(location.hash);
    if (link) link.setAttribute("href", link.pathname + (turn ? "?t=" + turn[1] : ""));
  }, true);
  const remember = (event) => {
    if (event.target.matches?.("input[name=author]")) localStorage.setItem(name, event.target.value);
  };
  document.addEventListener("change", remember, true);
  const fill = () => {
    const field = document.querySelector("form.operation input[name=author]:not([data-met])");
    if (!field) return;
    field.dataset.met = "";
    const known = localStorage.getItem(name);
    if (known && !field.value) {
      field.value = known;
      field.dispatchEvent(new Event("change", { bubbles: true }));
    }
  };
  fill();
  const dialog = document.getElementById("operation");
  if (dialog) new MutationObserver(fill).observe(dialog, { childList: true, subtree: true });
})();
