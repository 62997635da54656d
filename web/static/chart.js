// Draws the charts of a page from their data, in the colours of the style sheet, and redraws them
// when colours, data or width change.
"use strict";
(() => {
  const shapes = { teacher: "■", student: "●", label: "◆", agree: "✓", differ: "▲", failed: "✗", infra: "⚠", passed: "✓", limit: "◷", context: "▬", ink: "○", dim: "□" };
  const dashes = { label: [2, 3], differ: [7, 4], infra: [2, 4], dim: [4, 4] };
  const drawn = new Map(); // figure → { plot, text }
  const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue("--" + name).trim();
  const faint = (hex) => hex.length === 4 ? hex + "3" : hex + "33";

  const short = (v) => {
    const size = Math.abs(v);
    for (const [n, unit] of [[1e9, "G"], [1e6, "M"], [1e3, "k"]]) if (size >= n) return +(v / n).toPrecision(3) + unit;
    return String(+v.toPrecision(4));
  };

  // newest is the last point at which the most series have a value or a bar: the legend shows it
  // by default.
  const newest = (c) => {
    const there = c.labels.map((_, i) => c.series.filter((s) => c.bars ? s.values[i] > 0 : s.values[i] != null).length);
    return there.lastIndexOf(Math.max(...there));
  };

  // mark draws the shape of a series at its points: colour is never the only difference. A point with
  // an interval has a line from its low to its high bound, which a band does not show without neighbours.
  // On a numeric axis it also draws the line, aside by some pixels: series often share their places there.
  const mark = (look, lows, highs, aside) => (u, index) => {
    const { ctx } = u, r = 4 * devicePixelRatio;
    ctx.save();
    ctx.fillStyle = ctx.strokeStyle = colour(look);
    ctx.lineWidth = 1.5 * devicePixelRatio;
    const shift = (aside ?? 0) * devicePixelRatio;
    if (aside != null) {
      ctx.beginPath();
      ctx.setLineDash((dashes[look] ?? []).map((n) => n * devicePixelRatio));
      u.data[index].forEach((v, i) => { if (v != null) ctx.lineTo(u.valToPos(u.data[0][i], "x", true) + shift, u.valToPos(v, "y", true)); });
      ctx.stroke();
      ctx.setLineDash([]);
    }
    u.data[index].forEach((v, i) => {
      if (v == null || u.data[0][i] < u.scales.x.min || u.data[0][i] > u.scales.x.max) return;
      const x = u.valToPos(u.data[0][i], "x", true) + shift, y = u.valToPos(v, "y", true);
      ctx.beginPath();
      if (lows?.[i] != null && highs?.[i] != null) {
        ctx.moveTo(x, u.valToPos(lows[i], "y", true)); ctx.lineTo(x, u.valToPos(highs[i], "y", true)); ctx.stroke();
        ctx.beginPath();
      }
      if (look === "teacher" || look === "dim") ctx.rect(x - r, y - r, 2 * r, 2 * r);
      else if (look === "label") { ctx.moveTo(x, y - 1.3 * r); ctx.lineTo(x + 1.3 * r, y); ctx.lineTo(x, y + 1.3 * r); ctx.lineTo(x - 1.3 * r, y); ctx.closePath(); }
      else if (look === "differ" || look === "infra") { ctx.moveTo(x, y - 1.2 * r); ctx.lineTo(x + 1.2 * r, y + r); ctx.lineTo(x - 1.2 * r, y + r); ctx.closePath(); }
      else if (look === "failed") { ctx.moveTo(x - r, y - r); ctx.lineTo(x + r, y + r); ctx.moveTo(x + r, y - r); ctx.lineTo(x - r, y + r); }
      else ctx.arc(x, y, r, 0, 2 * Math.PI);
      if (look === "failed" || look === "ink" || look === "dim") ctx.stroke(); else ctx.fill();
    });
    ctx.restore();
    return false; // no points of uPlot
  };

  const draw = (figure) => {
    const text = figure.querySelector("script[type='application/json']").textContent;
    const box = figure.querySelector(".plot"), width = box.clientWidth;
    const before = drawn.get(figure);
    if (!width || (before && before.text === text && before.width === width && before.scheme === scheme.matches)) return;
    before?.plot.destroy();
    const c = JSON.parse(text), xs = c.at ?? c.labels.map((_, i) => i);
    const data = [xs], series = [{ label: c.x, value: (_, __, ___, i) => c.labels[i] ?? "–" }], bands = [];
    const unit = c.unit === "%" ? "%" : "", amount = (v) => v == null ? "–" : short(v) + unit;
    let below = xs.map(() => 0);
    for (const [k, s] of c.series.entries()) {
      const stroke = colour(s.look), aside = c.at && (k - (c.series.length - 1) / 2) * 9;
      let values = s.values;
      if (c.bars) { below = values.map((v, i) => below[i] + (v ?? 0)); values = below.slice(); }
      const own = s.values;
      data.push(values);
      series.push({
        label: shapes[s.look] + " " + s.name, look: s.look, stroke, width: 2, dash: dashes[s.look], spanGaps: true,
        value: (_, v, __, i) => i == null ? "–" : amount(own[i]) + (s.low?.[i] != null ? " (" + amount(s.low[i]) + " to " + amount(s.high[i]) + ")" : ""),
        ...(c.bars ? { fill: stroke, paths: uPlot.paths.bars({ size: [0.6, 60] }), points: { show: false } } : { points: { show: c.at || xs.length <= 60 ? mark(s.look, s.low, s.high, aside) : false } }),
        ...(c.at ? { paths: () => null } : {}),
      });
      if (s.low && !c.at) {
        const at = data.length;
        data.push(s.low, s.high);
        for (const edge of ["low", "high"]) series.push({ label: edge, class: "edge", stroke: faint(stroke), width: 1, points: { show: false } });
        bands.push({ series: [at + 1, at], fill: faint(stroke) });
      }
    }
    if (c.bars) { // the tallest is drawn first
      const head = [data[0], series[0]];
      data.splice(0, data.length, head[0], ...data.slice(1).reverse());
      series.splice(0, series.length, head[1], ...series.slice(1).reverse());
    }
    const axis = { stroke: colour("dim"), grid: { stroke: colour("line"), width: 1 }, ticks: { stroke: colour("line"), width: 1 }, font: "12px system-ui, sans-serif" };
    const rest = newest(c), settle = (u) => { if (u.cursor.idx == null) u.setLegend({ idx: rest }, false); };
    const numeric = c.at && placesOf(c, axis, amount);
    const plot = new uPlot({
      width, height: 190, series, bands, legend: { live: true }, hooks: { ready: [settle], setLegend: [settle] },
      scales: { x: { time: false, range: () => [-0.5, xs.length - 0.5] }, y: { range: (_, low, high) => c.unit === "%" ? [0, 100] : [Math.min(0, low ?? 0), (high || 1) * 1.08] } },
      axes: [{ ...axis, splits: () => thin(xs, width), values: (_, at) => at.map((i) => c.labels[i] ?? "") }, { ...axis, size: 52, values: (_, at) => at.map(amount) }],
      cursor: { drag: { x: false, y: false }, points: { size: 7 } }, ...numeric,
    }, data, box);
    box.querySelectorAll(".u-legend .u-series").forEach((row, i) => { if (series[i]?.look) row.classList.add("look-" + series[i].look); });
    drawn.set(figure, { plot, text, width, scheme: scheme.matches });
  };

  // placesOf are the axes of a chart with places on a numeric axis, from 0 and with their names.
  const placesOf = (c, axis, amount) => {
    const last = Math.max(...c.at), edge = last * 0.05 || 1, named = { labelFont: "12px system-ui, sans-serif", labelSize: 22 };
    const top = Math.max(10, ...c.series.flatMap((s) => [...s.values, ...(s.high ?? [])]));
    return {
      height: 320,
      scales: { x: { time: false, range: () => [-edge, last + edge] }, y: { range: () => [0, Math.min(100, Math.ceil(top / 10) * 10)] } },
      axes: [{ ...axis, ...named, label: c.x, size: 36, values: (_, at) => at.map(short) }, { ...axis, ...named, label: c.y, size: 52, values: (_, at) => at.map(amount) }],
    };
  };
  const thin = (xs, width) => { const step = Math.max(1, Math.ceil(xs.length * 62 / width)); return xs.filter((i) => i % step === 0); };

  const scheme = matchMedia("(prefers-color-scheme: dark)");
  const watch = new ResizeObserver((entries) => entries.forEach((e) => draw(e.target.closest("[data-chart]"))));
  const all = () => {
    for (const figure of [...drawn.keys()]) if (!figure.isConnected) { drawn.get(figure).plot.destroy(); drawn.delete(figure); }
    document.querySelectorAll("[data-chart]").forEach((figure) => { draw(figure); watch.observe(figure.querySelector(".plot")); });
  };
  scheme.addEventListener("change", all);
  document.addEventListener("renewed", all);
  all();
})();
