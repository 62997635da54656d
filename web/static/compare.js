// Two trajectories side by side: the texts of a row are fetched when it comes near the screen, or
// when it is opened if both sides are equal. j and k go from row to row, n and p from difference to
// difference. Without this script each turn is a link to its page.
"use strict";
(() => {
  const rows = document.getElementById("rows");
  if (!rows) return;
  const all = [...rows.querySelectorAll("article.pair")];
  const atOnce = 10;
  let wanted = new Set(), busy = false;
  const bring = async () => {
    if (busy || wanted.size === 0) return;
    busy = true;
    const some = [...wanted].slice(0, atOnce);
    some.forEach((row) => wanted.delete(row));
    const query = new URLSearchParams({ a: rows.dataset.a, b: rows.dataset.b, part: "pairs", pairs: some.map((row) => row.dataset.pair).join(",") });
    try {
      const answer = await fetch("/compare?" + query, { headers: { Accept: "text/html" } });
      if (!answer.ok) throw new Error(String(answer.status));
      const fresh = new DOMParser().parseFromString(await answer.text(), "text/html");
      for (const row of some) {
        const texts = fresh.querySelector(`[data-pair="${row.dataset.pair}"] > .texts`);
        if (!texts) continue;
        row.append(document.importNode(texts, true));
        row.classList.remove("waits");
      }
    } catch (problem) {
      for (const row of some) failed(row, problem);
    }
    busy = false;
    bring();
  };
  const failed = (row, problem) => {
    const again = document.createElement("button");
    again.textContent = `This row could not be loaded (${problem.message}). Retry`;
    again.onclick = () => { again.remove(); wanted.add(row); bring(); };
    row.append(again);
  };
  const near = new IntersectionObserver((entries) => {
    for (const e of entries) {
      if (!e.isIntersecting) { wanted.delete(e.target); continue; }
      near.unobserve(e.target);
      wanted.add(e.target);
    }
    bring();
  }, { rootMargin: "600px 0px" });
  all.filter((row) => row.matches(".waits:not(.closed)")).forEach((row) => near.observe(row));
  const toggle = (row) => {
    const closed = row.classList.toggle("closed");
    row.querySelector(".opens").setAttribute("aria-expanded", String(!closed));
    if (!closed && row.matches(".waits")) near.observe(row);
  };

  let at = all.findIndex((row) => "#" + row.id === location.hash);
  const go = (i) => {
    if (i < 0 || i >= all.length) return;
    all[at]?.classList.remove("here");
    at = i;
    all[i].classList.add("here");
    history.replaceState(null, "", "#" + all[i].id);
    all[i].scrollIntoView({ block: "start" });
    all[i].querySelector(".number").focus({ preventScroll: true });
  };
  const differs = (row) => row.matches(".different");
  const move = {
    j: () => go(at + 1), k: () => go(at - 1), g: () => go(0), G: () => go(all.length - 1),
    n: () => go(all.findIndex((row, i) => i > at && differs(row))),
    e: () => toggle(all[Math.max(at, 0)]),
    p: () => go(all.findLastIndex((row, i) => i < at && differs(row))),
  };
  document.addEventListener("click", (event) => {
    const opener = event.target.closest("#rows .opens");
    if (opener) toggle(opener.closest("article"));
    const m = /^#r(\d+)$/.exec(event.target.closest("a")?.getAttribute("href") ?? "");
    if (m && !event.ctrlKey && !event.metaKey && !event.shiftKey) { event.preventDefault(); go(m[1] - 1); }
  });
  document.addEventListener("keydown", (event) => {
    if (window.relabel.typing(event) || !move[event.key]) return;
    event.preventDefault();
    move[event.key]();
  });
})();
