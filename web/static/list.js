// Keys in a list of trajectories. The filter omits empty fields from the address.
"use strict";
(() => {
  const links = () => [...document.querySelectorAll(".rows a.row")];
  const step = (by) => {
    const all = links();
    if (!all.length) return;
    const row = document.activeElement?.closest(".rows tbody tr, .rows li");
    const now = row ? all.findIndex((link) => row.contains(link)) : -1;
    const next = all[Math.min(Math.max(now + by, 0), all.length - 1)];
    next.focus({ preventScroll: true });
    next.closest("tr, li").scrollIntoView({ block: "nearest" });
  };
  const turn = (rel) => document.querySelector(`.pages a[rel=${rel}]`)?.click();
  const keys = {
    j: () => step(1), k: () => step(-1), n: () => turn("next"), p: () => turn("prev"),
    "/": () => document.querySelector(".filter input[type=search]")?.select(),
  };
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && event.target.closest?.(".filter")) { event.target.blur(); return; }
    if (!Object.hasOwn(keys, event.key) || window.relabel.typing(event)) return;
    event.preventDefault();
    keys[event.key]();
  });
  for (const form of document.querySelectorAll("form.filter")) {
    form.addEventListener("submit", () => { for (const field of form.elements) if (field.name && !field.value) field.disabled = true; });
    window.addEventListener("pageshow", () => { for (const field of form.elements) field.disabled = false; });
  }
})();
