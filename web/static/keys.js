// j and k go from turn to turn, n and p from disagreement to disagreement, g and G to
// the ends. The address follows. Without this script every turn is still a link.
"use strict";
(() => {
  const turns = [...document.querySelectorAll("article.turn")];
  if (turns.length === 0) return;
  const follow = (rel) => document.querySelector(`a[rel=${rel}]`)?.click();
  const current = () => {
    const top = 60; // a little below where go() brings a turn
    let at = -1;
    turns.forEach((turn, i) => { if (turn.getBoundingClientRect().top <= top) at = i; });
    return at;
  };
  const go = (turn) => {
    history.replaceState(null, "", "#" + turn.id);
    turn.scrollIntoView({ block: "start" });
    turn.querySelector("h3 a").focus({ preventScroll: true });
  };
  const disagrees = (turn) => turn.matches(".different, .missing");
  const move = {
    j: () => { const t = turns[current() + 1]; if (t) go(t); else follow("next"); },
    k: () => { const t = turns[current() - 1]; if (t) go(t); else follow("prev"); },
    n: () => { const t = turns.slice(current() + 1).find(disagrees); if (t) go(t); },
    p: () => { const t = turns.slice(0, Math.max(0, current())).findLast(disagrees); if (t) go(t); },
    g: () => go(turns[0]),
    G: () => go(turns[turns.length - 1]),
  };
  document.addEventListener("keydown", (event) => {
    if (window.relabel.typing(event)) return;
    const step = move[event.key];
    if (step) { event.preventDefault(); step(); }
  });
})();
