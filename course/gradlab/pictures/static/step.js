(script, {words, steps, tall, css}) => {
  const root = script.parentElement, image = root.querySelector("img");
  if (!image) return;
  root.querySelector(".gl-still")?.remove();
  const make = (tag, attributes = {}, ...inside) => {
    const element = document.createElement(tag);
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
    element.append(...inside);
    return element;
  };
  const filled = (text, values) => text.replace(/\{(\w+)\}/g, (whole, name) => values[name] ?? whole);
  // JupyterLab's shortcuts would take the keys; the attribute must stand on the element that has the focus.
  const own = {"data-lm-suppress-shortcuts": "true"};
  const first = make("button", {...own, type: "button"}, words.start);
  const back = make("button", {...own, type: "button"}, words.back);
  const play = make("button", {...own, type: "button"}, words.play);
  const next = make("button", {...own, type: "button"}, words.next);
  const slider = make("input", {...own, type: "range", min: 0, max: steps.length, value: 0, "aria-label": words.slider});
  const count = make("output");
  const view = make("div", {class: "gl-view"});
  const said = make("div", {class: "gl-said", "aria-live": "polite"});
  view.innerHTML = new TextDecoder().decode(Uint8Array.from(atob(image.src.split(",")[1]), c => c.charCodeAt(0)));
  if (root.clientWidth < 0.7 * view.firstChild.getAttribute("width")) view.innerHTML = tall;  // from left to right, it would be too small
  const svg = view.querySelector("svg");
  svg.classList.add("gl-live");
  image.replaceWith(
    make("style", {}, css),
    make("div", {class: "gl-bar", role: "group", "aria-label": words.stepper}, first, back, play, next, slider, count),
    make("div", {class: "gl-stage"}, view, said));

  const nodes = [...svg.querySelectorAll("[data-node]")], edges = [...svg.querySelectorAll("[data-from]")];
  const when = new Map(steps.map((step, k) => [step.node, k + 1]));
  let at = 0, timer = null;

  const row = (term, text, formula) => {
    const code = make("span", {class: "gl-code"}, formula ? `${formula} = ${text}` : text);
    return make("div", {class: "gl-row"}, make("span", {}, term), code);
  };
  const tell = () => {
    if (!at) return [make("div", {class: "gl-head"}, words.before), words.ran];
    const step = steps[at - 1], rows = [];
    step.arrives.forEach((g, k) => rows.push(row(step.arrives.length > 1 ? filled(words.output, {number: k}) : words.arrives, `g = ${g}`)));
    if (step.leaf) {
      rows.push(row(words.was, step.before), row(words.is, step.after));
    } else {
      if (step.saved.length) rows.push(row(words.saved, step.saved.join(", ")));
      for (const sent of step.sends) rows.push(row(filled(words.to, {node: sent.to}), sent.value, sent.formula));
      if (step.freed.length) rows.push(row(words.frees, step.freed.join(", ")));
    }
    if (step.outstanding) rows.push(row(words.outstanding, step.outstanding));
    return [make("div", {class: "gl-head"}, step.title), make("div", {class: "gl-told"}, ...rows)];
  };
  const show = () => {
    const held = document.activeElement;  // a button that is switched off loses the keyboard to the page
    for (const g of nodes) {
      const k = when.get(+g.dataset.node);
      g.classList.toggle("gl-now", k === at && at > 0);
      g.classList.toggle("gl-done", k < at);
    }
    for (const g of edges) {
      const k = when.get(+g.dataset.from), cold = g.classList.contains("gl-cold");
      g.classList.toggle("gl-now", !cold && k === at && at > 0);
      g.classList.toggle("gl-done", !cold && k < at);
    }
    const title = at ? steps[at - 1].title : words.before;
    slider.value = at;
    slider.setAttribute("aria-valuetext", filled(words.at, {step: at, steps: steps.length, title}));
    count.textContent = `${at} / ${steps.length}`;
    first.disabled = back.disabled = at === 0;
    next.disabled = at === steps.length;
    if ([first, back, next].some(button => button.disabled && button === held)) slider.focus({preventScroll: true});
    said.replaceChildren(...tell());
    for (const dot of svg.querySelectorAll(".gl-dot")) dot.remove();
  };
  const still = matchMedia("(prefers-reduced-motion: reduce)");
  const travel = () => {  // a dot goes along each edge on which the node sends a gradient
    const begin = performance.now();
    for (const edge of still.matches ? [] : svg.querySelectorAll(".gl-e.gl-now")) {
      const line = edge.querySelector("path"), dot = document.createElementNS(svg.namespaceURI, "circle");
      const move = now => {
        const part = Math.min(1, Math.max(0, now - begin) / 700), {x, y} = line.getPointAtLength(part * line.getTotalLength());
        dot.setAttribute("cx", x);
        dot.setAttribute("cy", y);
        if (part === 1) dot.remove();
        else if (dot.isConnected) requestAnimationFrame(move);
      };
      dot.setAttribute("class", "gl-dot");
      dot.setAttribute("r", 6);
      edge.append(dot);
      move(begin);
    }
  };
  const go = k => {
    const before = at;
    at = Math.max(0, Math.min(steps.length, k));
    show();
    if (at !== before) svg.querySelector(".gl-n.gl-now")?.scrollIntoView({block: "nearest"});
    if (at === before + 1) travel();
  };
  const stop = () => { clearInterval(timer); timer = null; play.textContent = words.play; };
  const start = () => {
    if (at === steps.length) go(0);
    play.textContent = words.pause;
    timer = setInterval(() => { go(at + 1); if (at === steps.length || !root.isConnected) stop(); }, 900);
  };
  const toggle = () => timer ? stop() : start();
  first.onclick = () => { stop(); go(0); };
  back.onclick = () => { stop(); go(at - 1); };
  next.onclick = () => { stop(); go(at + 1); };
  play.onclick = toggle;
  slider.oninput = () => { stop(); go(+slider.value); };
  slider.onkeydown = event => { if (event.key === " ") { event.preventDefault(); toggle(); } };
  for (const g of nodes) g.onclick = () => {
    const k = when.get(+g.dataset.node);
    if (k) { stop(); go(k); slider.focus({preventScroll: true}); }
  };
  root.addEventListener("keydown", event => {  // the slider moves by itself; from the buttons the arrows step too
    const by = {ArrowRight: 1, ArrowLeft: -1}[event.key];
    if (!by || event.target === slider) return;
    event.preventDefault();
    event.stopPropagation();
    stop();
    go(at + by);
  });
  show();
}
