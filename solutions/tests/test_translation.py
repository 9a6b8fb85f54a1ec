"""The course in another language: texts are collected, swapped and looked up; code and records stay the same."""

import ast
import functools
import re

import nbformat
import pytest
from babel.messages.pofile import read_po, write_po
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from authoring import translation
from authoring.build import STUDENT_EDITION, same
from authoring.chapter import chapter_names
from authoring.places import ChapterError
from authoring.pseudo import pseudo
from authoring.translation import BESIDE, MESSAGES, lookup, swap, template
from gradlab import words
from gradlab.engine import STAGES

PROSE = re.compile(r"(?:^|[^\w.<\"'/-])(?:[A-Za-z]?[a-z']+[,:;]? ){3,}")
DATA = {
    *(f"course/gradlab/checks/{name}.py" for name in ("check", "encoding", "observe")),  # in observations
    *(f"course/gradlab/checks/{name}.py" for name in ("shortcuts", "without_torch")),
    *("course/gradlab/__init__.py", "course/gradlab/predict/guesses.py"),  # errors of Python's kind
    *("course/gradlab/engine.py", "course/gradlab/my_engine.py", "course/gradlab/pictures/hooking.py"),  # code
    *("course/gradlab/clinic.py", "course/gradlab/like_torch.py"),  # kinds, an error of torch's
    "course/gradlab/setup/system.py",  # commands
    *(f"grading/autograder/sandbox/{name}.py" for name in ("__main__", "provisioner")),  # bait, help of traitlets
    *(f"grading/autograder/steps/{name}.py" for name in ("outcome", "runs")),  # in the gradebook, help
    "grading/autograder/term/worksheet.py",  # Moodle's columns
}
CODE = '''# Set up: two numbers
def f(x):
    """Return x, twice.

    x: a number.
    """
    s = "a text # no comment"
    return x  # ← and here
'''


@pytest.fixture
def languages(tmp_path, monkeypatch):
    """Keep the files of languages, and the editions in them, in a temporary folder; afterwards, English again."""
    monkeypatch.setattr(translation, "LANGUAGES", tmp_path / "languages")
    monkeypatch.setattr(translation, "sources", lambda language: tmp_path / "build" / language / "sources")
    yield tmp_path
    words.use(b"")


def test_the_pseudo_language_changes_what_is_read_and_nothing_else():
    text = "## If `backward` fails\n\n- take **x**, or [see](../a.md#b)\n<details><summary>Hint</summary>\n$x_i$: {n:g}"
    made = pseudo(text)
    for kept in ("`backward`", "](../a.md#b)", "<details><summary>", "</summary>", "$x_i$", "{n:g}", "\n- ", "## "):
        assert kept in made
    assert made.count("\n") == text.count("\n")
    assert not {"If", "fails", "take", "see", "Hint", "is"} & set(made.replace("[", " ").split())
    assert len(pseudo("A sentence of forty letters, as they say")) >= 1.4 * 40
    assert (pseudo("`x`"), pseudo("| a | --- |").count("|")) == ("`x`", 3)


def test_the_texts_of_a_cell_are_its_markdown_or_its_comments_and_docstrings_and_no_code_is_swapped():
    reference = new_code_cell("# a slip", metadata={"tags": ["reference"]})
    cells, swapped = [new_code_cell(CODE), new_markdown_cell("## One\n\ntwo"), reference], []
    swap(new_notebook(cells=cells), lambda _where, text: swapped.append(text) or text.upper())
    docstring = "Return x, twice.\n\n    x: a number.\n    "
    assert sorted(swapped) == sorted(["Set up: two numbers", docstring, "← and here", "## One\n\ntwo"])
    assert (cells[1].source, cells[2].source) == ("## ONE\n\nTWO", "# a slip")
    assert ("# SET UP: TWO NUMBERS" in cells[0].source, '"a text # no comment"' in cells[0].source) == (True, True)
    assert ast.dump(_bare(cells[0].source)) == ast.dump(_bare(CODE))


def test_messages_are_collected_with_their_plurals_and_the_help_of_commands():
    ids = [message.id for message in template(MESSAGES) if message.id]
    assert "No module named 'gradlab'? Then this is the wrong Python: run `make lab` in the course's folder." in ids
    assert any(text.startswith("Grade ") for text in ids if isinstance(text, str))


def test_every_marked_message_is_collected():
    """Babel does not see a call inside an f-string, and nothing but literals can be collected."""
    known = {text for message in template(MESSAGES) if message.id for text in translation._forms(message.id)}
    marked = set()
    for folder in translation.PROGRAMS:
        for path in (translation.ROOT / folder).rglob("*.py"):
            for call in (node for node in ast.walk(ast.parse(path.read_text("utf-8"))) if isinstance(node, ast.Call)):
                if ast.unparse(call.func) in translation.KEYWORDS:
                    texts = call.args[: 2 if ast.unparse(call.func) == "ngettext" else 1]
                    marked |= {text.value for text in texts if isinstance(text, ast.Constant)}
                    plural = len(texts) == 2  # only what `_` shows may come from a table, whose texts `N_` marks
                    assert not plural or all(isinstance(text, ast.Constant) for text in texts), f"{path}:{call.lineno}"
    assert marked - known - {""} == set()
    assert len(marked) > 800


def test_every_sentence_is_marked():
    """A text of four words in a row, in no docstring, goes through gettext, but where it is data or code."""
    unmarked = set()
    for folder in ("course/gradlab", "grading/autograder"):
        for path in {*(translation.ROOT / folder).rglob("*.py")} - {*STAGES.glob("*.py")}:
            tree = ast.parse(path.read_text("utf-8"))
            calls = [
                n for n in ast.walk(tree) if isinstance(n, ast.Call) and ast.unparse(n.func) in translation.KEYWORDS
            ]
            alone = [
                node for node in ast.walk(tree) if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
            ]
            known = {id(node) for part in (*calls, *alone) for node in ast.walk(part)}
            texts = {n.value for n in ast.walk(tree) if isinstance(n, ast.Constant) and id(n) not in known}
            if any(isinstance(text, str) and PROSE.search(text) and not set(text) & set("{;<\\\n") for text in texts):
                unmarked.add(path.relative_to(translation.ROOT).as_posix())
    assert unmarked - DATA == set()
    assert DATA - unmarked == set()


@pytest.mark.parametrize("name", chapter_names()[:3])
def test_a_chapters_texts_have_their_places(name):
    places = {(message.context, message.id) for message in template(name) if message.id}
    notebook = nbformat.read(STUDENT_EDITION / name / f"{name}.ipynb", as_version=4)
    assert ("how-to", next(cell.source for cell in notebook.cells if cell.id == "how-to")) in places or name[:2] == "00"
    checks = {context for context, _text in places if context[:3] == f"{name[:2]}."}
    predictions = {context for context, _text in places if "/" in context}
    assert (len(checks) >= 5, len(predictions) >= 5) == (True, True)


def test_a_text_of_a_case_is_known_without_its_numbers():
    assert ("02.1", "x and v of shape ({}, {}), twice with the same x") in {
        (message.context, message.id) for message in template("02_external_gradients")
    }


def test_a_new_language_begins_untranslated_and_an_update_keeps_its_translations(languages):
    assert [*translation.update("nl")][1].split() == [BESIDE, "0", "of", str(len(template(BESIDE))), "texts"]
    path = languages / "languages/nl/messages.po"
    with path.open("rb") as file:
        catalogue = read_po(file)
    text = "Your turn: replace the next line with your code."
    catalogue.get(text).string = "Jouw beurt."
    with path.open("wb") as file:
        write_po(file, catalogue)
    assert next(iter([*translation.update("nl")])).split()[1:3] == ["1", "of"]
    assert next(translation.covered()).startswith("nl messages")
    words.use(translation.shown(translation.catalogues("nl")))
    assert (words._(text), words._("No such message."), words.language()) == ("Jouw beurt.", "No such message.", "nl")


@pytest.mark.parametrize(
    ("part", "text", "translated", "needs"),
    [
        (MESSAGES, "{right} of {total}", "{right} van {totaal}", "{right}, {total}"),
        *(
            ("02_external_gradients", "shape ({}, {})", translated, "{}, {}")
            for translated in ("vorm ({})", "vorm ({}, {}, {})", "vorm ({}, {}) van {x", "{x}, {}, {}")
        ),
    ],
)
def test_a_translation_that_loses_what_is_filled_in_is_refused(languages, part, text, translated, needs):
    path = languages / f"languages/nl/{part}.po"
    path.parent.mkdir(parents=True)
    context = 'msgctxt "02.1"\n' * (part != MESSAGES)
    path.write_text(f'{context}msgid "{text}"\nmsgstr "{translated}"\n')
    with pytest.raises(ChapterError, match=re.escape(f"{part}.po: the translation of {text!r} needs {needs}.")):
        translation.catalogues("nl")


def test_a_language_without_files_is_refused(languages):
    with pytest.raises(ChapterError, match=r"no translation 'nl'.*python -m authoring translate nl"):
        translation.build("nl", [])


def test_an_edition_in_the_pseudo_language_has_the_same_code_and_record(languages):
    """Its prose is in ⟦ ⟧, and so are the outputs that the course's own functions make."""
    name = "00_twenty_lines"
    made = translation.build("xx", [name])
    assert same(made / f"chapters/{name}/{name}.record.json", STUDENT_EDITION / f"{name}/{name}.record.json")
    english, other = (nbformat.read(folder / name / f"{name}.ipynb", as_version=4).cells
                      for folder in (STUDENT_EDITION, made / "chapters"))  # fmt: skip
    assert [cell.id for cell in english] == [cell.id for cell in other]
    for mine, theirs in zip(english, other, strict=True):
        if mine.cell_type == "markdown":
            assert "⟦" in theirs.source
        else:
            assert ast.dump(_bare(mine.source)) == ast.dump(_bare(theirs.source))
            assert theirs.metadata == mine.metadata or "nbgrader" in mine.metadata
    catalogue = functools.partial(lookup, translation.catalogues("xx")[name])
    assert catalogue("no-such-cell", "text") == "text"


def _bare(source: str) -> ast.AST:
    """Return a cell's code without docstrings, in which words are swapped."""
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and ast.get_docstring(node) is not None:
            del node.body[0]
    return tree
