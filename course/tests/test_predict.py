"""Predictions: kinds of guesses, when a guess is right, the output before and after it, what is remembered."""

import json
import math
import re

import pytest
import torch
from dutch_words import dutch_words
from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import capture_output

from gradlab import live, notebook, predict, words
from gradlab.predict import guesses, lookback, prediction
from gradlab.predict.kinds import Choice, Numbers, Order, PredictionError, Unreadable


@pytest.fixture(autouse=True)
def chapter(tmp_path, monkeypatch):
    """A chapter's folder of its own, and no guess from elsewhere."""
    folder = tmp_path / "02_external_gradients"
    folder.mkdir()
    monkeypatch.setattr(notebook, "FOLDER", folder)
    monkeypatch.setattr(prediction, "_open", {})
    return folder


@pytest.fixture
def shell(monkeypatch):
    """A notebook's shell that is asked whether it has a kernel, and answers yes; forms are opened without a page."""
    made = InteractiveShell.instance()
    monkeypatch.setattr(made, "kernel", object(), raising=False)
    yield made
    InteractiveShell.clear_instance()


def run(block, name="s1-run", sizes=None):
    """Run a block as a prediction of two numbers; return the mimebundles it displays and its prediction."""
    with capture_output() as seen, predict.numbers(name, "What will x.grad hold?", sizes or {"x.grad": 2}) as guess:
        block(guess)
    return [output.data for output in seen.outputs], guess, seen


def a_block(guess):
    print("torch says [300, 0.3]")
    guess.compare(torch.tensor([300.0, 0.3]))


def enter(name, *texts, sure=False):
    """Enter a guess into the form that is open, as the page does; return what the form shows then."""
    form = prediction._open[name]
    with capture_output() as seen:
        form._handle_custom_msg({"texts": list(texts), "sure": sure}, [])
    return form, [output.data for output in seen.outputs]


def of(pattern, bundle):
    return re.search(pattern, bundle["text/html"], re.S)


# Typed guesses


@pytest.mark.parametrize(
    ("typed", "value"),
    [("3", 3.0), (" -0.5 ", -0.5), ("1e-3", 1e-3), ("\N{MINUS SIGN}2", -2.0), ("None", None), ("-0,25", -0.25)],
)
def test_a_number_is_read_as_people_write_it(typed, value):
    assert Numbers({"x": 1}).read([typed]) == [value]


# When a guess is right


@pytest.mark.parametrize(
    ("guess", "answer", "right"),
    [
        ("300", 300.00003, True),
        ("303", 300.0, False),  # whole numbers must match
        ("60100", 60000.4, True),
        ("0.33", 1 / 3, True),
        ("0.3", 1 / 3, False),
        ("0", 0.0, True),
        ("0.01", 0.0, False),
        ("-2", 2.0, False),
        ("nan", math.nan, True),
        ("inf", math.inf, True),
        ("0", None, False),
        ("None", None, True),
        ("None", 0.0, False),
    ],
)
def test_numbers_are_compared_by_value(guess, answer, right):
    kind = Numbers({"x": 1})
    assert kind.right([guess], kind.answers((answer,))) == [right]


X_THEN_LOSS = Order(["x", "square", "loss"])
GRADIENT = torch.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)


@pytest.mark.parametrize(
    ("kind", "said", "given", "right"),
    [
        (
            Numbers({"W.grad": (2, 2), "loss": 1}),
            ["1", "2", "0", "4", "5"],
            (GRADIENT, 5),
            [True, True, False, True, True],
        ),
        (Numbers({"a": 1, "b": 1}), ["1", "2"], ({"b": 2, "a": 1},), [True, True]),
        (Choice(["true", "false"], ["()", "(2,)"]), ["true", "true"], ([True, False],), [True, False]),
        (Choice(["vᵀJ", "Ju"]), ["Ju"], ("vᵀJ",), [False]),
        (X_THEN_LOSS, ["loss", "x", "square"], (["loss", "square", "x"],), [True, False, False]),
    ],
)
def test_each_blank_of_a_guess_is_judged(kind, said, given, right):
    assert kind.right(said, kind.answers(given)) == right


@pytest.mark.parametrize(
    ("kind", "said", "blank", "words"),
    [
        (Numbers({"x": 1}), [""], 0, "x is still empty."),
        (Numbers({"x": 1}), ["60,000"], 0, "Without the comma it is 60000."),
        (Numbers({"x": 1}), ["1/3"], 0, "Write one number such as 2, -0.5 or 1e-3"),
        (Numbers({"x": 1}), ["__import__('os')"], 0, "“__import__('os')” cannot be read as a number."),
        (Choice(["true", "false"], ["()", "(2,)"]), ["true", ""], 1, "(2,) is still empty"),
        (Choice(["vᵀJ", "Ju"]), [""], 0, "Choose an answer first"),
        (Choice(["vᵀJ", "Ju"]), ["J"], 0, "J is not one of the answers"),
        (X_THEN_LOSS, ["x", "loss", "x"], 2, "“x” cannot come both 1st and 3rd"),
    ],
)
def test_what_cannot_be_read_is_answered_with_a_sentence(kind, said, blank, words):
    with pytest.raises(Unreadable, match=re.escape(words)) as caught:
        kind.read(said)
    assert caught.value.blank == blank


@pytest.mark.parametrize(
    ("kind", "given", "words"),
    [
        (Numbers({"x.grad": 2}), ([1.0, 2.0, 3.0],), "compare() was given 1, 2, 3; it takes x.grad[0], x.grad[1]"),
        (Numbers({"x": 1, "y": 1}), (1.0,), "compare() was given 1; it takes x, y"),
        (Numbers({"x": 1}), ({"z": 1.0},), "compare() was given z; it takes x"),
        (Choice(["a", "b"]), ("c",), "compare() was given c; it takes a, b"),
        (Order(["a", "b"]), (["a", "a"],), "compare() was given a, a; it takes a, b"),
    ],
)
def test_an_author_s_mistake_is_named(kind, given, words):
    with pytest.raises(PredictionError, match=re.escape(words)):
        kind.answers(given)


# Output


def test_the_first_guess_counts(shell):
    """After an answer a form takes no other, and running the cell again asks no more."""
    run(a_block)
    enter("s1-run", "1", "2", sure=True)
    _, shown = enter("s1-run", "300", "0.3")
    assert shown == []
    (_, again), _, _ = run(a_block)
    assert "You guessed before: 0 of 2 right, and you were sure." in again["text/html"]
    assert "torch says [300, 0.3]" in again["text/html"]
    assert "You guessed before: 0 of 2 right" in prediction._open["s1-run"].verdict


def test_output_text_and_pictures_are_kept_in_their_order(shell):
    def block(guess):
        from IPython.display import HTML, display

        print("<first>")
        display(HTML("<b>second</b>"))
        import sys

        print("third", file=sys.stderr)
        guess.compare([1, 2])

    (_, answer), _, seen = run(block)
    assert of(r"<pre>&lt;first&gt;</pre><b>second</b><pre>third</pre>", answer)
    assert (seen.stdout, seen.stderr) == ("", "")


def test_an_error_in_the_block_is_shown_as_ever(shell):
    """What was printed before stands above the error; no guess is asked for, and output goes where it went before."""
    with capture_output() as seen, pytest.raises(ZeroDivisionError):  # noqa: SIM117 (the inner one is what a cell holds)
        with predict.numbers("s1-run", "What?", {"x": 1}) as guess:
            print("before")
            guess.compare(1 / 0)
    assert (seen.stdout, seen.outputs) == ("before\n", [])
    assert prediction._open == {}
    run(a_block)
    assert "s1-run" in prediction._open


def test_a_block_that_says_nothing_of_the_answer_is_refused(shell):
    with capture_output(), pytest.raises(PredictionError, match=r"s1-run has no answer.*compare"):
        run(lambda guess: None)


# Memory


def a_guess(question="What?", sure=True, right=(True, False)):
    return guesses.Guess(question, ["1"] * len(right), sure, list(right))


@pytest.mark.parametrize("text", ["", "[]", '{"02_external_gradients": 3}', '{"02_external_gradients": {"s1": {}}}'])
def test_a_damaged_memory_counts_as_empty(chapter, text):
    (chapter.parent / ".predictions.json").write_text(text)
    assert guesses.recall() == {}
    guesses.remember("s1-run", a_guess())
    assert "s1-run" in json.loads((chapter.parent / ".predictions.json").read_text())["02_external_gradients"]


def test_a_guess_that_no_longer_fits_is_asked_for_again(shell):
    """A new edition may ask for another number of things."""
    guesses.remember("s1-run", a_guess(right=[True]))
    shown, _, _ = run(a_block)
    assert "The answer" in shown[1]["text/plain"]


def test_the_chapter_ends_with_what_was_sure_and_wrong(shell):
    guesses.remember("s1-run", a_guess("What of x < y?", sure=True))
    guesses.remember("s2-run", a_guess("What of z?", sure=False))
    guesses.remember("s3-run", a_guess("What of w?", sure=True, right=[True]))
    with capture_output() as seen:
        predict.summary()
    shown = seen.outputs[0].data
    assert "3 guesses entered, 1 of them entirely right." in shown["text/plain"]
    assert shown["text/plain"].splitlines()[1:] == ["- What of x < y? You said 1, 1."]
    assert '<a href="02_external_gradients.ipynb#cell-id=s1-run">What of x &lt; y?</a>' in shown["text/html"]


def test_a_question_prepared_elsewhere_reads_its_answers_from_what_the_block_defines(monkeypatch, capsys):
    """Its output follows the block's; if it fails, the block's output is there; unprepared, it says what to do."""
    monkeypatch.setattr("gradlab.predict.prediction.get_ipython", lambda: None)
    prepared = (
        'kind = predict.numbers("s9", "What is a, and b?", {"a": 1, "b": 1})\n'
        "@kind.reads\ndef sums(a, b, word='then'):\n    print(word, a)\n    return a, b"
    )
    names = {"predict": predict}
    exec(prepared, names)
    exec('with predict.question("s9"):\n    a, b = 1, 2\n    print("first")', names)
    assert names["kind"].answers == [1, 2]
    assert capsys.readouterr().out == "What is a, and b?\nfirst\nthen 1\n"
    with pytest.raises(NameError, match="'b'"):
        exec('del b\nwith predict.question("s9"):\n    print("first")', names)
    assert capsys.readouterr().out == "first\n"
    with pytest.raises(PredictionError, match="run the folded cell of questions"):
        predict.question("s8")


def test_a_page_that_has_no_form_prints_the_question(shell, monkeypatch):
    monkeypatch.setattr(live, "page", live.Page(payoff=None))
    _, _, seen = run(a_block)
    assert "What will x.grad hold?" in seen.stdout
    assert prediction._open == {}


# Languages


@pytest.fixture
def dutch():
    """Use a small Dutch catalogue; afterwards, English again."""
    messages = {"true": "waar", "false": "onwaar", "1st": "1e", "2nd": "2e"}
    texts = {
        None: messages | {"{label} is still empty.": "Vul {label} nog in."},
        "02/s1-run": {"Is it so?": "Klopt het?", "it is so": "het klopt"},
        "02/s2-run": {"at x": "bij x"},
        "02/s3-run": {"an event": "een voorval"},
    }
    words.use(dutch_words(texts))
    yield
    words.use(b"")


def test_a_guess_in_another_language_is_remembered_in_english(shell, dutch):
    with capture_output(), predict.true_false("s1-run", "Is it so?", ["it is so"]) as guess:
        guess.compare(False)
    form = prediction._open["s1-run"]
    assert (form.question, form.blanks) == ("Klopt het?", [{"label": "het klopt", "options": ["waar", "onwaar"]}])
    enter("s1-run", "waar", sure=True)
    assert "<code>het klopt</code> <span>you said waar</span> <span>but it is <b>onwaar</b></span>" in form.verdict
    assert guesses.recall() == {"s1-run": guesses.Guess("Is it so?", ["true"], True, [False])}
    assert "- Klopt het? You said waar." in lookback._lookback(guesses.recall())["text/plain"]


def test_labels_of_several_numbers_and_places_of_events_are_translated(shell, dutch):
    run(a_block, "s2-run", {"at x": 2})
    form, _ = enter("s2-run", "1", "")
    assert [blank["label"] for blank in form.blanks] == ["bij x[0]", "bij x[1]"]
    assert form.problem["sentence"] == "Vul bij x[1] nog in."
    with capture_output(), predict.order("s3-run", "In which order?", ["an event", "b"]) as guess:
        guess.compare("b", "an event")
    form, _ = enter("s3-run", "b", "een voorval")
    assert form.distinct
    assert [blank["label"] for blank in form.blanks] == ["1e", "2e"]
    assert "You guessed: 2 of 2 right" in form.verdict
