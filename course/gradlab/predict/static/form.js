/* The form of a prediction. It sends all fields in one message, so that the last input is not lost. */
function render({ model, el }) {
  const make = (tag, attributes = {}, ...children) => {
    const node = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
    node.append(...children);
    return node;
  };
  const own = { "data-lm-suppress-shortcuts": "true" }; // otherwise JupyterLab takes keys that are meant for the field
  const key = `gl-${Math.random().toString(36).slice(2)}`;
  const fields = [];
  const blanks = model.get("blanks"), question = model.get("question"), words = model.get("words");
  const filled = (text, values) => text.replace(/\{(\w+)\}/g, (whole, name) => values[name] ?? whole);
  const typed = (label, id) => {
    const field = make("input", { ...own, id, type: "text", size: "8", autocomplete: "off", inputmode: "text", spellcheck: "false" });
    field.setAttribute("aria-describedby", `${key}-problem`);
    fields.push({ read: () => field.value, node: field });
    return make("div", { class: "gl-blank" }, make("label", { for: id }, label), field);
  };
  // One choice: the options below each other; a line of several: a row of buttons. A digit chooses, and goes to the next line.
  const chosen = (label, id, options) => {
    const group = make("div", { role: "radiogroup", "aria-label": label || question, class: label ? "gl-toggles" : "gl-options" });
    const radios = options.map((option, n) => {
      const radio = make("input", { ...own, type: "radio", name: id, id: `${id}-${n}`, value: option, "aria-keyshortcuts": n + 1 });
      group.append(make("label", { for: `${id}-${n}` }, radio, make("span", { class: "gl-key", "aria-hidden": "true" }, n + 1), option));
      return radio;
    });
    group.addEventListener("keydown", ({ key, altKey, ctrlKey, metaKey }) => {
      const radio = !altKey && !ctrlKey && !metaKey && radios[key - 1];
      if (!radio) return;
      radio.checked = true;
      const at = fields.findIndex(({ node }) => node === radios[0]);
      (fields[at + 1]?.node ?? radio).focus();
    });
    fields.push({ read: () => radios.find((radio) => radio.checked)?.value ?? "", node: radios[0] });
    return label ? make("div", { class: "gl-blank" }, make("span", { class: "gl-line", "aria-hidden": "true" }, label), group) : group;
  };
  // An order: its events are dragged, or moved by their buttons or the arrow keys.
  const ordered = () => {
    const list = make("ol", { class: "gl-order" }), moved = make("p", { class: "gl-moved", role: "status" });
    const go = (item, before) => {
      list.insertBefore(item, before);
      moved.textContent = filled(words.moved, { event: item.dataset.event, place: blanks[[...list.children].indexOf(item)].label });
    };
    const shift = (item, by, focus) => {
      const next = by < 0 ? item.previousElementSibling : item.nextElementSibling;
      if (next) go(item, by < 0 ? next : next.nextElementSibling);
      focus.focus();
    };
    for (const event of blanks[0].options) {
      const buttons = [[-1, "↑", words.earlier], [1, "↓", words.later]].map(([by, mark, text]) => {
        const button = make("button", { ...own, type: "button", "aria-label": filled(text, { event }) }, mark);
        button.addEventListener("click", () => shift(button.closest("li"), by, button));
        return button;
      });
      const item = make("li", { "data-event": event }, make("span", {}, event), ...buttons);
      item.addEventListener("keydown", (pressed) => {
        const by = { ArrowUp: -1, ArrowDown: 1 }[pressed.key];
        if (!by) return;
        pressed.preventDefault();
        shift(item, by, pressed.target);
      });
      item.addEventListener("pointerdown", (down) => {
        if (down.button || down.target.closest("button")) return;
        const until = new AbortController(), { signal } = until;
        item.classList.add("gl-held");
        document.addEventListener("pointermove", ({ clientY }) => {
          const middle = (one) => (one.getBoundingClientRect().top + one.getBoundingClientRect().bottom) / 2;
          for (let one; (one = item.previousElementSibling) && clientY < middle(one);) go(item, one);
          for (let one; (one = item.nextElementSibling) && clientY > middle(one);) go(item, one.nextElementSibling);
        }, { signal });
        for (const end of ["pointerup", "pointercancel"]) document.addEventListener(end, () => {
          item.classList.remove("gl-held");
          until.abort();
        }, { signal });
      });
      list.append(item);
    }
    fields.push(...blanks.map((_, k) => ({
      read: () => list.children[k].dataset.event,
      get node() { return list.children[k].querySelector("button"); },
    })));
    return [list, moved];
  };
  const rows = model.get("distinct") ? ordered() : blanks.map(({ label, options }, k) =>
    options.length ? chosen(label, `${key}-${k}`, options) : typed(label, `${key}-${k}`));
  const sure = make("input", { ...own, type: "checkbox", id: `${key}-sure` });
  const problem = make("p", { class: "gl-problem", id: `${key}-problem`, role: "alert" });
  const form = make("form", { novalidate: "" },
    make("fieldset", {}, make("legend", {}, question),
      make("div", { class: blanks.some((b) => b.options.length) ? "gl-blanks gl-lines" : "gl-blanks" }, ...rows)),
    problem,
    make("div", { class: "gl-end" },
      make("label", { for: `${key}-sure` }, sure, words.sure),
      make("button", { ...own, type: "submit", class: "gl-main" }, words.compare),
      make("button", { ...own, type: "button", class: "gl-skip" }, words.skip)));
  const said = make("div", { role: "status", "aria-live": "polite", tabindex: "-1", class: "gl-status" });
  const again = make("button", { ...own, type: "button", class: "gl-again" }, words.again);
  el.append(form, said, again);
  el.classList.add("gl-guess");

  const nextCell = () => el.closest(".jp-Cell")?.nextElementSibling; // in JupyterLab

  form.addEventListener("submit", (event) => {
    event.preventDefault();
    model.send({ texts: fields.map((field) => field.read()), sure: sure.checked });
  });
  form.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && !event.shiftKey && !event.ctrlKey && event.target.matches("[type=radio], [type=checkbox]")) {
      event.preventDefault();
      form.requestSubmit();
    }
    const following = event.key === "Enter" && event.shiftKey && nextCell();
    if (following) {
      event.preventDefault(); // Shift+Enter moves on; it does not ask again
      following.focus();
    }
    if (following || !(event.key === "Enter" && (event.shiftKey || event.ctrlKey))) event.stopPropagation();
  });
  form.querySelector(".gl-skip").addEventListener("click", () => model.send({ skip: true }));
  again.addEventListener("click", () => {
    form.reset();
    model.send({ again: true });
  });

  const complain = () => {
    const { blank, sentence } = model.get("problem");
    problem.textContent = sentence ?? "";
    fields.forEach((field, k) => field.node.setAttribute("aria-invalid", String(!!sentence && k === blank)));
    if (sentence) fields[blank].node.focus();
  };
  const settle = (moves) => {
    const verdict = model.get("verdict");
    el.classList.toggle("gl-live", !verdict);
    el.classList.toggle("gl-said", !!verdict);
    form.hidden = !!verdict;
    again.hidden = !verdict;
    said.innerHTML = verdict;
    if (moves) (verdict ? nextCell() ?? said : fields[0].node).focus({ preventScroll: !!verdict });
  };
  // A wrong guess opens the explanation below it; a live region has said the verdict, so the keyboard can be there, too.
  const explain = () => {
    const fold = said.querySelector(".gl-some-wrong") && nextCell()?.querySelector("details");
    if (fold) fold.open = true;
  };
  // After Shift+Enter the focus is on the next cell, after Ctrl+Enter on this one, after Run All on the last.
  const wasJustRun = () => {
    const cell = el.closest(".jp-Cell");
    return !!cell && [cell, cell.nextElementSibling].includes(document.activeElement);
  };
  const onProblem = () => complain();
  const onVerdict = () => {
    settle(el.contains(document.activeElement));
    explain();
  };
  model.on("change:problem", onProblem);
  model.on("change:verdict", onVerdict);
  const dead = () => el.classList.add("jupyter-widgets-disconnected"); // looks.css then shows what was kept
  model.on("comm_live_update", dead); // the kernel has ended or restarts
  complain();
  settle(false);
  requestAnimationFrame(() => {
    if (!model.get("verdict") && wasJustRun()) fields[0].node.focus();
  });
  return () => {
    model.off("change:problem", onProblem);
    model.off("change:verdict", onVerdict);
    model.off("comm_live_update", dead);
  };
}

export default { render };
