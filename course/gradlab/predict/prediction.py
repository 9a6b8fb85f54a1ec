"""A prediction: a block of code whose output appears only after the learner has entered a guess."""

import html
import inspect
from types import FunctionType
from typing import Any

from IPython import get_ipython
from IPython.display import DisplayHandle, display

from .. import live, notebook
from ..captured import Captured
from ..words import N_, _
from .form import form_class, own_words
from .guesses import TRUTH, Guess, forget, recall, remember, told
from .kinds import Choice, Kind, Numbers, Order, PredictionError, Unreadable, shown
from .lookback import renew

_SCORES = {  # by whether the guess is right, "many" if it has several parts; and whether the learner was sure
    (True, True): N_("right, and you were sure."),
    (True, False): N_("right, and you were not sure."),
    (False, True): N_("not right, and you were sure."),
    (False, False): N_("not right, and you were not sure."),
    ("many", True): N_("{right} of {total} right, and you were sure."),
    ("many", False): N_("{right} of {total} right, and you were not sure."),
}
_open: dict[str, Any] = {}  # by name: the form waiting for a guess
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
    return Prediction(name, question, Choice(TRUTH, lines))


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
        raise PredictionError(_("{name} is not prepared: run the folded cell of questions near the top", name=name))
    return _prepared[name]


class Prediction:
    """The context manager of a block: it holds back the block's output until a guess is entered.

    Made by `numbers`, `choice`, `true_false` and `order`. `name` is its cell's id. `question` appears above the form
    and, if the learner was sure of a wrong guess, in the list at the chapter's end.
    """

    def __init__(self, name: str, question: str, kind: Kind):
        self.name, self.question, self.kind = name, question, kind
        kind.name = name
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

    def asked(self) -> dict[str, Any]:
        """Return what the form shows, in the reader's language."""
        told, distinct = self.kind.translated, isinstance(self.kind, Order)
        blanks = [{"label": told(blank.label), "options": [*map(told, blank.options)]} for blank in self.kind.blanks]
        return {"question": self._question(), "blanks": blanks, "distinct": distinct, "words": own_words()}

    def output(self) -> str:
        """Return the block's output as HTML."""
        return self._captured.html(self._question())

    def _question(self) -> str:
        return told(self.name, self.question)

    def __enter__(self):
        self.answers, self._captured = [], Captured().start()
        return self

    def __exit__(self, kind, error, traceback):
        try:
            if error is None and self._reader is not None:
                self._read(self._reader)
        finally:
            self._captured.stop()
            if error is not None or not self.answers:
                self._captured.replay()
        if error is None and not self.answers:
            raise PredictionError(_("{name} has no answer: end its block with compare(…)", name=self.name))
        if error is None:
            self._show()

    def _read(self, reader: FunctionType) -> None:
        defined, parameters = reader.__globals__, inspect.signature(reader).parameters.values()
        wanted = [parameter.name for parameter in parameters if parameter.default is parameter.empty]
        if missing := [name for name in wanted if name not in defined]:
            raise NameError(_("the block of {block} does not define {name!r}", block=self.name, name=missing[0]))
        answers = reader(**{name: defined[name] for name in wanted})
        self.compare(*(answers if isinstance(answers, tuple) else (answers,)))

    def _show(self) -> None:
        if before := _open.pop(self.name, None):
            before.close()
        guess = recall().get(self.name)
        if get_ipython() is None:
            print(f"{self._question()}\n{self._captured.text()}")
        else:
            ask = (live.page and live.page.prediction) or Prediction._ask
            ask(self, guess if guess is not None and self.kind.fits(guess.said) else None)

    def _ask(self, guess: Guess | None) -> None:
        """Show the form and the answer; before a guess, the answer is in a fold, hidden while the form is alive."""
        question = _("Your guess: {question}", question=self._question())
        if live.in_notebook() and not live.page:
            verdict = self._verdict(guess, before=True) if guess else ""
            form = _open[self.name] = form_class()(**self.asked(), verdict=verdict)
            form.on_msg(lambda widget, content, buffers: self._entered(form, content))
            live.show_widget(form, question)
        elif guess is None:
            print(question)
        shown = self._answered(guess, before=True) if guess else self._folded()
        self._shown = display(shown, raw=True, display_id=True)

    def _folded(self) -> dict:
        says = _("The answer. Run this cell and enter your guess, or open this fold.")
        fold = f"<details><summary>{says}</summary>{self.output()}</details>"
        return {"text/html": live.kept(fold), "text/plain": _("The answer:") + f"\n{self._captured.text()}"}

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
            says = _("Shown without a guess.")
            form.verdict = f'<div class="gl-verdict"><p>{says}</p></div>'
            self._shown.update(self._data("", ""), raw=True)
            return
        texts = self.kind.meant([str(text) for text in content.get("texts", [])])
        try:
            self.kind.read(texts)
        except Unreadable as error:
            count = form.problem.get("count", 0) + 1
            form.problem = {"blank": error.blank, "sentence": str(error), "count": count}
            return
        guess = Guess(self.question, texts, bool(content.get("sure")), self.kind.right(texts, self.answers))
        remember(self.name, guess)
        renew()
        self._shown.update(self._answered(guess), raw=True)
        form.verdict = self._verdict(guess)

    def _answered(self, guess: Guess, before: bool = False) -> dict:
        said, how = ", ".join(map(self.kind.translated, guess.said)), score(guess)
        line = N_("You guessed before {guess}: {score}") if before else N_("You guessed {guess}: {score}")
        words = _(line, guess=said, score=how)
        return self._data(f'<div class="gl-verdict-kept">{self._verdict(guess, before)}</div>', f"{words}\n")

    def _data(self, verdict: str, words: str) -> dict:
        """Return the output after a guess: the verdict, then the block's output."""
        shown = f'{live.style()}{verdict}<div class="gl-output">{self.output()}</div>'
        return {"text/html": shown, "text/plain": f"{words}{self._captured.text()}"}

    def _verdict(self, guess: Guess, before: bool = False) -> str:
        """Return the verdict as HTML: the score, then what was said for each blank and, if wrong, the right answer."""
        translated = self.kind.translated
        parts = zip(self.kind.blanks, guess.said, self.answers, guess.right, strict=True)
        items = "".join(
            f"<li>{_line(translated(blank.label), translated(said), translated(shown(answer)), right)}</li>"
            for blank, said, answer, right in parts
        )
        kind, how = "gl-all-right" if guess.all_right else "gl-some-wrong", score(guess)
        line = _("You guessed before: {score}", score=how) if before else _("You guessed: {score}", score=how)
        return f'<div class="gl-verdict {kind}"><p><b>{line}</b></p><ul class="gl-items">{items}</ul></div>'


def score(guess: Guess) -> str:
    """Return a sentence on how many parts of a guess were right, and whether the learner was sure."""
    counts = {"right": sum(guess.right), "total": len(guess.right)}
    return _(_SCORES["many" if len(guess.right) > 1 else guess.all_right, guess.sure], **counts)


def _line(label: str, said: str, answer: str, right: bool) -> str:
    """Return the HTML of one blank's result: ✓ or ✗ for the eye, words for screen readers."""
    name = f"<code>{html.escape(label)}</code>" if label else ""
    mark, word = ("✓", _("right")) if right else ("✗", _("wrong"))
    said = _("you said {guess}", guess=html.escape(said))
    # Translators: this follows "you said {guess}"
    correct = _("but it is {answer}", answer=f"<b>{html.escape(answer)}</b>")
    correct = "" if right else f"<span>{correct}</span>"
    return f'<span role="img" aria-label="{word}">{mark}</span> {name} <span>{said}</span> {correct}'
