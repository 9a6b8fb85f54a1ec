// A picture under its controls: a payoff in a notebook, and on the site. The page that uses it says where a picture comes from.

const FRAME_MS = 90; // between two pictures while a slider plays

/**
 * Fill `el`. title: a sentence, if there is none above. controls: a list of {name, kind, values, at}. A slider or list has a place among its `values`, which are
 * texts; a tick has the values no and yes. The place of a text, file or drawing is when it was entered. html: the start's picture.
 * find(at, given): returns the picture for these places, as HTML or a promise of it. `given`, if something was entered,
 * is {control, value} or {control, file}. copies: the words of a button that copies the picture: {copy, copied, refused}, none
 * without it.
 */
export function moving(el, { title, controls, html, find, copies }) {
  const make = (tag, attributes = {}, ...children) => {
    const node = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
    node.append(...children);
    return node;
  };
  const own = { "data-lm-suppress-shortcuts": "true" }; // otherwise JupyterLab takes keys that are meant for the control
  const at = controls.map((control) => control.at);
  const frame = make("div", { class: "gl-frame" }), bar = make("div", { class: "gl-controls" });
  frame.innerHTML = html;
  let wanted = 0;
  const show = async (given) => {
    const number = ++wanted, next = make("div");
    try {
      next.innerHTML = await find([...at], given);
    } catch {
      return; // the picture stays
    }
    await Promise.all([...next.querySelectorAll("img")].map((image) => image.decode().catch(() => {}))); // no flicker
    if (number === wanted) frame.replaceChildren(...next.childNodes);
  };

  const slider = (k, { name, values, play: moves }) => {
    const input = make("input", { ...own, type: "range", min: 0, max: values.length - 1, step: 1 });
    const output = make("output"), play = make("button", { ...own, type: "button", class: "gl-play", "aria-label": moves });
    const set = (place) => {
      input.value = at[k] = place;
      output.textContent = values[place];
      input.setAttribute("aria-valuetext", values[place]);
    };
    let playing = null;
    const stop = () => {
      playing = null;
      play.textContent = "▶";
      play.setAttribute("aria-pressed", "false");
    };
    const run = async () => {
      const mine = (playing = {});
      play.textContent = "⏸";
      play.setAttribute("aria-pressed", "true");
      for (let place = at[k] === values.length - 1 ? 0 : at[k]; place < values.length; place++) {
        set(place);
        await Promise.all([show(), new Promise((done) => setTimeout(done, FRAME_MS))]);
        if (playing !== mine || !el.isConnected) return;
      }
      stop();
    };
    input.addEventListener("input", () => { stop(); set(+input.value); show(); });
    play.addEventListener("click", () => (playing ? stop() : run()));
    set(at[k]);
    stop();
    return [make("label", {}, name, input), output, play];
  };
  const list = (k, { name, values }) => {
    const input = make("select", own, ...values.map((value) => new Option(value)));
    input.selectedIndex = at[k];
    input.addEventListener("change", () => { at[k] = input.selectedIndex; show(); });
    return [make("label", {}, name, input)];
  };
  const tick = (k, { name }) => {
    const input = make("input", { ...own, type: "checkbox" });
    input.checked = at[k] === 1;
    input.addEventListener("change", () => { at[k] = +input.checked; show(); });
    return [make("label", {}, input, name)];
  };
  const text = (k, { name, value }) => {
    const input = make("input", { ...own, type: "text", autocomplete: "off" });
    input.value = value;
    input.addEventListener("change", () => { at[k] = Date.now(); show({ control: k, value: input.value }); });
    return [make("label", {}, name, input)];
  };
  const file = (k, { name, accept }) => {
    const input = make("input", { type: "file", accept, hidden: "" }), button = make("button", { ...own, type: "button" }, name);
    button.addEventListener("click", () => input.click());
    input.addEventListener("change", () => {
      if (!input.files.length) return;
      at[k] = Date.now();
      show({ control: k, file: input.files[0] });
    });
    return [button, input];
  };
  const drawing = (k, { name, clear: clears }) => {
    const canvas = make("canvas", { width: 168, height: 168, class: "gl-drawing", role: "img", "aria-label": name });
    const clear = make("button", { ...own, type: "button" }, clears), pen = canvas.getContext("2d");
    let strokes = [];
    const enter = () => { at[k] = Date.now(); show({ control: k, value: strokes }); };
    const extend = ({ clientX, clientY }) => {
      const { left, top, width, height } = canvas.getBoundingClientRect(), stroke = strokes.at(-1);
      stroke.push([(clientX - left) / width, (clientY - top) / height].map((part) => +part.toFixed(3)));
      Object.assign(pen, { lineWidth: 12, lineCap: "round", lineJoin: "round", strokeStyle: getComputedStyle(canvas).color });
      pen.beginPath();
      for (const [x, y] of [stroke.at(-2) ?? stroke[0], stroke.at(-1)]) pen.lineTo(x * canvas.width, y * canvas.height);
      pen.stroke();
    };
    canvas.addEventListener("pointerdown", (event) => {
      event.preventDefault();
      canvas.setPointerCapture(event.pointerId);
      strokes = [...strokes, []];
      extend(event);
    });
    canvas.addEventListener("pointermove", (event) => { if (canvas.hasPointerCapture(event.pointerId)) extend(event); });
    canvas.addEventListener("lostpointercapture", enter);
    clear.addEventListener("click", () => {
      strokes = [];
      pen.clearRect(0, 0, canvas.width, canvas.height);
      enter();
    });
    return [make("span", {}, name), canvas, clear];
  };
  const kinds = { slider, list, tick, text, file, drawing };
  controls.forEach((control, k) => bar.append(make("span", { class: "gl-control" }, ...kinds[control.kind](k, control))));
  if (copies?.copy) {
    const button = make("button", { ...own, type: "button" }, copies.copy), said = make("span", { role: "status" });
    button.addEventListener("click", async () => {
      try {
        const blob = fetch(frame.querySelector("img").src).then((reply) => reply.blob());
        await navigator.clipboard.write([new ClipboardItem({ "image/png": blob })]);
        said.textContent = copies.copied;
      } catch {
        said.textContent = copies.refused;
      }
    });
    bar.append(make("span", { class: "gl-control" }, button, said));
  }
  el.append(...(title ? [make("p", { class: "gl-title" }, title)] : []), bar, frame);
}
