// What canvas.js draws with: elements, outlines of symbols, colours, the legend. No state.
const SVG = "http://www.w3.org/2000/svg";

function make(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  node.append(...children); // strings become text nodes
  return node;
}

function shape(tag, attributes = {}) {
  const node = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  return node;
}

function outline(form, r) {
  if (form === "diamond") return `M0 ${-1.3 * r}L${1.3 * r} 0L0 ${1.3 * r}L${-1.3 * r} 0Z`;
  if (form === "triangle") return `M0 ${-1.25 * r}L${1.2 * r} ${0.85 * r}H${-1.2 * r}Z`;
  if (form === "square") return `M${-r} ${-r}H${r}V${r}H${-r}Z`;
  if (form === "star") {
    const point = i => [1.5 * r * (i % 2 ? 0.45 : 1)].flatMap(d => [d * Math.sin(i * Math.PI / 5), -d * Math.cos(i * Math.PI / 5)]);
    return `M${Array.from({ length: 10 }, (_, i) => point(i).map(v => v.toFixed(2)).join(" ")).join("L")}Z`;
  }
  return `M${-r} 0a${r} ${r} 0 1 0 ${2 * r} 0a${r} ${r} 0 1 0 ${-2 * r} 0Z`;
}

function symbol(role, gold, rim, r = 9) {
  const rims = { fill: role.fill, stroke: gold ? rim : "currentColor", "stroke-width": gold ? 3 : 1.5 };
  if (role.dashed) rims["stroke-dasharray"] = "3 2";
  return shape("path", { d: outline(gold ? "star" : role.shape, r), ...rims });
}

function ring(colour, r) {
  return shape("circle", { class: "kit-halo", r, fill: "none", stroke: colour, "stroke-width": 3.5 });
}

function shade(shades, value) { // between two of the colours (#rrggbb), by the value's place from the first to the last
  const at = Math.max(0, Math.min(1, value)) * (shades.length - 1), low = Math.min(Math.floor(at), shades.length - 2);
  const part = (colour, i) => parseInt(colour.slice(1 + 2 * i, 3 + 2 * i), 16);
  return `rgb(${[0, 1, 2].map(i => Math.round(part(shades[low], i) * (low + 1 - at) + part(shades[low + 1], i) * (at - low))).join(" ")})`;
}

const number = value => `${+value.toPrecision(3)}`;
const plural = (n, word) => `${n} ${word}${n === 1 ? "" : "s"}`;

function legendOf(looks, gold) { // what shapes, colours and lines mean: a span each
  const found = [];
  const entry = (sign, text) => {
    const box = shape("svg", { width: 30, height: 22, viewBox: "-15 -11 30 22", "aria-hidden": "true" });
    box.append(sign);
    found.push(make("span", {}, box, text));
  };
  if (looks.scale) {
    const { name, far, near, shades } = looks.scale, box = shape("svg", { width: 130, height: 26, viewBox: "0 -13 130 26", "aria-hidden": "true" });
    [0, 0.25, 0.5, 0.75, 1].forEach((value, i) => {
      const one = symbol({ shape: "circle", fill: shade(shades, value) }, false, "", (6 + 10 * value) * 0.75);
      one.setAttribute("transform", `translate(${10 + 26 * i} 0)`);
      box.append(one);
    });
    found.push(make("span", { class: "kit-scale" }, `${name}: ${number(far)}`, box, number(near)));
  }
  for (const [name, role] of Object.entries(looks.roles)) {
    const sign = shape("g");
    if (role.halo) sign.append(ring(looks.halo, 10));
    sign.append(symbol(looks.shaded.includes(name) ? { ...role, fill: shade(looks.scale.shades, 0.5) } : role, false, "", role.halo ? 5 : 7));
    entry(sign, role.label);
  }
  if (gold) entry(symbol({ fill: "#ffffff" }, true, looks.gold.rim, 7), looks.gold.label);
  for (const [kind, line] of Object.entries(looks.kinds)) {
    entry(shape("line", { x1: -14, x2: 14, y1: 0, y2: 0, stroke: line.colour, "stroke-width": 2.5, "stroke-dasharray": line.dash.join(" ") }), `${kind} edge`);
  }
  return found;
}
