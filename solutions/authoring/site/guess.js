// Predictions in a page: form.js asks, as in a notebook, and this stands in for the kernel. It judges a guess as
// gradlab.predict.kinds does, remembers it in this browser, and shows torch's answer only then.
import form from "./form.js";

const KEY = "gradlab-guesses", chapter = location.pathname.split("/").pop().replace(".html", "");
const NEAR = 0.02, EXACT = 1e-6;
const places = [...document.querySelectorAll(".site-guess")];
let here = {};
try { here = JSON.parse(localStorage.getItem(KEY))?.[chapter] ?? {}; } catch { /* then guesses last as long as the page */ }

const keep = () => {
  try {
    localStorage.setItem(KEY, JSON.stringify({ ...JSON.parse(localStorage.getItem(KEY)), [chapter]: here }));
  } catch { /* the browser keeps nothing */ }
};
const escaped = (text) => { const node = document.createElement("i"); node.textContent = text; return node.innerHTML; };
const unreadable = (blank, sentence) => Object.assign(new Error(sentence), { blank });

function number(text, blank, label) {
  const typed = text.trim().replace("−", "-");
  if (!typed) throw unreadable(blank, `${label} is still empty.`);
  if (/^none$/i.test(typed)) return null;
  if (/^[+-]?(inf(inity)?|nan)$/i.test(typed)) return /nan/i.test(typed) ? NaN : typed[0] === "-" ? -Infinity : Infinity;
  const start = `${label}: “${typed.slice(0, 30)}” cannot be read as a number.`;
  if (/^-?[1-9]\d{0,2}(,\d{3})+$/.test(typed)) throw unreadable(blank, `${start} Without the comma it is ${typed.replaceAll(",", "")}.`);
  if (/^-?\d+,\d+$/.test(typed)) return Number(typed.replace(",", "."));
  if (/^[+-]?(\d+(_\d+)*\.?(\d+(_\d+)*)?|\.\d+)(e[+-]?\d+)?$/i.test(typed)) return Number(typed.replaceAll("_", ""));
  throw unreadable(blank, `${start} Write one number such as 2, -0.5 or 1e-3; None, inf and nan also work.`);
}

function near(value, text) {
  const answer = { None: null, nan: NaN, inf: Infinity, "-inf": -Infinity }[text] ?? (text === "None" ? null : Number(text.replace("nan", "NaN")));
  if (value === null || answer === null) return value === answer;
  if (!Number.isFinite(answer) || !Number.isFinite(value)) return Object.is(value, answer);
  const whole = Math.round(answer), least = EXACT * Math.max(1, Math.abs(answer));
  if (Math.abs(answer - whole) <= least) return Math.abs(value - whole) <= least;
  return Math.abs(value - answer) <= NEAR * Math.abs(answer) + EXACT;
}

/** Return for each blank whether its guess is right; throws an error with the blank that cannot be read. */
export function judge({ blanks, numbers, distinct, answers }, texts) {
  if (numbers) {
    const values = texts.map((text, k) => number(text, k, blanks[k].label));
    return values.map((value, k) => near(value, answers[k].value));
  }
  texts.forEach((text, k) => {
    if (!text.trim()) throw unreadable(k, blanks[k].label ? `${blanks[k].label} is still empty.` : "Choose an answer first.");
  });
  texts.forEach((text, k) => {
    const first = texts.indexOf(text);
    if (distinct && first < k) throw unreadable(k, `“${text}” cannot come both ${blanks[first].label} and ${blanks[k].label}.`);
  });
  return texts.map((text, k) => text === answers[k].value);
}

function verdict({ blanks, answers }, { said, sure, right }, start) {
  const count = right.filter(Boolean).length, all = count === right.length;
  const how = right.length > 1 ? `${count} of ${right.length} right` : all ? "right" : "not right";
  const items = blanks.map(({ label }, k) => {
    const [mark, word] = right[k] ? ["✓", "right"] : ["✗", "wrong"];
    return `<li><span role="img" aria-label="${word}">${mark}</span> ${label ? `<code>${escaped(label)}</code>` : ""} ` +
      `<span>you said ${escaped(said[k])}</span>${right[k] ? "" : ` <span>but it is <b>${escaped(answers[k].shown)}</b></span>`}</li>`;
  });
  return `<div class="gl-verdict gl-${all ? "all-right" : "some-wrong"}"><p><b>${start}: ${how}, and you were ${sure ? "sure" : "not sure"}.</b></p>` +
    `<ul class="gl-items">${items.join("")}</ul></div>`;
}

/** The fold below a prediction that says what happened. */
function explanation(place) {
  for (let node = place.closest(".cell")?.nextElementSibling; node && !node.matches(".cell, section"); node = node.nextElementSibling) {
    if (node.matches("details")) return node;
  }
}

function ask(place) {
  const data = JSON.parse(place.querySelector("script").textContent);
  const answer = place.querySelector(".site-answer"), why = explanation(place);
  const listeners = {}, state = { ...data, problem: {}, verdict: "" };
  const fits = (guess) => guess && guess.said.length === data.blanks.length;
  if (fits(here[data.name])) state.verdict = verdict(data, here[data.name], "You guessed before");
  const settle = () => {
    for (const fold of [answer, why]) {
      if (fold) [fold.hidden, fold.open] = [!state.verdict, !!state.verdict];
    }
    summarize();
  };
  const set = (name, value) => { state[name] = value; listeners[`change:${name}`]?.(); };
  const model = {
    get: (name) => state[name],
    on: (event, listener) => { listeners[event] = listener; },
    off: (event) => { delete listeners[event]; },
    send({ texts, sure, skip, again }) {
      if (again) {
        delete here[data.name];
        set("problem", {});
        set("verdict", "");
      } else if (skip) {
        set("verdict", '<div class="gl-verdict"><p>Shown without a guess.</p></div>');
      } else {
        try {
          const guess = { question: data.question, said: texts, sure, right: judge(data, texts) };
          here[data.name] ??= guess;
          set("verdict", verdict(data, guess, "You guessed"));
        } catch (error) {
          if (error.blank === undefined) throw error;
          set("problem", { blank: error.blank, sentence: error.message });
        }
      }
      keep();
      settle();
    },
  };
  const el = document.createElement("div");
  answer.before(el);
  form.render({ model, el });
  settle();
}

function summarize() {
  const guesses = places.map((place) => JSON.parse(place.querySelector("script").textContent)).filter(({ name }) => here[name]);
  for (const target of document.querySelectorAll(".site-guesses")) {
    const right = guesses.filter(({ name }) => here[name].right.every(Boolean)).length;
    const wrong = guesses.filter(({ name }) => here[name].sure && !here[name].right.every(Boolean));
    target.innerHTML = guesses.length
      ? `<p>${guesses.length} ${guesses.length === 1 ? "guess" : "guesses"} entered, ${right} of them entirely right.</p>` +
        (wrong.length ? `<p>You were sure of these, but torch disagreed:</p><ul>${wrong.map(({ name, question }) =>
          `<li><a href="#cell-${name}">${escaped(question)}</a></li>`).join("")}</ul>` : "")
      : "<p>No guesses in this chapter yet. Guesses that you were sure of but got wrong will be listed here.</p>";
  }
}

places.forEach(ask);
summarize();
