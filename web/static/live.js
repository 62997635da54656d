// Live parts of a page: the server reports events, and the affected parts are fetched again and
// merged node by node, so that focus, scroll position and open elements are kept. A hidden tab has
// no connection.
"use strict";
(() => {
  // morph makes a node equal to another one, keeping nodes where possible. Elements with data-keep
  // and the open state of details are not changed.
  const keyOf = (node) => node.nodeType === 1 ? node.id || node.dataset.key || "" : "";
  const morph = (now, next) => {
    if (now.isEqualNode(next) || (now.nodeType === 1 && now.hasAttribute("data-keep"))) return;
    if (now.nodeType !== 1) { now.nodeValue = next.nodeValue; return; }
    for (const { name } of [...now.attributes]) if (!next.hasAttribute(name) && name !== "open") now.removeAttribute(name);
    for (const { name, value } of next.attributes) if (name !== "open" && now.getAttribute(name) !== value) now.setAttribute(name, value);
    if (now.matches("input, textarea") && now !== document.activeElement) now.value = next.value;
    const keyed = new Map();
    for (const child of now.childNodes) if (keyOf(child)) keyed.set(keyOf(child), child);
    let at = now.firstChild;
    for (const wanted of [...next.childNodes]) {
      const key = keyOf(wanted);
      let found = key ? keyed.get(key) : at;
      while (!key && found && keyOf(found)) found = found.nextSibling;
      if (found && found.nodeName === wanted.nodeName) {
        keyed.delete(key);
        if (found === at) at = at.nextSibling;
        else now.insertBefore(found, at);
        morph(found, wanted);
      } else {
        now.insertBefore(document.importNode(wanted, true), at);
      }
    }
    while (at) { const gone = at; at = at.nextSibling; gone.remove(); }
  };
  window.relabel.morph = morph;

  const address = document.body.dataset.follow;
  if (!address) return;
  const state = document.getElementById("live-state");
  const gap = 1000, pollGap = 5000, silence = 20000;
  let source = null, last = "", over = false, gone = false, waiting = new Set(), timer = 0, busy = false, poll = 0, watch = 0;

  const parts = () => [...document.querySelectorAll("[data-part][data-on]")];
  const say = (text) => { if (state.textContent !== text) state.textContent = text; };
  const heard = (subject) => {
    for (const part of parts()) if (!subject || part.dataset.on.split(" ").includes(subject)) waiting.add(part.dataset.part);
    if (waiting.size && !timer && !busy) timer = setTimeout(bring, gap);
  };
  const bring = async () => {
    timer = 0;
    busy = true;
    let pause = gap;
    const from = performance.now(), names = [...waiting], url = new URL(location.href);
    waiting = new Set();
    url.hash = "";
    url.searchParams.delete("part");
    names.forEach((name) => url.searchParams.append("part", name));
    try {
      const response = await fetch(url, { headers: { Accept: "text/html" } });
      if (response.redirected || response.status === 401) { stop("signed out"); return; }
      if (response.status === 404) { stop("this no longer exists"); return; }
      if (!response.ok) throw new Error(response.statusText);
      const fresh = new DOMParser().parseFromString(await response.text(), "text/html");
      for (const name of names) {
        const now = document.querySelector(`[data-part="${name}"]`), next = fresh.querySelector(`[data-part="${name}"]`);
        if (!now || !next) continue;
        for (const { name: attribute, value } of now.attributes) next.setAttribute(attribute, value);
        morph(now, next);
        now.dispatchEvent(new CustomEvent("renewed", { bubbles: true }));
      }
    } catch {
      names.forEach((name) => waiting.add(name));
      pause = pollGap;
    } finally {
      busy = false;
      const took = performance.now() - from; // poll a slow server less often
      if (waiting.size && !gone && !document.hidden) timer = setTimeout(bring, Math.max(pause, 3 * took));
    }
  };

  const close = () => { source?.close(); source = null; clearTimeout(watch); clearInterval(poll); poll = 0; };
  const stop = (text) => { over = gone = true; close(); say(text); };
  const startPolling = () => { if (over || document.hidden) return; clearInterval(poll); poll = setInterval(() => heard(""), pollGap); say("live, every few seconds"); };
  const open = () => {
    if (source || over || document.hidden) return;
    source = new EventSource(address + (last ? (address.includes("?") ? "&" : "?") + "after=" + last : ""));
    const note = (event) => { if (event.lastEventId) last = event.lastEventId; clearTimeout(watch); };
    // Fetch all parts once: events may have been missed since the page was rendered.
    source.onopen = () => { clearInterval(poll); poll = 0; say("live"); heard(""); };
    source.onerror = () => { if (source?.readyState === EventSource.CLOSED) { source = null; startPolling(); setTimeout(open, 60000); } else say("not live: the server does not answer"); };
    for (const subject of ["run", "iteration", "trajectory", "export", "progress"]) source.addEventListener(subject, (event) => { note(event); heard(subject); });
    source.addEventListener("reset", (event) => { note(event); heard(""); });
    source.addEventListener("end", (event) => { note(event); heard(""); over = true; close(); say(""); });
    source.addEventListener("begin", note);
    // A proxy may buffer events: then poll.
    if (!last) watch = setTimeout(startPolling, silence);
  };
  document.addEventListener("visibilitychange", () => {
    if (document.hidden) { close(); return; }
    open();
    if (!over || waiting.size) heard("");
  });
  window.addEventListener("pagehide", close);
  window.addEventListener("pageshow", open);
})();
