"""An edition in another language: its catalogue reaches the workspace, the start page and JupyterLab's page."""

import json
import shutil

import pytest
from babel.messages.extract import extract_javascript
from browser import write_notebook
from dutch_words import dutch_words
from lab_server import GRADLAB_LAB

from gradlab import words
from gradlab.setup import lab
from gradlab.setup.lab import COURSE, EXTENSIONS, START_PAGE, prepare, put_texts, renew_page

CHAPTER = "01_graph"
DUTCH = {
    None: {
        "Your workspace: {folder}": "Je werkmap: {folder}",
        "{passed} of {total}": "{passed} van {total}",
        "All {count} exercises passed.": "De {count} opgaven zijn geslaagd.",
        "Start This Chapter Over…": "Dit hoofdstuk opnieuw beginnen…",
        "passed: ": "geslaagd: ",
    },
    "README": {
        "The chapters": "De hoofdstukken",
        "core minutes": "minuten van de kern",
        "{} of {}": "{} van {}",
        "read the graph a computation leaves behind, and say which tensors get a `.grad`": "de graaf lezen",
        "graph: the history behind a number": "graaf: de geschiedenis van een getal",
        "**Part one: torch.autograd**": "**Deel een: torch.autograd**",
        "You can begin a chapter anywhere: its set-up cells run first, without a key from you.": "Begin waar je wilt.",
        "record": "vastleggen",
    },
}


@pytest.fixture
def edition(tmp_path):
    """A copy of the course that has one chapter, and some words of it in Dutch."""
    course = tmp_path / "course"
    shutil.copytree(COURSE, course, ignore=shutil.ignore_patterns("tests", "chapters", "__pycache__"))
    (course / "chapters" / CHAPTER).mkdir(parents=True)
    write_notebook(course / "chapters" / CHAPTER / f"{CHAPTER}.ipynb", ["1 + 1"])
    (course / "chapters" / words.FILE).write_bytes(dutch_words(DUTCH))
    yield course
    words.use(b"")


def test_the_start_page_is_in_the_editions_language(edition, tmp_path, monkeypatch, capsys):
    """Texts that the catalogue lacks stay English, and an English edition that follows is English again."""
    mine = tmp_path / "workspace"
    prepare(mine, edition)
    page = (mine / START_PAGE).read_text(encoding="utf-8")
    assert "## De hoofdstukken\n" in page
    assert "### Deel een: torch.autograd\n" in page
    assert f'<a href="{CHAPTER}/{CHAPTER}.ipynb">' in page
    assert "<b>01</b> graaf: de geschiedenis van een getal</div></a><div>de graaf lezen</div>" in page
    assert "<small>45 van 85 minuten van de kern · needs Python, slopes</small>" in page
    assert (
        '<a href="11_record/11_record.ipynb"><div class="gl-no-picture"></div><div><b>11</b> vastleggen</div>' in page
    )
    assert "\n\nBegin waar je wilt.\n\n" in page
    assert f"Je werkmap: {mine}" in capsys.readouterr().out
    monkeypatch.setattr(lab, "COURSE", edition)
    renew_page(mine)
    assert (mine / START_PAGE).read_text(encoding="utf-8") == page
    (edition / "chapters" / words.FILE).unlink()
    prepare(mine, edition)
    assert not (mine / words.FILE).exists()
    assert "## The chapters\n" in (mine / START_PAGE).read_text(encoding="utf-8")


def test_babel_collects_the_texts_that_jupyterlabs_page_gets(tmp_path):
    collected = set()
    for path in EXTENSIONS.rglob("*.js"):
        with path.open("rb") as file:
            collected |= {text for _line, _function, text, _notes in extract_javascript(file, ["_"], [], {})}
    texts = json.loads((put_texts(tmp_path) / "labconfig/page_config.json").read_text(encoding="utf-8"))
    assert "Start This Chapter Over…" in collected
    assert json.loads(texts["gradlabTexts"]) == {text: text for text in collected}


@pytest.mark.browser
def test_jupyterlab_shows_the_extensions_texts_in_the_editions_language(open_lab, edition):
    opened = open_lab(edition.parent, command=GRADLAB_LAB, env={"PYTHONPATH": str(edition)})
    opened.goto()
    page = opened.page
    page.get_by_role("heading", name="De hoofdstukken").wait_for()
    page.get_by_role("link", name="graaf").click()
    opened.wait_for_kernel()
    page.locator(".jp-Notebook .jp-Cell").first.click(button="right")
    page.get_by_role("menuitem", name="Dit hoofdstuk opnieuw beginnen…").wait_for()
    assert page.evaluate("getComputedStyle(document.body).getPropertyValue('--gl-passed')") == '"geslaagd: "'
