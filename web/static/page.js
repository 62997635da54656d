// Common to all pages: the help dialog, and buttons that open a dialog or copy a text.
"use strict";
(() => {
  const open = (id) => { const d = document.getElementById(id); if (d && !d.open) d.showModal(); };
  document.addEventListener("click", (event) => {
    const opener = event.target.closest("[data-opens]");
    if (opener) open(opener.dataset.opens);
    const copier = event.target.closest("[data-copies]");
    if (copier) copy(copier);
  });
  const copy = async (button) => {
    const text = document.getElementById(button.dataset.copies).textContent;
    try {
      await navigator.clipboard.writeText(text);
    } catch { // no clipboard without TLS, except on this machine
      const area = document.createElement("textarea");
      area.value = text;
      button.after(area);
      area.select();
      document.execCommand("copy");
      area.remove();
      button.focus();
    }
    const before = button.textContent;
    button.textContent = "Copied";
    setTimeout(() => { button.textContent = before; }, 1500);
  };
  // typing reports whether a key is meant for what has the focus.
  window.relabel = {
    typing: (event) => event.ctrlKey || event.metaKey || event.altKey || event.target.matches("input, select, textarea, [contenteditable]") || document.querySelector("dialog[open]") !== null,
  };
  document.addEventListener("keydown", (event) => {
    if (event.key === "?" && !window.relabel.typing(event)) { event.preventDefault(); open("help"); }
  });
})();
