// A payoff in a page: sliders and lists that choose among pictures made when the site was built.
import { moving } from "./moving.js";

for (const figure of document.querySelectorAll(".site-frames")) {
  const controls = JSON.parse(figure.querySelector("script").textContent);
  let frames;
  const find = async (at) => {
    frames ??= fetch(figure.dataset.frames).then((reply) => reply.json());
    return (await frames)[controls.reduce((place, { values }, k) => place * values.length + at[k], 0)];
  };
  const still = figure.querySelector(".gl-frame"), live = document.createElement("div");
  moving(live, { controls, html: still.innerHTML, find });
  still.replaceWith(live);
}
