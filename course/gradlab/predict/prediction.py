"""A prediction: a block of code whose output appears only after the learner has entered a guess."""

import html
import inspect
from types import FunctionType
from typing import Any

from IPython import get_ipython
from IPython.display import DisplayHandle, display

from .. import live, notebook
from ..captured import Captured
from .form import form_class
from .guesses import Guess, forget, recall, remember
from .kinds import Choice, Kind, Numbers, Order, PredictionError, Unreadable, shown
from .lookback import renew

FOLDED = "The answer. Run this cell and enter your guess, or open this fold."
_open: dict[str, Any] = {}  # by name: the form waiting for a guess
_running: list[str] = []  # the prediction whose block is running
_prepared: dict[str, "Prediction"] = {}  # by name: the predictions that read their own answers


def numbers(name, question, sizes):
    """Ask for numbers: `sizes` maps each label to a count or a shape: {"x.grad": 2, "W.grad": (2, 3)}.

    Whole numbers must match exactly, others within 2%. "None" can be typed.
    """
    return Prediction(name, question, Numbers(sizes))


def choice(name, question, options, lines=None):
    """Ask for one of the options; with `lines`, for one option on each line."""
    return Prediction(name, question, Choice(options, [""] if lines is None else lines))


def true_false(name, question, lines):
    """Ask whether each of the lines is true."""
    return Prediction(name, question, Choice(["true", "false"], lines))


def order(name, question, events):
    """Ask for the order in which the events happen; list them in a wrong order."""
    return Prediction(name, question, Order(events))


def question(name):
    """Return the prediction that the chapter's folded cell `questions` prepared under this name, for its block.

    There, `reads` decorates the function that shows what the block did and returns the right answers:

        @predict.numbers("s1-run", "What is w.grad?", {"w.grad": 1}).reads
        def w_grad(w):
            print("w.grad:", w.grad)
            return w.grad

    Then the block has only the lines that matter:

        with predict.question("s1-run"):
            w = torch.tensor(3.0, requires_grad=True)
            (w**2).backward()  # ←
    """
    if name not in _prepared:
        raise PredictionError(f"the question {name} is not prepared: run the folded cell of questions near the top")
    return _prepared[name]


class Prediction:
    """The context manager of a block: it holds back the block's output until a guess is entered.

    Made by `numbers`, `choice`, `true_false` and `order`. `name` is its cell's id. `question` appears above the form
    and, if the learner was sure of a wrong guess, in the list at the chapter's end.
    """

    def __init__(self, name: str, question: str, kind: Kind):
        self.name, self.question, self.kind = name, question, kind
        self.answers: list = []  # empty until `compare`
        self._captured = Captured()
        self._shown = DisplayHandle()
        self._reader: FunctionType | None = None

    def reads(self, function):
        """Decorate a function that shows what the block did and returns the right answers, as `compare` takes them.

        Its parameters without a default are names that the block defines. It runs at the block's end, and its output
        follows the block's.
        """
        self._reader = function
        _prepared[self.name] = self
        return function

    def compare(self, *answers) -> None:
        """Set the right answers: one argument per label or line, or all answers as one list or as one dict by label."""
        self.answers = self.kind.answers(answers)

    def output(self) -> str:
        """Return the block's output as HTML."""
        return self._captured.html(self.question)

    def __enter__(self):
        if _running:
            raise PredictionError(f"prediction {self.name} is inside {_running[-1]}; end that block first")
        _running.append(self.name)
        self.answers, self._captured = [], Captured().start()
        return self

    def __exit__(self, kind, error, traceback):
        try:
            if error is None and self._reader is not None:
                self._read(self._reader)
        finally:
            self._captured.stop()
            _running.clear()
            if error is not None or not self.answers:
                self._captured.replay()
        if error is None and not self.answers:
            raise PredictionError(f"prediction {self.name} has no answer: end its block with compare(…)")
        if error is None:
            self._show()
        return False

    def _read(self, reader: FunctionType) -> None:
        defined, parameters = reader.__globals__, inspect.signature(reader).parameters.values()
        wanted = [parameter.name for parameter in parameters if parameter.default is parameter.empty]
        if missing := [name for name in wanted if name not in defined]:
            raise NameError(f"the block of {self.name} does not define {missing[0]!r}")
        answers = reader(**{name: defined[name] for name in wanted})
        self.compare(*(answers if isinstance(answers, tuple) else (answers,)))

    def _show(self) -> None:
        before = _open.pop(self.name, None)
        if before is not None:
            before.close()
        guess = recall().get(self.name)
        if get_ipython() is None:
            print(f"{self.question}\n{self._captured.text()}")
        else:
            ask = (live.page and live.page.prediction) or Prediction._ask
            ask(self, guess if guess is not None and self.kind.fits(guess.said) else None)

    def _ask(self, guess: Guess | None) -> None:
        """Show the form and the answer; before a guess, the answer is in a fold, hidden while the form is alive."""
        make = form_class() if live.has_widgets() else None
        question = f"Your guess: {self.question}"
        if make is not None:
            blanks = [{"label": blank.label, "options": list(blank.options)} for blank in self.kind.blanks]
            verdict = self._verdict(guess, "You guessed before") if guess else ""
            form = _open[self.name] = make(question=self.question, blanks=blanks, verdict=verdict)
            form.on_msg(lambda _, content, buffers: self._entered(form, content))
            live.show_widget(form, question)
        elif guess is None:
            print(question)
        shown = self._answered(guess, "You guessed before") if guess else self._folded()
        self._shown = display(shown, raw=True, display_id=True)

    def _folded(self) -> dict:
        fold = f"<details><summary>{FOLDED}</summary>{self.output()}</details>"
        return {"text/html": live.kept(fold), "text/plain": f"The answer:\n{self._captured.text()}"}

    def _entered(self, form, content: dict) -> None:
        """Handle the form's message: a guess, a request to skip, or a request to forget the earlier guess."""
        if content.get("again"):
            forget(notebook.FOLDER, self.name)
            renew()
            self._shown.update(self._folded(), raw=True)
            form.problem, form.verdict = {}, ""
        if form.verdict or "again" in content:
            return
        if content.get("skip"):
            form.verdict = '<div class="gl-verdict"><p>Shown without a guess.</p></div>'
            self._shown.update(self._data("", ""), raw=True)
            return
        texts = [str(text) for text in content.get("texts", [])]
        try:
            self.kind.read(texts)
        except Unreadable as error:
            form.problem = {
                "blank": error.blank,
                "sentence": str(error),
                "count": form.problem.get("count", 0) + 1,
            }
            return
        right = self.kind.right(texts, self.answers)
        guess = Guess(self.question, texts, bool(content.get("sure")), right)
        remember(self.name, guess)
        renew()
        self._shown.update(self._answered(guess, "You guessed"), raw=True)
        form.verdict = self._verdict(guess, "You guessed")

    def _answered(self, guess: Guess, start: str) -> dict:
        said = ", ".join(guess.said)
        words = f"{start} {said}: {score(guess)}\n"
        return self._data(f'<div class="gl-verdict-kept">{self._verdict(guess, start)}</div>', words)

    def _data(self, verdict: str, words: str) -> dict:
        """Return the output after a guess: the verdict, then the block's output."""
        output = f'<div class="gl-output">{self.output()}</div>'
        return {
            "text/html": f"{live.style()}{verdict}{output}",
            "text/plain": f"{words}{self._captured.text()}",
        }

    def _verdict(self, guess: Guess, start: str) -> str:
        """Return the verdict as HTML: the score, then what was said for each blank and, if wrong, the right answer."""
        items = "".join(
            f"<li>{_line(blank.label, said, right, answer)}</li>"
            for blank, said, right, answer in zip(self.kind.blanks, guess.said, guess.right, self.answers, strict=True)
        )
        kind = "gl-all-right" if guess.all_right else "gl-some-wrong"
        line = f"<p><b>{start}: {score(guess)}</b></p>"
        return f'<div class="gl-verdict {kind}">{line}<ul class="gl-items">{items}</ul></div>'


def score(guess: Guess) -> str:
    """Return a sentence on how many parts of a guess were right, and whether the learner was sure."""
    count, all_of = sum(guess.right), len(guess.right)
    how = ("right" if guess.all_right else "not right") if all_of == 1 else f"{count} of {all_of} right"
    return f"{how}, and you were {'sure' if guess.sure else 'not sure'}."


def _line(label: str, said: str, right: bool, answer) -> str:
    """Return the HTML of one blank's result: ✓ or ✗ for the eye, words for screen readers."""
    name = f"<code>{html.escape(label)}</code>" if label else ""
    correct = "" if right else f"<span>but it is <b>{html.escape(shown(answer))}</b></span>"
    mark, word = ("✓", "right") if right else ("✗", "wrong")
    said = f"<span>you said {html.escape(said)}</span>"
    return f'<span role="img" aria-label="{word}">{mark}</span> {name} {said} {correct}'
