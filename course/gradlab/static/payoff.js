// A payoff in a notebook: its pictures come from the kernel, one for each message, and are kept. While it is in view, it
// asks for all pictures that one more movement could show, so that a slider answers at once; then the kernel rests.

export default () => {
  const pictures = new Map(), waiting = new Map(); // by places: HTML, and who waits for it

  function initialize({ model }) {
    pictures.set(model.get("controls").map((control) => control.at).join(), model.get("html"));
    model.on("msg:custom", ({ at, html }) => {
      pictures.set(at.join(), html);
      waiting.get(at.join())?.forEach((done) => done(html));
      waiting.delete(at.join());
    });
  }

  function render({ model, el }) {
    const controls = model.get("controls");
    let at = controls.map((control) => control.at), ahead = null, seen = false;
    const ask = (places, given, buffers) => {
      const key = places.join();
      if (pictures.has(key)) return pictures.get(key);
      return new Promise((done) => {
        if (waiting.has(key)) return waiting.get(key).push(done);
        waiting.set(key, [done]);
        model.send({ at: places, ...given }, undefined, buffers);
      });
    };
    // The places that one movement leads to, the nearest first.
    const around = () => controls
      .flatMap(({ values = [] }, k) => values.map((_, place) => ({ far: Math.abs(place - at[k]), places: at.with(k, place) })))
      .sort((one, other) => one.far - other.far);
    const prepare = async () => {
      const mine = (ahead = {});
      for (const { places } of around()) {
        await ask(places);
        if (ahead !== mine || !seen || !el.isConnected) return;
      }
      el.dataset.ready = at;
    };
    const find = async (places, given) => {
      at = places;
      ahead = null;
      const entered = given && { control: given.control, value: given.value ?? given.file.name };
      const html = await ask(places, entered, given?.file ? [await given.file.arrayBuffer()] : []);
      if (at === places) prepare();
      return html;
    };
    moving(el, { title: model.get("title"), controls, html: model.get("html"), find, copies: model.get("copies") });
    el.classList.add("gl-live", "gl-payoff");
    const dead = () => el.classList.add("jupyter-widgets-disconnected"); // looks.css then shows what was kept
    model.on("comm_live_update", dead); // the kernel has ended or restarts
    const observer = new IntersectionObserver((entries) => {
      seen = entries.at(-1).isIntersecting;
      if (seen) prepare();
    });
    observer.observe(el);
    return () => {
      observer.disconnect();
      model.off("comm_live_update", dead);
    };
  }

  return { initialize, render };
};
