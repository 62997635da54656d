// A deed's question opens above the page; with what is chosen it is worked out again. The
// form itself is sent as any form is. Without this script the question is a page.
"use strict";
(() => {
  const dialog = document.getElementById("deed");
  let asked = 0;
  const show = async (address, keep) => {
    const mine = ++asked;
    const response = await fetch(address, { headers: { Accept: "text/html" } }).catch(() => null);
    const part = response?.ok && new DOMParser().parseFromString(await response.text(), "text/html").querySelector("[data-part=deed]");
    if (mine !== asked) return; // more was chosen meanwhile: this answer would undo it
    if (!part) { location.href = address.replace(/[?&]part=deed/, ""); return; }
    if (keep) window.relabel.morph(dialog.firstElementChild, part);
    else dialog.replaceChildren(document.importNode(part, true));
    if (!dialog.open) dialog.showModal();
  };
  const partOf = (href) => href + (href.includes("?") ? "&" : "?") + "part=deed";
  document.addEventListener("click", (event) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey || event.button !== 0) return;
    const link = event.target.closest("a[data-deed]");
    if (link) { event.preventDefault(); show(partOf(link.getAttribute("href"))); }
    if (event.target.closest("#deed [data-closes]")) { event.preventDefault(); dialog.close(); }
    if (event.target.closest("#deed .again")) { event.preventDefault(); again(event.target.form); }
  });
  const again = (form) => {
    const chosen = new URLSearchParams(new FormData(form));
    chosen.delete("form");
    chosen.delete("once");
    chosen.set("part", "deed");
    return show(form.getAttribute("action") + "?" + chosen, true);
  };
  dialog.addEventListener("change", (event) => { if (event.target.form) again(event.target.form); });
})();
