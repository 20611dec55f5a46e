"use strict";
const data = JSON.parse(document.getElementById("data").textContent);
const bytes = text => Uint8Array.from(atob(text), c => c.charCodeAt(0));
const points = new Float32Array(bytes(data.points).buffer), edges = new Uint32Array(bytes(data.edges).buffer);
const colors = bytes(data.colors), areas = bytes(data.areas), n = data.count, m = edges.length / 2;
const name = v => data.names ? data.names[v] : String(v);

// Neighbours of a vertex, in rows.
const offset = new Uint32Array(n + 1), neighbors = new Uint32Array(2 * m);
for (const v of edges) offset[v + 1]++;
for (let v = 0; v < n; v++) offset[v + 1] += offset[v];
const next = offset.slice(0, n);
for (let e = 0; e < m; e++) {
  const u = edges[2 * e], v = edges[2 * e + 1];
  neighbors[next[u]++] = v;
  neighbors[next[v]++] = u;
}

// Cells of a grid, to find the vertex below the mouse.
const side = Math.max(1, Math.floor(Math.sqrt(n / 4))), cells = new Map();
const cell = x => Math.min(side - 1, Math.max(0, Math.floor((x + 0.5) * side)));
for (let v = 0; v < n; v++) {
  const key = cell(points[2 * v + 1]) * side + cell(points[2 * v]);
  cells.has(key) ? cells.get(key).push(v) : cells.set(key, [v]);
}

const lines = document.getElementById("lines"), dots = document.getElementById("dots");
const tip = document.getElementById("tip"), find = document.getElementById("find");
let scale = 1, left = 0, top_ = 0, chosen = -1, waiting = false;
const px = v => points[2 * v] * scale + left, py = v => -points[2 * v + 1] * scale + top_;
const radius = v => Math.max(0.7, Math.sqrt(areas[v] / 255) * Math.min(14, 0.6 * scale / Math.sqrt(n + 1) * 0.5));
const paint = v => `rgb(${colors[3 * v]},${colors[3 * v + 1]},${colors[3 * v + 2]})`;

function fit() {
  for (const canvas of [lines, dots]) {
    canvas.width = innerWidth * devicePixelRatio;
    canvas.height = innerHeight * devicePixelRatio;
    canvas.getContext("2d").setTransform(devicePixelRatio, 0, 0, devicePixelRatio, 0, 0);
  }
}

function home() {
  scale = 0.9 * Math.min(innerWidth, innerHeight);
  left = innerWidth / 2;
  top_ = innerHeight / 2;
}

const seen = (x, y) => x > -50 && y > -50 && x < innerWidth + 50 && y < innerHeight + 50;

function render() {
  waiting = false;
  const g = lines.getContext("2d"), d = dots.getContext("2d");
  g.clearRect(0, 0, innerWidth, innerHeight);
  d.clearRect(0, 0, innerWidth, innerHeight);
  // While there are many edges, some of them stand for all: zooming in shows the rest.
  const step = Math.max(1, Math.floor(m / 200000)), shown = m / step;
  g.strokeStyle = `rgba(90,105,120,${Math.max(0.04, Math.min(0.5, 3000 / shown))})`;
  g.lineWidth = 1;
  g.beginPath();
  for (let e = 0; e < m; e += 1) {
    const u = edges[2 * e], v = edges[2 * e + 1], ax = px(u), ay = py(u), bx = px(v), by = py(v);
    if (e % step && scale < 3000) continue;
    if (!seen(ax, ay) && !seen(bx, by)) continue;
    g.moveTo(ax, ay);
    g.lineTo(bx, by);
  }
  g.stroke();
  for (let v = 0; v < n; v++) {
    const x = px(v), y = py(v);
    if (!seen(x, y)) continue;
    const r = radius(v);
    d.fillStyle = paint(v);
    if (r < 1.5) d.fillRect(x - r, y - r, 2 * r, 2 * r);
    else { d.beginPath(); d.arc(x, y, r, 0, 7); d.fill(); }
  }
  if (chosen >= 0) {
    d.strokeStyle = "#d55e00";
    d.lineWidth = 1.5;
    d.beginPath();
    for (let i = offset[chosen]; i < offset[chosen + 1]; i++) {
      d.moveTo(px(chosen), py(chosen));
      d.lineTo(px(neighbors[i]), py(neighbors[i]));
    }
    d.stroke();
    d.beginPath();
    d.arc(px(chosen), py(chosen), radius(chosen) + 4, 0, 7);
    d.stroke();
  }
}

function redraw() {
  if (!waiting) { waiting = true; requestAnimationFrame(render); }
}

function below(x, y) {
  const wx = (x - left) / scale, wy = -(y - top_) / scale, reach = Math.max(1, Math.ceil(12 / scale * side));
  let best = -1, near = 14 * 14;
  for (let i = cell(wy) - reach; i <= cell(wy) + reach; i++)
    for (let j = cell(wx) - reach; j <= cell(wx) + reach; j++)
      for (const v of cells.get(i * side + j) || []) {
        const far = (px(v) - x) ** 2 + (py(v) - y) ** 2;
        if (far < near) { near = far; best = v; }
      }
  return best;
}

let held = null;
dots.addEventListener("pointerdown", e => { held = [e.clientX, e.clientY]; dots.setPointerCapture(e.pointerId); });
dots.addEventListener("pointerup", () => { held = null; });
dots.addEventListener("pointermove", e => {
  if (held) {
    left += e.clientX - held[0];
    top_ += e.clientY - held[1];
    held = [e.clientX, e.clientY];
    redraw();
    return;
  }
  const v = below(e.clientX, e.clientY);
  if (v !== chosen) { chosen = v; redraw(); }
  tip.style.display = v < 0 ? "none" : "block";
  if (v >= 0) {
    tip.textContent = `${name(v)}: ${offset[v + 1] - offset[v]} neighbours`;
    tip.style.left = `${e.clientX + 14}px`;
    tip.style.top = `${e.clientY + 10}px`;
  }
});
dots.addEventListener("wheel", e => {
  e.preventDefault();
  const factor = Math.exp(-e.deltaY / 400);
  left = e.clientX + (left - e.clientX) * factor;
  top_ = e.clientY + (top_ - e.clientY) * factor;
  scale *= factor;
  redraw();
}, { passive: false });
dots.addEventListener("dblclick", () => { home(); redraw(); });
find.addEventListener("change", () => {
  const long = `${find.value.slice(0, 60)}…`;  // how long names begin
  for (let v = 0; v < n; v++) if (name(v) === find.value || name(v).startsWith(long)) {
    chosen = v;
    scale = Math.max(scale, 4 * Math.min(innerWidth, innerHeight));
    left = innerWidth / 2 - points[2 * v] * scale;
    top_ = innerHeight / 2 + points[2 * v + 1] * scale;
    redraw();
    return;
  }
});
addEventListener("resize", () => { fit(); redraw(); });
fit();
home();
render();
