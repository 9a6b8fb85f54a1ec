// Code cells that one can change and run in the page. The chapter's own checks run in Python, in a thread of its own.
import { onCanvas } from "./canvas.js";
import { defaultKeymap, history, historyKeymap, indentWithTab } from "@codemirror/commands";
import { python } from "@codemirror/lang-python";
import { bracketMatching, indentOnInput, indentUnit, syntaxHighlighting } from "@codemirror/language";
import { EditorState, Prec } from "@codemirror/state";
import { classHighlighter } from "@lezer/highlight";
import { drawSelection, EditorView, highlightActiveLine, keymap, lineNumbers } from "@codemirror/view";
import { moving } from "../../../../course/gradlab/static/moving.js";

const LIMIT_S = 30, PAYOFF = "application/vnd.gradlab.payoff+json";
const { name, cells, home: { above, below } } = JSON.parse(document.getElementById("site-write").textContent);
const KEY = `gradlab-write-${name}`;
const empty = () => ({ texts: {}, shown: {}, files: {} });
let kept = empty();
try { kept = { ...kept, ...JSON.parse(localStorage.getItem(KEY)) }; } catch { /* then it lasts as long as the page */ }
const keep = () => { try { localStorage.setItem(KEY, JSON.stringify(kept)); } catch { /* the browser keeps nothing */ } };

const made = (tag, properties = {}, ...children) => {
  const node = Object.assign(document.createElement(tag), properties);
  node.append(...children);
  return node;
};

// ----- Python -----

class Stopped extends Error {}

let worker, waiting = new Map(), number = 0, ready;

function call(call, given) {
  return new Promise((resolve, reject) => {
    waiting.set(++number, { resolve, reject });
    worker.postMessage({ id: number, call, given });
  });
}

function start() {
  ready ??= (async () => {
    worker = new Worker(new URL("./worker.js", import.meta.url), { type: "module" });
    worker.addEventListener("message", ({ data: { id, result, error } }) => {
      const { resolve, reject } = waiting.get(id);
      waiting.delete(id);
      if (error === undefined) resolve(result); else reject(new Error(error));
    });
    worker.addEventListener("error", (event) => stop(event.message || "Python could not be loaded."));
    const texts = ["ipynb", "record.json"].map((kind) => fetch(new URL(`./${name}.${kind}`, import.meta.url)).then((found) => {
      if (!found.ok) throw new Error(`${name}.${kind} could not be loaded (${found.status}).`);
      return found.text();
    }));
    const [notebook, record] = await Promise.all(texts);
    await call("start", { name, notebook, record, files: kept.files });
  })();
  return ready;
}

/** End Python and what it does; the next run starts it again, with the texts and results that were kept. */
function stop(reason) {
  worker?.terminate();
  for (const { reject } of waiting.values()) reject(new Stopped(reason));
  waiting.clear();
  stops++;
  ready = worker = undefined;
}

let last = Promise.resolve(), stops = 0;

/** Run a cell after those that are waiting; Stop sends home all that wait. */
function run(cell) {
  const before = stops;
  states.get(cell).replaceChildren("Waiting …");
  last = last.then(() => (before === stops ? runNow(cell) : states.get(cell).replaceChildren()));
}

async function runNow(cell) {
  const status = states.get(cell), halt = made("button", { type: "button", textContent: "Stop" });
  halt.onclick = () => stop("Stopped. Your text is kept.");
  const says = (text) => status.replaceChildren(text, " ", halt);
  let late, earned;
  try {
    if (!ready) says("Python is being loaded, about 9 MB, once …");
    await start();
    says("Running …");
    late = setTimeout(() => stop(`Stopped after ${LIMIT_S} seconds: is there a loop without an end? Your text is kept.`), 1000 * LIMIT_S);
    const sources = Object.fromEntries([...editors].map(([id, editor]) => [id, editor.state.doc.toString()]));
    const { outputs, files } = await call("run", { cell, sources });
    kept.files = files;
    for (const [id, list] of Object.entries(outputs)) show(id, list, id === cell);
    status.replaceChildren();
    const next = cells[cells.findIndex(({ id }) => id === cell) + 1];
    if (next?.kind === "payoff" && outs.get(cell).querySelector(".gl-card-passed")) earned = next.id;
  } catch (error) {
    if (!(error instanceof Stopped)) stop("");
    status.replaceChildren(error.message);
  } finally {
    clearTimeout(late);
    keep();
  }
  if (earned) await runNow(earned);
}

// ----- what cells display -----

const editors = new Map(), outs = new Map(), states = new Map();

function show(id, outputs, asked) {
  const out = outs.get(id);
  const nodes = [];
  for (const output of outputs) {
    if (output.update) {
      document.querySelectorAll(`[data-display="${CSS.escape(output.id)}"]`).forEach((node) => node.replaceChildren(...drawn(output)));
    } else {
      nodes.push(made("div", {}, ...drawn(output)));
      if (output.id) nodes.at(-1).dataset.display = output.id;
    }
  }
  if (!out) return;
  out.replaceChildren(...nodes);
  out.parentElement.querySelector(".cell_output, .site-frames:not(.site-out *)")?.remove();  // what the build recorded
  kept.shown[id] = out.querySelector(".site-frames") ? "" : out.innerHTML;
  if (asked && !out.querySelector(".site-frames")) out.scrollIntoView({ block: "nearest" });
}

function drawn({ stream, text, error, data }) {
  if (error) return [made("pre", { textContent: error, className: "site-error" })];
  if (stream) return [made("pre", { textContent: text, className: stream === "stderr" ? "site-error" : "" })];
  if (data[PAYOFF]) return [onCanvas(payoff(data[PAYOFF]))];
  const rich = data["text/html"] ?? data["image/svg+xml"];
  return rich === undefined ? [made("pre", { textContent: data["text/plain"] ?? "" })] : [made("div", { innerHTML: rich, className: "gl-output" })];
}

/** A payoff's picture under its controls; the worker draws each when it is first wanted. */
function payoff({ number, title, controls, html }) {
  const figure = made("div", { className: "site-frames" }), pictures = new Map();
  const find = (at) => {
    const key = at.join();
    if (!pictures.has(key)) pictures.set(key, call("move", { number, places: at }));
    return pictures.get(key);
  };
  moving(figure, { title, controls, html, find });
  return figure;
}

// ----- the page -----

/** The element of a cell: the first after its anchor that shows code, or a check. */
function place(id) {
  const anchor = document.getElementById(`cell-${id}`);
  const all = [...document.querySelectorAll("article .cell, article .site-check")];
  return all.find((node) => anchor?.compareDocumentPosition(node) & Node.DOCUMENT_POSITION_FOLLOWING);
}

function button(text, does) {
  return made("button", { type: "button", textContent: text, className: "site-run", onclick: does });
}

function editable(id, source, label, key) {
  const editor = new EditorView({
    state: EditorState.create({
      doc: kept.texts[id] ?? source,
      extensions: [
        Prec.highest(keymap.of([{ key: "Shift-Enter", run: () => { run(key); return true; } }])),
        keymap.of([...defaultKeymap, ...historyKeymap, indentWithTab]),
        lineNumbers(), history(), drawSelection(), indentOnInput(), bracketMatching(), highlightActiveLine(),
        indentUnit.of("    "), python(), syntaxHighlighting(classHighlighter), EditorView.lineWrapping,
        EditorView.contentAttributes.of({ "aria-label": label, spellcheck: "false", autocapitalize: "off" }),
        EditorView.updateListener.of((update) => {
          if (update.docChanged) { kept.texts[id] = update.state.doc.toString(); keep(); }
        }),
      ],
    }),
  });
  editors.set(id, editor);
  return editor.dom;
}

for (const { id, kind, source, exercise, check } of cells) {
  if (kind === "setup") continue;  // it runs before the first cell that needs it
  const home = place(id);
  const out = made("div", { className: "site-out" }), state = made("p", { className: "site-state" });
  state.setAttribute("role", "status");
  outs.set(id, out);
  if (kind !== "check") states.set(id, state);  // a check's is its answer's
  out.innerHTML = kept.shown[id] ?? "";
  if (kind === "answer") {
    const again = button("Start over", () => {
      if (!confirm(`Put the released text of ${exercise} back? Yours will be gone.`)) return;
      const editor = editors.get(id);
      editor.dispatch({ changes: { from: 0, to: editor.state.doc.length, insert: source } });
      delete kept.texts[id];
      keep();
    });
    states.set(check, state);
    home.replaceChildren(editable(id, source, `Your answer to ${exercise}. Shift+Enter checks it; Escape, then Tab leaves it.`, check),
      made("p", { className: "site-buttons" }, button("Check (Shift+Enter)", () => run(check)), again), state, out);
  } else if (kind === "check") {
    home.querySelectorAll("p:not(:first-child), div.highlight-default, pre").forEach((node) => node.remove());
    home.append(out);
  } else if (kind === "payoff") {
    home.replaceChildren(made("p", { className: "site-buttons" }, button("Show it with my answer", () => run(id))), state, out, ...home.childNodes);
  } else {
    const old = home.querySelector(".cell_output");
    home.replaceChildren(editable(id, source, "Code. Shift+Enter runs it; Escape, then Tab leaves it.", id),
      made("p", { className: "site-buttons" }, button("Run (Shift+Enter)", () => run(id))), state, out);
    if (old && !kept.shown[id]) out.append(old);
  }
}

const takeHome = button("Take it home", () => {
  const answers = cells.filter(({ kind }) => kind === "answer").map(({ id, exercise }) =>
    `# %% Exercise ${exercise}\n${editors.get(id).state.doc.toString().trim()}`);
  const text = [above, ...answers, `# %% Run it\n${below}`].join("\n\n\n");  // `make lab ANSWERS=` reads it
  const link = made("a", { href: URL.createObjectURL(new Blob([text], { type: "text/x-python" })), download: `${name.slice(3)}.py` });
  link.click();
  URL.revokeObjectURL(link.href);
});
const clear = button("Forget everything", () => {
  if (!confirm("Put the released text of all cells back and forget your results? This cannot be undone.")) return;
  localStorage.removeItem(KEY);
  location.reload();
});
document.getElementById("site-write").after(made("p", { className: "site-buttons" }, takeHome, clear));
