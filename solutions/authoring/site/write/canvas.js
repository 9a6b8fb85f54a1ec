// A map of numbers (gradlab's `plane`), drawn on a canvas: smooth, with its boundary as a line, and quick enough to move.
const BLUE = [59, 130, 214], ORANGE = [232, 128, 26], SIDE = 280, FINE = 2;

/** Return the payoff; if it shows a map, on a canvas, whose first slider plays: a network trains before one's eyes. */
export function onCanvas(figure) {
  const frame = figure.querySelector(".gl-frame"), still = matchMedia("(prefers-reduced-motion: reduce)");
  draw(frame);
  new MutationObserver(() => draw(frame)).observe(frame, { childList: true });
  if (frame.querySelector("canvas") && !still.matches) setTimeout(train, 0, figure);
  return figure;
}

function train(figure) {
  const slider = figure.querySelector("[type=range]");
  slider.value = slider.min;
  slider.dispatchEvent(new Event("input"));
  figure.querySelector("[aria-label^=Play]").click();
}

function draw(frame) {
  const data = frame.querySelector("svg > [data-plane]"), svg = data?.parentElement;
  if (!data) return;
  const title = document.createElement("p"), canvas = document.createElement("canvas"), side = SIDE * FINE;
  title.textContent = svg.querySelector(".gl-t").textContent;
  canvas.width = canvas.height = side;
  canvas.setAttribute("role", "img");
  canvas.setAttribute("aria-label", svg.getAttribute("aria-label"));
  const { rows, points } = JSON.parse(data.dataset.plane);
  const context = canvas.getContext("2d"), image = context.createImageData(side, side);
  /** The two tiles between which a pixel lies, and how far it is on the way to the second. */
  const between = (pixel) => {
    const at = (pixel / side) * rows.length - 0.5, first = Math.min(rows.length - 2, Math.max(0, Math.floor(at)));
    return [first, at - first];
  };
  for (let y = 0, place = 0; y < side; y++) {
    const [i, down] = between(y);
    for (let x = 0; x < side; x++, place += 4) {
      const [j, right] = between(x);
      const across = (row) => row[j] + right * (row[j + 1] - row[j]);
      const value = across(rows[i]) + down * (across(rows[i + 1]) - across(rows[i]));
      image.data.set(value > 0 ? BLUE : ORANGE, place);
      image.data[place + 3] = Math.abs(value) < 3 ? 255 : 40 + 1.6 * Math.abs(value);  // the boundary is a line
    }
  }
  context.putImageData(image, 0, 0);
  context.lineWidth = 2 * FINE;
  context.strokeStyle = getComputedStyle(frame).color;
  for (const [x, y, wanted] of points) {
    context.fillStyle = `rgb(${wanted > 0 ? BLUE : ORANGE})`;
    context.beginPath();
    context.arc((side * (1 + x)) / 2, (side * (1 - y)) / 2, 9 * FINE, 0, 2 * Math.PI);
    context.fill();
    context.stroke();
  }
  frame.replaceChildren(title, canvas);
}
