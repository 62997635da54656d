// A row of an export: j and k go to the adjacent rows. The token below the pointer, or selected
// with the arrow keys in trained text, is described. Without this script rows are links, and
// tokens have titles.
"use strict";
(() => {
  const said = document.getElementById("token");
  let at = null;
  const mark = (token) => {
    at?.classList.remove("at");
    at = token;
    at?.classList.add("at");
    if (said) said.textContent = at ? at.title : "";
  };
  document.addEventListener("pointerover", (event) => {
    const token = event.target.closest?.(".ids i");
    if (token || at) mark(token);
  });
  document.addEventListener("focusin", (event) => mark(event.target.closest?.(".ids")?.firstElementChild ?? null));
  const step = { ArrowRight: "nextElementSibling", ArrowLeft: "previousElementSibling" };
  document.addEventListener("keydown", (event) => {
    if (window.relabel.typing(event)) return;
    const ids = event.target.closest?.(".ids");
    if (ids && step[event.key]) {
      event.preventDefault();
      const next = (ids.contains(at) ? at : ids.firstElementChild)?.[step[event.key]];
      if (next) { mark(next); next.scrollIntoView({ block: "nearest" }); }
      return;
    }
    const rel = { j: "next", k: "prev" }[event.key];
    if (rel) document.querySelector(`a[rel=${rel}]`)?.click();
  });
})();
