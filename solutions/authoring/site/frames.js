// A payoff in a page: sliders and lists that choose among pictures made when the site was built.
for (const figure of document.querySelectorAll(".site-frames")) {
  const controls = JSON.parse(figure.querySelector("script").textContent), frame = figure.querySelector(".site-frame");
  const at = controls.map((control) => control.at);
  let frames;
  const show = async () => {
    frames ??= fetch(figure.dataset.frames).then((reply) => reply.json());
    const all = await frames;
    frame.innerHTML = all[controls.reduce((place, { values }, k) => place * values.length + at[k], 0)];
  };
  const fields = controls.map(({ name, values }, k) => {
    const numbers = values.every((value) => Number.isFinite(+value));
    const field = document.createElement(numbers ? "input" : "select"), output = document.createElement("output");
    const moved = () => { at[k] = +field.value; if (numbers) { output.value = values[at[k]]; field.setAttribute("aria-valuetext", values[at[k]]); } };
    if (numbers) Object.assign(field, { type: "range", min: 0, max: values.length - 1, step: 1 });
    else field.append(...values.map((value, n) => new Option(value, n)));
    field.value = at[k];
    moved();
    field.addEventListener("input", () => { moved(); show(); });
    const label = document.createElement("label");
    label.append(`${name} `, field, ...(numbers ? [output] : []));
    return label;
  });
  const bar = document.createElement("div");
  bar.className = "site-controls";
  bar.append(...fields);
  frame.before(bar);
}
