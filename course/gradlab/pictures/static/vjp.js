(script, {rows, v, outputs, most, words, css}) => {
  const root = script.parentElement, image = root.querySelector("img");
  if (!image) return;
  const make = (tag, attributes = {}, ...inside) => {
    const element = document.createElement(tag);
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
    element.append(...inside);
    return element;
  };
  const own = {"data-lm-suppress-shortcuts": "true"};  // else JupyterLab's shortcuts take the keys
  const view = make("div");
  view.innerHTML = new TextDecoder().decode(Uint8Array.from(atob(image.src.split(",")[1]), c => c.charCodeAt(0)));
  view.firstElementChild.classList.add("gl-live");
  const said = make("div", {"aria-live": "polite", class: "gl-result"});
  const write = x => {
    if (!x) return "0";
    const text = Math.abs(x) >= 1e5 || Math.abs(x) < 1e-4 ? x.toExponential(2) : String(+x.toPrecision(4));
    return text.replace("-", "−");
  };
  const paint = (key, x, most) => {
    const cell = view.querySelector(`[data-key="${key}"]`), rect = cell.querySelector("rect");
    cell.querySelector("text").textContent = write(x);
    rect.setAttribute("class", x < 0 ? "gl-neg" : "gl-pos");
    rect.setAttribute("fill-opacity", 0.75 * Math.min(1, Math.abs(x) / most));
  };
  const end = Math.max(2, ...v.map(Math.abs));
  const sliders = v.map((value, k) => make("input",
    {...own, type: "range", min: -end, max: end, step: 0.1, value, "aria-label": words.sliders[k]}));
  const shown = v.map(() => make("output"));
  const set = values => { values.forEach((value, k) => { v[k] = value; sliders[k].value = value; }); show(); };
  const show = () => {
    v.forEach((value, i) => {
      paint(`v${i},0`, value, 2);
      shown[i].textContent = write(value);
      rows[i].forEach((_, j) => view.querySelector(`[data-key="J${i},${j}"]`).classList.toggle("gl-off", value === 0));
    });
    const product = rows[0].map((_, j) => rows.reduce((sum, row, i) => sum + v[i] * row[j], 0));
    product.forEach((x, j) => paint(`p0,${j}`, x, most));
    said.textContent = `vᵀJ = [${product.map(write).join(", ")}]`;
  };
  const choice = (text, values) => {
    const button = make("button", {...own, type: "button"}, text);
    button.onclick = () => set(values);
    return button;
  };
  sliders.forEach((slider, k) => { slider.oninput = () => { v[k] = +slider.value; show(); }; });
  rows.forEach((row, i) => row.forEach((_, j) => {
    view.querySelector(`[data-key="J${i},${j}"]`).onclick = () => set(v.map((_, k) => +(k === i)));
  }));
  const panel = make("div", {role: "group", "aria-label": words.panel},
    ...sliders.map((slider, k) => make("label", {}, outputs[k], slider, shown[k])),
    ...words.only.map((text, k) => choice(text, v.map((_, i) => +(i === k)))),
    choice(words.ones, v.map(() => 1)), said);
  image.replaceWith(make("style", {}, css), panel, view);
  show();
}
