// A text search continues after the page until it has found some more trajectories, has searched
// all, or is stopped. Without this script each part is a separate page.
"use strict";
(() => {
  const enough = 20; // trajectories found in one go
  const area = document.getElementById("searched");
  let going = null;
  const next = () => area.querySelector(".pages a[rel=next]");
  const rows = () => area.querySelectorAll(".found").length;
  const say = (text) => {
    let note = document.getElementById("search-note");
    if (!note) {
      note = document.createElement("p");
      note.id = "search-note";
      note.setAttribute("role", "alert");
      area.querySelector(".pages").before(note);
    }
    note.textContent = text;
  };
  // put appends the results of the next part.
  const put = (fresh) => {
    area.querySelector(".founds").append(...fresh.querySelectorAll(".found"));
    fresh.querySelector(".here")?.remove();
    area.querySelector(".total").replaceChildren(...fresh.querySelector(".total").childNodes);
    const link = fresh.querySelector(".pages a[rel=next]");
    if (link) next().href = link.href; else next().remove();
    document.getElementById("search-note")?.remove();
  };
  const resume = async () => {
    const mine = going = new AbortController();
    const begun = rows();
    show();
    try {
      while (next() && rows() - begun < enough) {
        const url = new URL(next().href);
        url.searchParams.set("part", "found");
        const answer = await fetch(url, { headers: { Accept: "text/html" }, signal: mine.signal });
        if (answer.status === 429) throw new Error("Too many concurrent searches. Continue in a few seconds.");
        if (!answer.ok || answer.redirected) throw new Error("The search failed (" + answer.status + ").");
        const fresh = new DOMParser().parseFromString(await answer.text(), "text/html");
        if (going !== mine) return;
        put(fresh);
      }
    } catch (problem) {
      if (problem.name !== "AbortError") say(problem.message);
    }
    if (going === mine) { going = null; show(); }
  };
  const stop = () => { going?.abort(); going = null; show(); };
  // show shows the Stop button while the search runs, otherwise the link.
  const show = () => {
    let button = document.getElementById("search-stop");
    if (going && !button) {
      button = document.createElement("button");
      button.id = "search-stop";
      button.type = "button";
      button.textContent = "Stop";
      button.onclick = stop;
      area.querySelector(".pages").prepend(button);
    }
    if (next()) next().hidden = Boolean(going);
    if (!going && button) {
      if (document.activeElement === button) next()?.focus();
      button.remove();
    }
    area.setAttribute("aria-busy", String(Boolean(going)));
  };
  area.addEventListener("click", (event) => {
    if (!event.target.closest(".pages a[rel=next]") || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    if (!going) resume();
  });
  document.addEventListener("keydown", (event) => { if (event.key === "Escape" && going && !document.querySelector("dialog[open]")) stop(); });
  addEventListener("pagehide", stop);
  if (next() && rows() < enough) resume();
})();
