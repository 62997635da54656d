// The page of an operation opens in a dialog and is computed again after each choice. The form is
// submitted normally. Without this script the operation is a page.
"use strict";
(() => {
  const dialog = document.getElementById("operation");
  let asked = 0;
  const show = async (address, keep) => {
    const mine = ++asked;
    const text = await fetch(address, { headers: { Accept: "text/html" } }).then((response) => response.text()).catch(() => null);
    if (mine !== asked) return; // superseded by a later choice
    if (keep && !dialog.open) return; // closed meanwhile; its close event may be pending
    if (text === null) { unheard(); return; }
    const part = new DOMParser().parseFromString(text, "text/html").querySelector("[data-part=operation]");
    if (!part) { location.href = address.replace(/[?&]part=operation/, ""); return; }
    if (keep) window.relabel.morph(dialog.firstElementChild, part);
    else dialog.replaceChildren(document.importNode(part, true));
    if (!dialog.open) dialog.showModal();
  };
  // unheard shows that the server does not answer.
  const unheard = () => {
    const said = document.createElement("p"), leave = document.createElement("p");
    said.className = "box problem";
    said.setAttribute("role", "alert");
    said.textContent = "The server does not answer. Try again later.";
    dialog.querySelector("[role=alert]")?.remove();
    if (dialog.open) { dialog.querySelector("h1")?.after(said); return; }
    said.id = "operation-title";
    leave.innerHTML = "<button type=button data-closes>Close</button>";
    dialog.replaceChildren(said, leave);
    dialog.showModal();
  };
  const partOf = (href) => href + (href.includes("?") ? "&" : "?") + "part=operation";
  document.addEventListener("click", (event) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey || event.button !== 0) return;
    const link = event.target.closest("a[data-operation]");
    if (link) { event.preventDefault(); show(partOf(link.getAttribute("href"))); }
    if (event.target.closest("#operation [data-closes]")) { event.preventDefault(); dialog.close(); }
    if (event.target.closest("#operation .again")) { event.preventDefault(); again(event.target.form); }
  });
  const again = (form) => {
    const chosen = new URLSearchParams(new FormData(form));
    chosen.delete("form");
    chosen.delete("once");
    chosen.set("part", "operation");
    return show(form.getAttribute("action") + "?" + chosen, true);
  };
  // A form is submitted once: the response to a second click would replace that to the first.
  let sent = new WeakSet();
  document.addEventListener("submit", (event) => {
    if (!event.target.matches("form.operation") || event.submitter?.formMethod === "get") return;
    if (sent.has(event.target)) event.preventDefault();
    sent.add(event.target);
  });
  window.addEventListener("pageshow", () => { sent = new WeakSet(); });
  dialog.addEventListener("close", () => { asked++; }); // a pending answer would open it again
  dialog.addEventListener("change", (event) => { if (event.target.form) again(event.target.form); });
})();
