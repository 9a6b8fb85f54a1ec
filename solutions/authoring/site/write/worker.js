// The thread in which Python runs, so that an endless loop can be stopped: the page ends the thread and starts another.
import { loadPyodide } from "./pyodide/pyodide.mjs";

let page, python;

const calls = {
  async start({ name, notebook, record, files }) {
    const from = (path) => fetch(new URL(path, import.meta.url)).then(async (found) => {
      if (!found.ok) throw new Error(`${path} could not be loaded (${found.status}).`);
      return new Uint8Array(await found.arrayBuffer());
    });
    let code, compiled;
    [python, code, compiled] = await Promise.all([
      loadPyodide({ indexURL: new URL("./pyodide/", import.meta.url).href }), from("python.zip"), from("compiled.zip"),
    ]);
    for (const packed of [code, compiled]) python.unpackArchive(packed, "zip", { extractDir: "/python" });
    python.runPython("import sys\nsys.path.insert(0, '/python')");
    page = python.pyimport("kernel").Page(name, notebook, record, python.toPy(files));
    return null;
  },
  run: ({ cell, sources }) => JSON.parse(page.run(cell, python.toPy(sources))),
  move: ({ number, places }) => page.move(number, JSON.stringify(places)),
};

addEventListener("message", async ({ data: { id, call, given } }) => {
  try {
    postMessage({ id, result: await calls[call](given) });
  } catch (error) {
    postMessage({ id, error: String(error.message ?? error) });
  }
});
