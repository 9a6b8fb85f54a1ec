/* Names the sliders beside it: ipywidgets writes a slider's name next to it, where a screen reader does not look. */
function render({ el }) {
  el.hidden = true;
  let live, frame;
  const name = () => {
    for (const slider of live.querySelectorAll(".widget-slider")) {
      for (const part of slider.querySelectorAll("[role=slider], .widget-readout")) {
        const text = slider.querySelector(".widget-label").textContent;
        if (part.getAttribute("aria-label") !== text) part.setAttribute("aria-label", text);
        part.setAttribute("data-lm-suppress-shortcuts", "true"); // else JupyterLab takes the left arrow
      }
    }
  };
  const observer = new MutationObserver(name);
  const begin = () => {
    live = el.isConnected && el.closest(".gl-live"); // a cell out of view is not in the page
    if (!live) return (frame = requestAnimationFrame(begin));
    observer.observe(live, { childList: true, subtree: true });
    name();
  };
  begin();
  return () => {
    cancelAnimationFrame(frame);
    observer.disconnect();
  };
}

export default { render };
