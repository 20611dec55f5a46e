"use strict";
const data = JSON.parse(document.getElementById("data").textContent);
const bytes = text => Uint8Array.from(atob(text), c => c.charCodeAt(0));
const points = new Float32Array(bytes(data.points).buffer), edges = new Uint32Array(bytes(data.edges).buffer);
const aside = new Int8Array(bytes(data.aside).buffer), loops = new Map(data.loops.map(l => [l[0], l]));
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
const degree = v => offset[v + 1] - offset[v];
// Large vertices, and those of many neighbours, have their labels first.
const first = Uint32Array.from({ length: n }, (_, v) => v).sort((u, v) => areas[v] - areas[u] || degree(v) - degree(u));

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
const radius = v => Math.max(0.7, Math.sqrt(areas[v] / 255) * Math.min(14, 0.25 * scale / Math.sqrt(n + 1)));
const paint = v => `rgb(${colors[3 * v]},${colors[3 * v + 1]},${colors[3 * v + 2]})`;

function fit() {
  for (const canvas of [lines, dots]) {
    canvas.width = innerWidth * devicePixelRatio;
    canvas.height = innerHeight * devicePixelRatio;
    canvas.getContext("2d").setTransform(devicePixelRatio, 0, 0, devicePixelRatio, 0, 0);
  }
}

let wide = 0.5, tall = 0.5, fitted = 1;
for (let v = 0; v < n; v++) {
  wide = Math.max(wide, 2 * Math.abs(points[2 * v]));
  tall = Math.max(tall, 2 * Math.abs(points[2 * v + 1]));
}
function home() {
  scale = fitted = 0.9 * Math.min(innerWidth / wide, innerHeight / tall);
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
  const shade = `rgba(90,105,120,${Math.max(0.04, Math.min(0.7, 3000 / shown))})`;
  g.strokeStyle = g.fillStyle = shade;
  g.lineWidth = 1;
  g.beginPath();
  const heads = [];
  for (let e = 0; e < m; e += 1) {
    const u = edges[2 * e], v = edges[2 * e + 1], ax = px(u), ay = py(u), bx = px(v), by = py(v);
    if (e % step && scale < 3000) continue;
    if (!seen(ax, ay) && !seen(bx, by)) continue;
    g.moveTo(ax, ay);
    if (u === v) {
      const [, angle, rank] = loops.get(e) || [0, Math.PI / 2, 0], reach = 4 / 3 * (radius(u) + 20 * Math.sqrt(rank + 1));
      const cx = ax + reach * Math.cos(angle - 0.55), cy = ay - reach * Math.sin(angle - 0.55);
      g.bezierCurveTo(ax + reach * Math.cos(angle + 0.55), ay - reach * Math.sin(angle + 0.55), cx, cy, bx, by);
      heads.push([cx, cy, bx, by, v]);
      continue;
    }
    const long = Math.hypot(bx - ax, by - ay), turn = u < v ? 1 : -1;
    if (aside[e] && long > 14 + radius(u) + radius(v)) {
      const far = turn * aside[e] * Math.min(Math.min(14, Math.max(7, 0.06 * long)), 0.25 * long);
      const cx = (ax + bx) / 2 + far * (by - ay) / long, cy = (ay + by) / 2 - far * (bx - ax) / long;
      g.quadraticCurveTo(cx, cy, bx, by);
      heads.push([cx, cy, bx, by, v]);
    } else {
      g.lineTo(bx, by);
      if (long > 12 + radius(u) + radius(v)) heads.push([ax, ay, bx, by, v]);
    }
  }
  g.stroke();
  if (data.directed && heads.length < 20000) for (const head of heads) arrow(g, ...head);
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
  write(d);
}

// The head of an arrow from the direction of (ax, ay), with its tip at the rim of v.
function arrow(g, ax, ay, bx, by, v) {
  const long = Math.hypot(bx - ax, by - ay) || 1, x = (bx - ax) / long, y = (by - ay) / long, r = radius(v);
  const tx = bx - x * r, ty = by - y * r, size = 7;
  g.beginPath();
  g.moveTo(tx, ty);
  g.lineTo(tx - size * x + 0.38 * size * y, ty - size * y - 0.38 * size * x);
  g.lineTo(tx - size * x - 0.38 * size * y, ty - size * y + 0.38 * size * x);
  g.fill();
}

// Labels of the vertices in sight, as many as do not cover each other.
let written = [];
function write(d) {
  const taken = new Map(), most = n <= 100 ? 100 : Math.min(150, 30 * scale / fitted);
  let tried = 0;
  written = [];
  d.font = "12px system-ui, sans-serif";
  d.textAlign = "center";
  d.lineJoin = "round";
  const free = (x, y, wide) => {
    const keys = [];
    for (let i = Math.floor((x - wide / 2) / 40); i <= Math.floor((x + wide / 2) / 40); i++)
      for (let j = Math.floor((y - 13) / 40); j <= Math.floor((y + 3) / 40); j++) keys.push(i * 100003 + j);
    const meets = keys.some(key => (taken.get(key) || []).some(
      ([ox, oy, other]) => Math.abs(ox - x) < (wide + other) / 2 && Math.abs(oy - y) < 16));
    if (!meets) for (const key of keys) taken.set(key, [...taken.get(key) || [], [x, y, wide]]);
    return !meets;
  };
  for (const v of chosen < 0 ? first : [chosen, ...first]) {
    if (written.length >= most || tried >= 3000) break;
    const x = px(v), y = py(v) - radius(v) - 4;
    if (x < 0 || y < 13 || x > innerWidth || y > innerHeight - 3 || written.includes(v)) continue;
    tried++;
    const long = name(v), text = long.length > 30 ? `${long.slice(0, 29)}…` : long, wide = d.measureText(text).width + 4;
    if (x < wide / 2 || x > innerWidth - wide / 2 || !free(x, y, wide)) continue;
    written.push(v);
    d.strokeStyle = "#fff";
    d.lineWidth = 3;
    d.strokeText(text, x, y);
    d.fillStyle = "#222";
    d.fillText(text, x, y);
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
    const told = data.columns.map(([column, values]) => `\n${column}: ${values[v]}`);
    const others = new Set(neighbors.subarray(offset[v], offset[v + 1]));
    others.delete(v);
    tip.textContent = `${name(v)}: ${others.size} ${others.size === 1 ? "neighbour" : "neighbours"}${told.join("")}`;
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
// The name itself, else the next one that contains what is looked for, with every Enter another.
function search(text) {
  const long = `${text.slice(0, 60)}…`;  // how long names begin
  for (let v = 0; v < n; v++) if (name(v) === text || name(v).startsWith(long)) return v;
  const part = text.toLowerCase();
  for (let i = 1; i <= n; i++) {
    const v = (Math.max(chosen, -1) + i) % n;
    if (name(v).toLowerCase().includes(part)) return v;
  }
  return -1;
}
find.addEventListener("keydown", e => {
  if (e.key !== "Enter" || !find.value) return;
  const v = search(find.value);
  document.getElementById("found").textContent = v < 0 ? "none" : name(v);
  if (v < 0) return;
  chosen = v;
  scale = Math.max(scale, 4 * Math.min(innerWidth, innerHeight));
  left = innerWidth / 2 - points[2 * v] * scale;
  top_ = innerHeight / 2 + points[2 * v + 1] * scale;
  redraw();
});

const legend = document.getElementById("legend");
function entry(text, background, kind) {
  const item = document.createElement("span");
  if (background) {
    const mark = item.appendChild(document.createElement("i"));
    mark.style.background = background;
    mark.className = kind;
  }
  item.append(text);
  legend.append(item, " ");
  return item;
}
legend.hidden = !data.legend;
if (data.legend) {
  const { name, ends, shades, entries } = data.legend;
  if (name) entry(name).style.fontWeight = "bold";
  if (ends.length) entry(` ${ends[1]}`, `linear-gradient(to right, ${shades.join(",")})`, "scale").prepend(`${ends[0]} `);
  for (const [text, color] of entries) entry(text, color, "group");
}
addEventListener("resize", () => { fit(); redraw(); });
fit();
home();
render();
