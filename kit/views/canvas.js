// Draws a replay (see replay.py): a graph, rankings, a step bar. Text from a corpus enters the page through textContent only.
// explorer.py puts shapes.js before it.
const HEIGHT = 430, MARGIN = 34, PAUSE = 1300, LONG = 40, WHOLE = { k: 1, x: 0, y: 0 };

// Keeps keys that are pressed in an explorer from JupyterLab, which takes ↓ in a dropdown for a way to the next cell.
function keepKeys(within) {
  const explorer = within.closest(".kit-explorer");
  if (explorer) explorer.onkeydown = event => {
    if (event.key !== "Tab" && !event.ctrlKey && !event.metaKey) event.stopPropagation();
  };
}

function render({ model, el }) {
  const button = (text, name, act) => {
    const node = make("button", { type: "button", class: "jupyter-button widget-button", "aria-label": name, title: name }, text);
    node.addEventListener("click", act);
    return node;
  };
  const root = make("div", { class: "kit-canvas", role: "group", "aria-label": model.get("name"), "data-lm-suppress-shortcuts": "true" });
  const problem = make("div", { class: "kit-problem", role: "alert" });
  const play = button("Play", "Play or pause (space)", () => toggle());
  const slider = make("input", { type: "range", min: 0, step: 1, "aria-label": "Step" });
  const stepName = make("span", { class: "kit-step" });
  const bar = make("div", { class: "kit-bar", role: "toolbar", "aria-label": "Steps" },
    button("Back", "One step back (←)", () => go(index() - 1)), play,
    button("Step", "One step on (→)", () => go(index() + 1)), slider, stepName);
  const heading = make("p", { class: "kit-heading" });
  const question = make("p", { class: "kit-question" });
  const asked = make("p", { class: "kit-asked" });
  const caption = make("p", { class: "kit-caption", "aria-live": "polite" });
  const picture = shape("svg", { role: "application", "aria-label": "Graph", tabindex: -1, height: HEIGHT });
  const tip = make("div", { class: "kit-tip", "aria-hidden": "true" });
  const zooms = make("div", { class: "kit-zoom" }, button("+", "Zoom in (+)", () => zoom(1.25)),
    button("−", "Zoom out (−)", () => zoom(0.8)), button("Fit", "Show all (0)", () => look(WHOLE)));
  const stage = make("div", { class: "kit-stage" }, picture, zooms, tip);
  const columns = make("div", { class: "kit-columns" });
  const legend = make("div", { class: "kit-legend", "aria-label": "Legend" });
  const detail = make("div", { class: "kit-detail", role: "note", tabindex: 0, "aria-label": "Passage in hand" });
  const pen = document.createElement("canvas").getContext("2d"); // it measures labels
  const help = make("p", { class: "kit-help" });
  root.append(heading, problem, question, asked, bar, caption, make("div", { class: "kit-body" }, stage, columns), legend, detail, help);
  el.append(root);

  let replay, looks, view = WHOLE, pinned = null, current = null, timer = null, drag = null, painting = 0, width = 800;
  let elements = new Map(); // node id → what stands for it on the page
  let lines = []; // edges, each with its group
  const index = () => model.get("index");
  const frame = () => replay.frames[Math.min(index(), replay.frames.length - 1)];

  function go(to) {
    const next = Math.max(0, Math.min(replay.frames.length - 1, to));
    if (next === index()) return;
    model.set("index", next);
    model.save_changes();
  }
  function toggle(on = timer === null) {
    clearInterval(timer);
    timer = null;
    if (on && replay.frames.length > 1) {
      if (index() >= replay.frames.length - 1) go(0);
      timer = setInterval(() => { index() < replay.frames.length - 1 ? go(index() + 1) : toggle(false); }, PAUSE);
    }
    play.textContent = timer === null ? "Play" : "Pause";
  }

  // ---- the graph
  const top = () => looks.scale ? 74 : 60; // nodes stay clear of the buttons
  const at = node => {
    return [view.x + view.k * (MARGIN + node.x * (width - 2 * MARGIN)), view.y + view.k * (top() + node.y * (HEIGHT - MARGIN - top()))];
  };
  function zoom(by, x = picture.clientWidth / 2, y = HEIGHT / 2) {
    const k = Math.max(0.5, Math.min(8, view.k * by));
    look({ k, x: x - (x - view.x) * k / view.k, y: y - (y - view.y) * k / view.k });
  }
  function look(from) {
    view = from;
    cancelAnimationFrame(painting);
    painting = requestAnimationFrame(drawGraph); // a wheel turns faster than a screen draws
  }
  const radius = state => {
    if (state.value === null) return 9;
    const small = looks.scale ? Math.max(0.7, Math.min(1, width / 650)) : 1; // half a page, half the room
    return small * (6 + 10 * Math.max(0, Math.min(1, state.value)));
  };
  const reach = state => radius(state) * (replay.nodes[state.node].gold ? 1.3 : 1) + (looks.roles[state.role].halo ? 7 : 2);
  const fill = state => looks.scale && state.value !== null ? shade(looks.scale.shades, state.value) : looks.roles[state.role].fill;

  function drawEdge(edge, target, states, manner) {
    const [x1, y1] = at(replay.nodes[edge.source]), [x2, y2] = at(replay.nodes[edge.target]);
    const length = Math.hypot(x2 - x1, y2 - y1) || 1, across = [-(y2 - y1) / length, (x2 - x1) / length];
    const group = shape("g", { class: `kit-edge ${manner}` });
    edge.kinds.forEach((kind, i) => {
      const off = 4 * (i - (edge.kinds.length - 1) / 2), [dx, dy] = [across[0] * off, across[1] * off];
      group.append(shape("line", { x1: x1 + dx, y1: y1 + dy, x2: x2 + dx, y2: y2 + dy, stroke: looks.kinds[kind].colour,
        "stroke-dasharray": looks.kinds[kind].dash.join(" ") }));
    });
    if (edge.directed) {
      const far = reach(states.get(edge.target)) + 2, [ux, uy] = [(x2 - x1) / length, (y2 - y1) / length];
      const [tx, ty] = [x2 - far * ux, y2 - far * uy], [bx, by] = [tx - 12 * ux, ty - 12 * uy];
      group.append(shape("path", { class: "kit-arrow", fill: looks.kinds[edge.kinds[0]]?.colour ?? "currentColor",
        d: `M${tx} ${ty}L${bx + 6 * across[0]} ${by + 6 * across[1]}L${bx - 6 * across[0]} ${by - 6 * across[1]}Z` }));
    }
    const hit = shape("line", { x1, y1, x2, y2, class: "kit-hit" });
    hit.addEventListener("pointerenter", event => {
      group.classList.add("kit-over");
      point(event, edge.kinds.join(", ") + (edge.label ? `: ${edge.label}` : ""));
      if (!pinned) tellEdge(edge);
    });
    hit.addEventListener("pointerleave", () => { group.classList.remove("kit-over"); tip.classList.remove("kit-on"); if (!pinned) tell(current); });
    group.append(hit);
    target.append(group);
    lines.push([edge, group]);
  }

  function drawNode(state, target) {
    const node = replay.nodes[state.node], role = looks.roles[state.role], [x, y] = at(node);
    const group = shape("g", { class: "kit-node", transform: `translate(${x} ${y})`, role: "button", tabindex: -1,
      "aria-label": `${node.title}, ${role.label}${node.gold ? ", supporting passage" : ""}` });
    if (role.halo) group.append(ring(looks.halo, reach(state)));
    group.append(symbol({ ...role, fill: fill(state) }, node.gold, looks.gold.rim, radius(state)));
    hold(group, state.node);
    target.append(group);
  }

  const SIDES = [[0, -1], [0, 1], [1, 0], [-1, 0], [0.7, -0.7], [-0.7, -0.7], [0.7, 0.7], [-0.7, 0.7]]; // where a label may be: right of its node, below it
  const meets = (one, other) => one[2] > other[0] && one[0] < other[2] && one[3] > other[1] && one[1] < other[3];

  function drawLabels(states, target) { // above all nodes; each where it covers no node and no label, at best no strong edge
    const told = new Set(frame().edges.filter(edge => edge.emphasised).flatMap(edge => [edge.source, edge.target]));
    const weight = state => (state.node === frame().focus ? 8 : 0) + (told.has(state.node) ? 2 : 0) + (replay.nodes[state.node].gold ? 4 : 0) + (state.role === "seed" ? 2 : 0) + (state.role === "plain" ? 0 : 1);
    const order = [...states].sort((a, b) => weight(b) - weight(a));
    const size = looks.scale ? 13 : 11;
    const family = getComputedStyle(root).fontFamily;
    const zoomed = zooms.offsetWidth + 12, taken = [[width - zoomed, 0, width, zooms.offsetHeight + 12]]; // the buttons
    for (const state of states) {
      const [x, y] = at(replay.nodes[state.node]), r = Math.max(7, reach(state) - 1);
      taken.push([x - r, y - r, x + r, y + r]);
    }
    const nodes = taken.length, strokes = strongPoints();
    const widthOf = (state, text) => {
      pen.font = `${state.node === frame().focus ? 600 : 400} ${size}px ${family}`; // the one in hand is bold
      return pen.measureText(text).width + 2;
    };
    const box = (state, w, far, [right, down]) => {
      const [x, y] = at(replay.nodes[state.node]), r = far * (reach(state) + 2);
      const wanted = x + right * r - (right === 0 ? w / 2 : right < 0 ? w : 0), middle = y + down * (r + size / 2);
      const left = right === 0 ? Math.max(0, Math.min(wanted, width - w)) : wanted;
      return [left, middle - size / 2 - 1, left + w, middle + size / 2 + 2];
    };
    const inside = ([a, b, c, d]) => a >= 0 && b >= 0 && c <= width && d <= HEIGHT;
    const crossed = ([a, b, c, d]) => strokes.some(([x, y]) => x > a && x < c && y > b && y < d);
    function free(state, others, mayCross) {
      const { title, label } = replay.nodes[state.node];
      for (const text of title.length <= LONG ? [title, label] : [label]) {
        const w = widthOf(state, text);
        for (const far of [1, 1.8, 2.8]) for (const side of SIDES) {
          const where = box(state, w, far, side);
          if (inside(where) && !others.some(other => meets(where, other)) && (mayCross || !crossed(where))) return [text, where, side[0]];
        }
      }
      return null;
    }
    for (const state of order) {
      const { id, label } = replay.nodes[state.node];
      let placed = free(state, taken, false) ?? free(state, taken, true);
      if (!placed && id === frame().focus) placed = free(state, [taken[0], ...taken.slice(nodes)], true); // over nodes, if it must
      const [text, where, right] = placed ?? [label, box(state, widthOf(state, label), 1, SIDES[0]), 0];
      const left = Math.max(0, Math.min(where[0], width - (where[2] - where[0]))), wide = where[2] - where[0];
      const x = right > 0 ? left : right < 0 ? left + wide : left + wide / 2, anchor = right > 0 ? "start" : right < 0 ? "end" : "middle";
      const y = Math.max(size, Math.min(where[3] - 3, HEIGHT - 3));
      const name = Object.assign(shape("text", { class: placed ? "kit-label" : "kit-label kit-spare", x, y, "text-anchor": anchor }), { textContent: text });
      name.kitNamed = id;
      if (placed) taken.push(where); // else it shows when its node is in hand
      remember(id, name);
      target.append(name);
    }
  }
  function strongPoints() { // along the edges that a label should not cover
    const points = [];
    for (const { source, target } of frame().edges.filter(edge => edge.emphasised)) {
      const [x1, y1] = at(replay.nodes[source]), [x2, y2] = at(replay.nodes[target]);
      for (let i = 1; i < 24; i++) points.push([x1 + (x2 - x1) * i / 24, y1 + (y2 - y1) * i / 24]);
    }
    return points;
  }

  function drawGraph() {
    const { states, edges } = frame(), held = picture.contains(document.activeElement) ? current : null;
    for (const [id, list] of elements) elements.set(id, list.filter(node => !picture.contains(node)));
    stage.style.display = states.length ? "" : "none";
    const under = shape("g"), dots = shape("g"), names = shape("g");
    width = picture.clientWidth || 800; // once: to read it while the picture changes costs a layout each time
    lines = [];
    const of = new Map(states.map(state => [state.node, state]));
    for (const edge of replay.edges) if (of.has(edge.source) && of.has(edge.target)) drawEdge(edge, under, of, "kit-faint");
    for (const edge of edges) if (of.has(edge.source) && of.has(edge.target)) drawEdge(edge, under, of, edge.emphasised ? "kit-strong" : "");
    for (const state of states) drawNode(state, dots);
    drawLabels(states, names);
    picture.replaceChildren(under, dots, names);
    mark();
    if (held !== null) (elements.get(held)?.find(node => picture.contains(node)) ?? picture).focus({ preventScroll: true });
  }

  // ---- the rankings
  function drawColumns() {
    const held = columns.contains(document.activeElement) ? current : null;
    const before = new Map([...columns.querySelectorAll("li")].map(li => [li.kitKey, li.offsetTop]));
    for (const [id, list] of elements) elements.set(id, list.filter(node => !columns.contains(node)));
    const rows = Math.max(0, ...frame().columns.map(column => column.items.length));
    columns.replaceChildren();
    columns.style.display = frame().columns.length ? "" : "none";
    frame().columns.forEach((column, c) => {
      if (c) columns.append(ties(frame().columns[c - 1], column, rows));
      const list = make("ol");
      column.items.forEach((item, i) => list.append(row(item, i, `${c} ${item.node}`)));
      columns.append(make("div", { class: "kit-column" }, make("h4", {}, column.name), list));
    });
    if (!matchMedia("(prefers-reduced-motion: reduce)").matches) {
      for (const li of columns.querySelectorAll("li")) {
        const from = before.get(li.kitKey);
        if (from !== undefined && from !== li.offsetTop) {
          li.animate([{ transform: `translateY(${from - li.offsetTop}px)` }, { transform: "none" }], 180);
        }
      }
    }
    if (held !== null) elements.get(held)?.find(node => columns.contains(node))?.focus({ preventScroll: true });
  }
  function row(item, i, key) {
    const node = replay.nodes[item.node];
    const moved = item.moved ? make("span", { class: item.moved > 0 ? "kit-up" : "kit-down" }, `${item.moved > 0 ? "▲" : "▼"}${Math.abs(item.moved)}`) : "";
    const rank = `${item.place ?? i + 1}`;
    const li = make("li", { class: `${node.gold ? "kit-gold" : ""} ${item.place === null ? "" : "kit-below"}`, tabindex: -1, "aria-label":
      `Rank ${rank}: ${node.title}${node.gold ? ", supporting passage" : ""}${item.moved ? `, ${item.moved > 0 ? "up" : "down"} ${Math.abs(item.moved)}` : ""}` },
      make("span", { class: "kit-rank" }, rank), make("span", { class: "kit-star" }, node.gold ? "★" : ""),
      make("span", { class: "kit-title" }, node.title), moved,
      make("span", { class: "kit-score" }, item.score === null ? "" : item.score.toPrecision(3)));
    li.kitKey = key;
    hold(li, item.node);
    return li;
  }
  function ties(left, right, rows) {
    const lines = shape("svg", { class: "kit-ties", viewBox: `0 0 40 ${rows * 26}`, height: rows * 26, preserveAspectRatio: "none", "aria-hidden": "true" });
    const place = new Map(right.items.map((item, i) => [item.node, i]));
    left.items.forEach((item, i) => {
      if (!place.has(item.node)) return;
      const line = shape("line", { x1: 0, y1: i * 26 + 13, x2: 40, y2: place.get(item.node) * 26 + 13, class: replay.nodes[item.node].gold ? "kit-gold" : "" });
      remember(item.node, line);
      lines.append(line);
    });
    return lines;
  }

  // ---- what is in hand
  function remember(id, node) {
    if (!elements.has(id)) elements.set(id, []);
    elements.get(id).push(node);
  }
  function hold(node, id) {
    remember(id, node);
    node.kitNode = id;
    node.addEventListener("pointerenter", event => { point(event, replay.nodes[id].title); if (!pinned) tell(id); mark(id); });
    node.addEventListener("pointerleave", () => { tip.classList.remove("kit-on"); if (!pinned) tell(current); mark(); });
    node.addEventListener("focus", () => { current = id; if (!pinned) tell(id); mark(); });
    node.addEventListener("click", () => { node.focus({ preventScroll: true }); pin(id); });
  }
  function pin(id) {
    pinned = pinned === id ? null : id;
    tell(id);
    mark();
  }
  function mark(over = null) { // the same passage is marked wherever it stands, and so are its edges
    const hand = over ?? current, shown = hand ?? pinned ?? frame().focus;
    for (const [edge, group] of lines) {
      group.classList.toggle("kit-near", edge.source === hand || edge.target === hand);
    }
    picture.classList.toggle("kit-chosen", lines.some(([, group]) => group.classList.contains("kit-near")));
    for (const [id, list] of elements) {
      for (const node of list) {
        node.classList.toggle("kit-same", id === shown);
        node.classList.toggle("kit-pinned", id === pinned);
        if (node.kitNamed === shown) node.parentNode?.append(node); // on top of the other labels
        if (node.kitNode !== undefined) node.tabIndex = -1;
      }
    }
    for (const area of [picture, columns]) { // one stop of the Tab key in each; arrow keys do the rest
      const nodes = [...area.querySelectorAll("[tabindex]")];
      const stop = nodes.find(node => node.kitNode === current) ?? nodes[0];
      if (stop) stop.tabIndex = 0;
    }
  }
  function point(event, text) {
    const box = stage.getBoundingClientRect();
    if (!stage.contains(event.target)) return;
    tip.textContent = text;
    tip.style.left = `${Math.min(event.clientX - box.left + 14, box.width - 240)}px`;
    tip.style.top = `${event.clientY - box.top + 14}px`;
    tip.classList.add("kit-on");
  }
  function tell(id) {
    detail.replaceChildren();
    const node = replay.nodes[id ??= frame().focus];
    if (!node) {
      detail.append(make("p", { class: "kit-quiet" }, "Point at a passage to read it."));
      return;
    }
    const part = frame().states.find(each => each.node === id), words = [];
    if (part) words.push(looks.roles[part.role].label);
    if (node.gold) words.push("★ supporting passage");
    const note = make("span", { class: "kit-note" }, part?.note ?? "");
    if (pinned === id) words.push("pinned: Enter or a click lets go");
    detail.append(make("strong", {}, node.title), make("span", { class: "kit-words" }, words.join(" · ")), note, make("p", {}, node.text));
    const own = frame().edges, ends = edge => [edge.source, edge.target].sort().join(" "), drawn = new Set(own.map(ends));
    const links = [...own, ...replay.edges.filter(edge => !drawn.has(ends(edge)))].filter(edge => edge.source === id || edge.target === id);
    if (links.length) {
      const list = make("ul");
      for (const edge of links.slice(0, 12)) {
        const other = replay.nodes[edge.source === id ? edge.target : edge.source];
        const way = !edge.directed ? "" : edge.source === id ? "→ " : "← ";
        list.append(make("li", {}, `${way}${other.title} — ${edge.kinds.join(", ")}${edge.label ? `: ${edge.label}` : ""}`));
      }
      if (links.length > 12) list.append(make("li", {}, `and ${links.length - 12} more`));
      detail.append(make("p", { class: "kit-quiet" }, `${plural(links.length, "link")} in the picture`), list);
    }
  }
  function tellEdge(edge) {
    const [from, to] = [edge.source, edge.target].map(id => replay.nodes[id].title);
    detail.replaceChildren(make("strong", {}, `${from} ${edge.directed ? "→" : "—"} ${to}`), make("span", { class: "kit-words" }, edge.kinds.join(", ")),
      make("p", {}, edge.label || "no label"));
  }

  // ---- keys and pointer
  function walk(key) {
    const here = document.activeElement, area = picture.contains(here) ? picture : columns.contains(here) ? columns : null;
    if (!area) return false;
    const centre = node => { const box = node.getBoundingClientRect(); return [box.x + box.width / 2, box.y + box.height / 2]; };
    const nodes = [...area.querySelectorAll("[tabindex]")], [x, y] = centre(area === here ? nodes[0] : here);
    const [ux, uy] = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[key];
    let best = null, least = Infinity;
    for (const node of nodes) {
      const [dx, dy] = [centre(node)[0] - x, centre(node)[1] - y], along = dx * ux + dy * uy, aside = Math.abs(dx * uy - dy * ux);
      if (node !== here && along > 1 && along + 2 * aside < least) [best, least] = [node, along + 2 * aside];
    }
    best?.focus({ preventScroll: true });
    return true;
  }
  root.addEventListener("keydown", event => {
    const onButton = event.target.tagName === "BUTTON" && !bar.contains(event.target);
    const inBar = bar.contains(event.target);
    let done = true;
    if (event.key === " " && !onButton) toggle();
    else if (event.key.startsWith("Arrow") && (inBar || event.target === root)) {
      if (event.key === "ArrowLeft" || event.key === "ArrowDown") go(index() - 1);
      else go(index() + 1);
    } else if (event.key.startsWith("Arrow")) done = walk(event.key);
    else if (event.key === "Enter" && event.target.kitNode !== undefined) pin(event.target.kitNode);
    else if (event.key === "Escape") {
      pinned = null;
      if (event.target.kitNode === undefined) current = null; // on the step bar: let go of the passage in hand
      tell(current);
      mark();
    }
    else if (event.key === "+" || event.key === "=") zoom(1.25);
    else if (event.key === "-") zoom(0.8);
    else if (event.key === "0") look(WHOLE);
    else done = false;
    if (done) event.preventDefault();
    if (event.key !== "Tab") event.stopPropagation();
  });
  slider.addEventListener("input", () => go(Number(slider.value)));
  picture.addEventListener("pointerdown", event => {
    if (event.target.closest(".kit-node")) return;
    picture.focus({ preventScroll: true });
    drag = { x: event.clientX - view.x, y: event.clientY - view.y };
    picture.setPointerCapture(event.pointerId);
  });
  picture.addEventListener("pointermove", event => {
    if (!drag) return;
    look({ ...view, x: event.clientX - drag.x, y: event.clientY - drag.y });
  });
  for (const end of ["pointerup", "pointercancel"]) picture.addEventListener(end, () => { drag = null; });
  picture.addEventListener("wheel", event => { // a page that scrolls past must not zoom: only when the picture was clicked
    if (!event.ctrlKey && !stage.contains(document.activeElement)) return;
    event.preventDefault();
    const box = picture.getBoundingClientRect();
    zoom(event.deltaY < 0 ? 1.15 : 1 / 1.15, event.clientX - box.left, event.clientY - box.top);
  }, { passive: false });

  // ---- all of it
  function drawFrame() {
    const many = replay.frames.length > 1;
    bar.style.display = many ? "" : "none";
    slider.max = replay.frames.length - 1;
    slider.value = index();
    stepName.textContent = `${Math.min(index(), replay.frames.length - 1) + 1} of ${replay.frames.length}${frame().step ? `: ${frame().step}` : ""}`;
    slider.setAttribute("aria-valuetext", stepName.textContent);
    caption.textContent = frame().caption;
    asked.textContent = frame().asked;
    help.textContent = (frame().states.length ? "Drag to pan; wheel after a click, + and − to zoom; 0 shows all. " : "") +
      "Tab, then arrow keys go from passage to passage; Enter or a click pins one, Escape lets go." +
      (many ? " On the step bar ← and → step; space plays and pauses." : "");
    drawGraph();
    drawColumns();
    mark();
    tell(pinned ?? current);
  }
  function drawReplay() {
    const before = replay?.nodes ?? {};
    [replay, looks, elements] = [model.get("replay"), model.get("looks"), new Map()];
    toggle(false);
    if (!(pinned in replay.nodes)) pinned = null;
    if (!(current in replay.nodes)) current = null;
    if (Object.keys(replay.nodes).some(id => !(id in before))) view = WHOLE; // other passages: show all of them
    question.textContent = replay.question;
    root.classList.toggle("kit-scaled", looks.scale !== null);
    legend.replaceChildren(...legendOf(looks, Object.values(replay.nodes).some(node => node.gold)));
    drawFrame();
  }
  function drawHeading() {
    heading.textContent = model.get("heading") ?? "";
  }
  function drawProblem() {
    problem.textContent = model.get("problem");
    problem.style.display = model.get("problem") ? "" : "none";
  }
  const resized = new ResizeObserver(() => {
    keepKeys(root);
    drawGraph();
  });
  model.on("change:replay", drawReplay);
  model.on("change:index", drawFrame);
  model.on("change:problem", drawProblem);
  model.on("change:heading", drawHeading);
  drawHeading();
  drawReplay();
  drawProblem();
  resized.observe(stage);
  return () => {
    clearInterval(timer);
    resized.disconnect();
    model.off("change:replay", drawReplay);
    model.off("change:index", drawFrame);
    model.off("change:problem", drawProblem);
    model.off("change:heading", drawHeading);
  };
}

export default { render };
