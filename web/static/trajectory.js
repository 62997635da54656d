// The page of a trajectory. It contains the heads of all turns; the texts of a turn are fetched when
// it comes near the screen. The address follows the current turn. Without this script each turn has
// a separate page.
"use strict";
(() => {
  const strip = document.getElementById("strip");
  if (!strip) {
    document.addEventListener("keydown", (event) => {
      const rel = { j: "next", k: "prev" }[event.key];
      if (rel && !window.relabel.typing(event)) document.querySelector(`a[rel=${rel}]`)?.click();
    });
    return;
  }
  const { base, query } = strip.dataset;
  const list = document.getElementById("turns");
  const turn = (t) => document.getElementById("t" + t);
  const number = (element) => Number(element.id.slice(1));
  const count = () => list.querySelectorAll("article.turn").length;
  const address = (path, parameters) => base + path + "?" + new URLSearchParams([...new URLSearchParams(query), ...parameters]);

  // Texts of adjacent turns are fetched together, two requests at a time, the nearest first.
  const atOnce = 8;
  const wanted = new Set(), coming = new Map();
  const distance = (t) => { const r = turn(t).getBoundingClientRect(); return Math.abs(r.top - 200); };
  const pump = () => {
    while (coming.size < 2 * atOnce && wanted.size > 0) {
      const first = [...wanted].reduce((a, b) => distance(a) <= distance(b) ? a : b);
      let from = first, to = first;
      while (to - from + 1 < atOnce && wanted.has(to + 1)) to++;
      while (to - from + 1 < atOnce && wanted.has(from - 1)) from--;
      const got = load(from, to);
      for (let t = from; t <= to; t++) { wanted.delete(t); coming.set(t, got); }
      got.finally(() => { for (let t = from; t <= to; t++) coming.delete(t); pump(); });
    }
  };
  let asked = 0;
  const load = async (from, to, whole) => {
    const mine = ++asked;
    const parameters = [["part", "cards"], ["from", from], ["to", to]];
    if (whole) parameters.push(["whole", "1"]);
    try {
      const answer = await fetch(address("/turns", parameters), { headers: { Accept: "text/html" } });
      if (!answer.ok) throw new Error(String(answer.status));
      const template = document.createElement("template");
      template.innerHTML = await answer.text();
      for (const card of template.content.querySelectorAll("article.turn")) put(card, whole, mine);
    } catch (problem) {
      for (let t = from; t <= to; t++) failed(turn(t), problem);
    }
  };
  const put = (card, whole, request) => {
    const old = turn(number(card));
    if (!old || old.request > request) return; // a later request was answered first
    card.request = request;
    near.unobserve(old);
    card.classList.toggle("closed", old.classList.contains("closed"));
    card.classList.toggle("now", old.classList.contains("now"));
    if (whole) card.classList.add("opened");
    const had = old.contains(document.activeElement);
    old.replaceWith(card);
    if (had) card.querySelector(".number").focus({ preventScroll: true });
    colour(card);
  };
  const failed = (card, problem) => {
    if (!card?.classList.contains("waits") || card.querySelector(".again")) return;
    const again = document.createElement("button");
    again.className = "again";
    again.textContent = `This turn could not be loaded (${problem.message}). Retry`;
    again.onclick = () => { again.remove(); wanted.add(number(card)); pump(); };
    card.append(again);
  };
  const near = new IntersectionObserver((entries) => {
    for (const e of entries) {
      const t = number(e.target);
      if (!e.isIntersecting) wanted.delete(t);
      else if (e.target.isConnected && !coming.has(t) && !e.target.classList.contains("closed")) wanted.add(t);
    }
    pump();
  }, { rootMargin: "1200px 0px" });
  const watch = () => list.querySelectorAll("article.waits").forEach((card) => near.observe(card));
  const reach = (t) => { // resolves when the text of the turn is loaded
    const card = turn(t);
    if (!card?.classList.contains("waits")) return Promise.resolve();
    if (!coming.has(t)) { wanted.add(t); pump(); }
    return coming.get(t) ?? Promise.resolve();
  };

  // Code is coloured when it is loaded, unless it is long.
  const loaded = new Promise((resolve) => addEventListener("load", () => setTimeout(resolve))); // text first, then colour
  let colouring;
  const colour = (card) => {
    const codes = [...card.querySelectorAll("pre[data-lang]")].filter((pre) => pre.textContent.length < 20000 && !pre.querySelector(".gap, .ctl"));
    if (codes.length === 0) return;
    colouring ??= loaded.then(() => new Promise((resolve) => {
      const script = document.createElement("script");
      script.src = strip.dataset.highlight;
      script.onload = resolve;
      document.head.append(script);
    }));
    colouring.then(() => {
      for (const pre of codes) {
        if (window.hljs?.getLanguage(pre.dataset.lang)) pre.innerHTML = window.hljs.highlight(pre.textContent, { language: pre.dataset.lang, ignoreIllegals: true }).value;
        pre.removeAttribute("data-lang");
      }
    });
  };

  // The current turn.
  let now = 0, held = 0;
  const edge = () => strip.getBoundingClientRect().bottom + 12;
  const current = () => {
    let low = 1, high = count(), at = 0;
    const line = edge();
    while (low <= high) { // turns are in order
      const middle = (low + high) >> 1;
      if (turn(middle).getBoundingClientRect().top <= line) { at = middle; low = middle + 1; } else high = middle - 1;
    }
    return at;
  };
  const mark = (t) => {
    if (t === now) return;
    turn(now)?.classList.remove("now");
    document.querySelector(".ribbon a[aria-current]")?.removeAttribute("aria-current");
    now = t;
    say(t > 0 ? `turn ${t} of ${count()}` : "");
    if (t === 0) return;
    turn(t).classList.add("now");
    document.querySelector(`.ribbon a[href="#t${t}"]`)?.setAttribute("aria-current", "true");
  };
  let waiting;
  const follow = () => {
    strip.classList.toggle("stuck", strip.getBoundingClientRect().top <= 0);
    const t = held || current();
    mark(t);
    clearTimeout(waiting);
    waiting = setTimeout(() => {
      const hash = now > 0 ? "#t" + now : "";
      if (/^#t\d+$|^$/.test(location.hash) && location.hash !== hash) history.replaceState(null, "", location.pathname + location.search + hash);
    }, 150);
  };
  addEventListener("scroll", () => requestAnimationFrame(follow), { passive: true });

  // A jump moves the head of a turn below the strip, and keeps it there while texts above it load,
  // until the reader scrolls.
  for (const kind of ["wheel", "touchmove", "pointerdown"]) addEventListener(kind, () => { held = 0; }, { passive: true });
  new ResizeObserver(() => { if (held) align(held); }).observe(list);
  const align = (t) => { turn(t).scrollIntoView({ block: "start", behavior: "instant" }); };
  const go = async (t, focus = true) => {
    const card = turn(t);
    if (!card) { say(`no turn ${t}`); return; }
    held = t;
    align(t);
    mark(t);
    history.replaceState(null, "", location.pathname + location.search + "#t" + t);
    if (focus) card.querySelector(".number").focus({ preventScroll: true });
    await reach(t);
    if (held === t) align(t);
  };
  const differs = (t) => turn(t).matches(".different, .missing");
  const seek = (from, step, fits) => { for (let t = from; t >= 1 && t <= count(); t += step) if (fits(t)) return t; return 0; };
  const goDiffering = (step) => {
    const t = seek(at() + step, step, differs);
    if (t) go(t); else say(`no differing or missing label ${step > 0 ? "below" : "above"}`);
  };
  // say shows a message in place of the number of the turn, until the turn changes.
  const say = (text) => { document.getElementById("at").textContent = text; };
  const at = () => held || now || current();
  const toggle = () => {
    const card = turn(at() || 1);
    if (card && !card.classList.toggle("closed")) opened(card);
  };
  // opened loads the texts of a turn that was closed.
  const opened = (card) => { near.unobserve(card); if (card.classList.contains("waits")) near.observe(card); };
  // Closes all turns to one line each, or opens all if none is open.
  const toggleAll = () => {
    const cards = [...list.querySelectorAll("article.turn")];
    const close = cards.some((card) => !card.classList.contains("closed"));
    cards.forEach((card) => { card.classList.toggle("closed", close); if (!close) opened(card); });
    if (at()) align(held = at());
  };
  const keys = {
    j: () => go(Math.min(at() + 1, count())), k: () => go(Math.max(at() - 1, 1)),
    n: () => goDiffering(1), p: () => goDiffering(-1),
    g: () => go(1), G: () => go(count()),
    t: () => document.getElementById("goto-t").select(), ":": () => document.getElementById("goto-t").select(),
    "/": () => document.getElementById("find-q").select(), e: toggle, E: toggleAll,
  };
  const scrolls = new Set(["ArrowUp", "ArrowDown", "PageUp", "PageDown", "Home", "End", " "]);
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && !document.querySelector("dialog[open]")) { close(); document.activeElement?.blur?.(); return; }
    if (window.relabel.typing(event) || !Object.hasOwn(keys, event.key)) {
      if (scrolls.has(event.key) && !event.target.matches("input")) held = 0;
      return;
    }
    event.preventDefault();
    keys[event.key]();
  });
  document.getElementById("goto").addEventListener("submit", (event) => {
    event.preventDefault();
    const field = document.getElementById("goto-t");
    const t = Number(field.value);
    field.setCustomValidity(turn(t) ? "" : `There are turns 1 to ${count()}.`);
    if (field.reportValidity()) { field.blur(); go(t); }
  });
  document.getElementById("goto-t").addEventListener("input", (event) => event.target.setCustomValidity(""));
  addEventListener("hashchange", (event) => { const m = /#t(\d+)$/.exec(event.newURL); if (m) go(Number(m[1]), false); });

  // Clicks on a turn, its address, or the rest of a text.
  document.addEventListener("click", (event) => {
    const link = event.target.closest("a");
    if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
    const m = /^#t(\d+)$/.exec(link.getAttribute("href"));
    if (m) {
      event.preventDefault();
      go(Number(m[1]));
      if (link.classList.contains("number")) copy(link);
    } else if (link.matches(".gap, .cut a") && link.closest("article.turn")) {
      event.preventDefault();
      const t = number(link.closest("article.turn"));
      load(t, t, true).then(() => turn(t).querySelector(".number").focus({ preventScroll: true }));
    }
  });
  const copy = async (link) => {
    try { await navigator.clipboard.writeText(link.href); } catch { return; } // no clipboard
    say(`address of turn ${now} copied`);
  };

  // Find: the server searches all texts, also those that are not loaded or are cut.
  const found = document.getElementById("found");
  const close = () => { found.hidden = true; found.replaceChildren(); paint(""); };
  let looking = 0;
  document.getElementById("find").addEventListener("submit", async (event) => {
    event.preventDefault();
    const words = document.getElementById("find-q").value;
    if (!words.trim()) { close(); return; }
    const ask = ++looking;
    found.hidden = false;
    found.textContent = "Searching …";
    const answer = await fetch(address("/find", [["part", "found"], ["q", words]])).catch(() => null);
    if (ask !== looking) return;
    if (!answer?.ok) { found.textContent = "The search failed. Try again."; return; }
    found.innerHTML = await answer.text();
    paint(words);
    found.querySelector("a")?.focus();
  });
  found.addEventListener("keydown", (event) => {
    const step = { ArrowDown: 1, j: 1, ArrowUp: -1, k: -1 }[event.key];
    if (!step) return;
    event.preventDefault();
    event.stopPropagation();
    const all = [...found.querySelectorAll("a")];
    all[Math.max(0, Math.min(all.length - 1, all.indexOf(document.activeElement) + step))]?.focus();
  });
  found.addEventListener("click", async (event) => {
    const link = event.target.closest("a[data-turn]");
    if (!link) return;
    event.preventDefault();
    event.stopPropagation();
    await show(Number(link.dataset.turn), link.dataset.part, Number(link.dataset.nth), document.getElementById("find-q").value);
  });
  // show scrolls to the nth match in a part of a turn, and loads a cut text.
  const show = async (t, part, nth, words) => {
    await go(t, false);
    if (!turn(t).classList.contains("opened") && turn(t).querySelector(".gap, .cut")) await load(t, t, true);
    turn(t).classList.remove("closed");
    turn(t).querySelectorAll("details").forEach((d) => { d.open = true; });
    const place = ({ action: ".side:not(.label)", label: ".side.label", other: ".other" }[part] ?? ".observation") + " :is(pre, .callname, dd > code)";
    const ranges = [...turn(t).querySelectorAll(place)].flatMap((e) => matches(e, words));
    const range = ranges[Math.min(nth, ranges.length - 1)];
    paint(words);
    if (!range) return;
    held = 0;
    globalThis.CSS?.highlights?.set("found-now", new Highlight(range));
    const box = range.startContainer.parentElement.closest("pre");
    if (box) box.scrollTop += range.getBoundingClientRect().top - box.getBoundingClientRect().top - box.clientHeight / 2;
    const y = range.getBoundingClientRect().top;
    if (y < edge() + 60 || y > innerHeight - 80) scrollBy({ top: y - innerHeight / 2, behavior: "instant" });
  };
  // matches are the ranges in an element with this text, ignoring case.
  const matches = (element, words) => {
    const nodes = [], ranges = [];
    let text = "";
    const walk = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
    for (let node; (node = walk.nextNode());) { nodes.push([text.length, node]); text += node.data; }
    const low = text.toLowerCase(), sought = words.toLowerCase();
    if (low.length !== text.length || !sought) return ranges; // positions would differ
    const place = (i) => { let k = nodes.findLastIndex(([from]) => from <= i); return [nodes[k][1], i - nodes[k][0]]; };
    for (let i = low.indexOf(sought); i >= 0 && ranges.length < 2000; i = low.indexOf(sought, i + sought.length)) {
      const range = document.createRange();
      range.setStart(...place(i));
      const [node, offset] = place(i + sought.length - 1);
      range.setEnd(node, offset + 1);
      ranges.push(range);
    }
    return ranges;
  };
  const paint = (words) => {
    const marks = globalThis.CSS?.highlights;
    if (!marks) return;
    marks.delete("found-now");
    if (!words) { marks.delete("found"); return; }
    const drawn = [...list.querySelectorAll("article.turn:not(.waits)")].filter((card) => { const r = card.getBoundingClientRect(); return r.bottom > -3000 && r.top < innerHeight + 3000; });
    marks.set("found", new Highlight(...drawn.flatMap((card) => matches(card, words))));
  };

  // Live: the ribbon is fetched again, and cards follow its changes.
  const standings = ["equal", "different", "missing", "pending", "unselected"];
  const renew = () => {
    const before = now;
    const { began } = document.getElementById("began").dataset;
    if (began !== strip.dataset.began && count() > 0) { location.reload(); return; } // another attempt started over: these turns are outdated
    strip.dataset.began = began;
    for (const cell of document.querySelectorAll(".ribbon a")) {
      const t = Number(cell.hash.slice(2)), card = turn(t);
      if (!card) add(t, cell);
      else if (standings.some((s) => cell.classList.contains(s) !== card.classList.contains(s))) load(t, t, card.classList.contains("opened"));
    }
    for (const of of list.querySelectorAll(".of")) of.textContent = "of " + count();
    const said = document.getElementById("at").textContent;
    now = 0;
    if (before) mark(before); else follow();
    if (said && !said.startsWith("turn ")) say(said); // a message stays until the turn changes
  };
  const add = (t, cell) => {
    list.querySelector(":scope > .empty")?.remove();
    const card = document.createElement("article"), head = document.createElement("header"), link = document.createElement("a");
    card.id = "t" + t;
    card.className = `turn waits h1 ${cell.className}`;
    link.className = "number";
    link.href = "#t" + t;
    link.textContent = t;
    head.append(link);
    card.append(head);
    list.append(card);
    document.getElementById("goto-t").placeholder = "1–" + count();
    near.observe(card);
  };
  document.addEventListener("renewed", (event) => { if (event.target.dataset.part === "ribbon") renew(); });

  list.querySelectorAll("article.turn:not(.waits)").forEach(colour);
  watch();
  const m = /^#t(\d+)$/.exec(location.hash);
  if (m) go(Number(m[1]), false); else follow();
})();
