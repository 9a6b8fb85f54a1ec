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
  const rows = model.get("blanks").map(({ label, options }, k) => {
    const id = `${key}-${k}`;
    if (options.length && !label) {
      const group = make("div", { role: "radiogroup", "aria-label": model.get("question"), class: "gl-options" });
      options.forEach((option, n) => {
        const radio = make("input", { ...own, type: "radio", name: id, id: `${id}-${n}`, value: option });
        group.append(make("label", { for: `${id}-${n}` }, radio, option));
      });
      fields.push({
        read: () => group.querySelector("input:checked")?.value ?? "",
        node: group.querySelector("input"),
      });
      return group;
    }
    const field = options.length
      ? make("select", { ...own, id }, make("option", { value: "" }, "choose"), ...options.map((o) => make("option", { value: o }, o)))
      : make("input", { ...own, id, type: "text", size: "8", autocomplete: "off", inputmode: "text", spellcheck: "false" });
    field.setAttribute("aria-describedby", `${key}-problem`);
    fields.push({ read: () => field.value, node: field });
    return make("div", { class: "gl-blank" }, make("label", { for: id }, label), field);
  });
  const sure = make("input", { ...own, type: "checkbox", id: `${key}-sure` });
  const problem = make("p", { class: "gl-problem", id: `${key}-problem`, role: "alert" });
  const form = make("form", { novalidate: "" },
    make("fieldset", {}, make("legend", {}, model.get("question")),
      make("div", { class: model.get("blanks").some((b) => b.options.length) ? "gl-blanks gl-lines" : "gl-blanks" }, ...rows)),
    problem,
    make("div", { class: "gl-end" },
      make("label", { for: `${key}-sure` }, sure, "I am sure"),
      make("button", { ...own, type: "submit", class: "gl-main" }, "Compare with torch"),
      make("button", { ...own, type: "button", class: "gl-skip" }, "Show it without a guess")));
  const said = make("div", { role: "status", "aria-live": "polite", tabindex: "-1", class: "gl-status" });
  const again = make("button", { ...own, type: "button", class: "gl-again" }, "Guess again");
  el.append(form, said, again);
  el.classList.add("gl-guess");

  const nextCell = () => el.closest(".jp-Cell")?.nextElementSibling; // in JupyterLab

  form.addEventListener("submit", (event) => {
    event.preventDefault();
    model.send({ texts: fields.map((field) => field.read()), sure: sure.checked });
  });
  form.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && !event.shiftKey && !event.ctrlKey && event.target.matches("select, [type=radio], [type=checkbox]")) {
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
    if (fold?.querySelector("summary").textContent === "What happened, and why") fold.open = true;
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
  complain();
  settle(false);
  requestAnimationFrame(() => {
    if (!model.get("verdict") && wasJustRun()) fields[0].node.focus();
  });
  return () => {
    model.off("change:problem", onProblem);
    model.off("change:verdict", onVerdict);
  };
}

export default { render };
