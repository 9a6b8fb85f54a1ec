"""The start page of a workspace shows the progress, where to continue, and what is new."""

import json
import re

import nbformat
import pytest
from test_edition import cell, notebook

from gradlab import own_pictures
from gradlab.checks.record import CheckRecord, Record
from gradlab.checks.results import remember
from gradlab.setup import lab
from gradlab.setup.lab import COURSE, START_PAGE, renew_page
from gradlab.setup.workspace import put_page
from gradlab.start_page import HERE, SURPRISES, start_page

RELEASED = f"""# Course

{HERE}

| | chapter | passed | needs |
|---|---|---|---|
| 01 | [graph: a | in code](01_graph/01_graph.ipynb) | | |
| 02 | [gradients](02_gradients/02_gradients.ipynb) | | 01 |
| 03 | to come | | 02 |

{SURPRISES}

## Where to begin
"""


@pytest.fixture
def workspace(tmp_path):
    """Two chapters, of two exercises and of one."""
    for name, checks in {"01_graph": ["01.1", "01.2"], "02_gradients": ["02.1"]}.items():
        (tmp_path / name).mkdir()
        cells = [cell("opening", "# A chapter", "markdown")]
        for check in checks:
            cells += [
                cell(f"ex-{check[-1]}", f"### Exercise {check}", "markdown"),
                cell(f"note-{check[-1]}", "no heading", "markdown"),
                cell(f"check-{check[-1]}", "check()", grade=True, locked=True),
            ]
        nbformat.write(nbformat.from_dict(notebook(*cells)), tmp_path / name / f"{name}.ipynb")
        record = {
            check: CheckRecord(f"{check} say [what] $x$ is", "", [], cell=f"check-{check[-1]}") for check in checks
        }
        (tmp_path / name / f"{name}.record.json").write_text(Record(name, record).to_json())
    return tmp_path


def words(workspace) -> str:
    """Return what stands below the title."""
    return start_page(RELEASED, workspace).split("\n\n")[1]


def test_a_new_student_begins_with_the_first_chapter(workspace):
    assert (
        words(workspace)
        == "**Next: [01.1 say \\[what\\] \\$x\\$ is](01_graph/01_graph.ipynb)** · 0 of 3 exercises passed"
    )


def test_after_what_passed_comes_the_next_that_has_not(workspace):
    """In the same chapter; at the beginning of the next; and all round to what was skipped."""
    remember("01.1", "passed", workspace)
    assert "#cell-id=ex-2)" in words(workspace)
    remember("01.2", "passed", workspace)
    assert words(workspace).startswith("**Next: [02.1 say ")
    remember("01.1", "tried", workspace)
    remember("02.1", "passed", workspace)
    assert "(01_graph/01_graph.ipynb#cell-id=ex-1)" in words(workspace)
    remember("01.1", "passed", workspace)
    assert words(workspace) == "**All 3 exercises passed.**"


@pytest.mark.parametrize(
    ("minutes", "passed", "says"),
    [
        ("1=15 2=30", [], "Next: [01 section 1](01_graph/01_graph.ipynb), about 15 minutes"),
        ("1=15 2=20", [], "Next: [01 sections 1 to 2](01_graph/01_graph.ipynb), about 35 minutes"),
        ("1=50 2=20", [], "Next: [01 section 1](01_graph/01_graph.ipynb), about 50 minutes"),
        ("1=15 2=31", ["01.1"], "Next: [01 section 2](01_graph/01_graph.ipynb#cell-id=ex-2), about 30 minutes"),
        ("1=15", ["01.1"], "Next: [01.2 say \\[what\\] \\$x\\$ is](01_graph/01_graph.ipynb#cell-id=ex-2)"),
    ],
)
def test_the_next_sitting_takes_twenty_to_forty_minutes(workspace, minutes, passed, says):
    path = workspace / "01_graph/01_graph.ipynb"
    chapter = nbformat.read(path, as_version=4)
    for place, number in ((4, 2), (1, 1)):
        heading = nbformat.v4.new_markdown_cell(f"## {number} · What?", id=f"s{number}")
        chapter.cells.insert(place, heading)
    nbformat.write(chapter, path)
    for check in passed:
        remember(check, "passed", workspace)
    page = start_page(f"{RELEASED}\n<!-- minutes of sections: 00 1=5;\n01 {minutes} -->\n", workspace)
    assert f"**{says}** ·" in page


def test_the_map_shows_the_learners_own_pictures_and_functions(workspace, monkeypatch):
    """A chapter's latest picture; the engine's functions whose checks passed; what the engine has done."""
    chapter = nbformat.read(workspace / "02_gradients/02_gradients.ipynb", as_version=4)
    answer = cell(
        "answer-02-1", "def record(x):\n    return x\n\n\ndef edge(x):\n    return x", grade=False, solution=True
    )
    chapter.cells.append(nbformat.from_dict(answer | {"metadata": answer["metadata"] | {"tags": ["engine"]}}))
    nbformat.write(chapter, workspace / "02_gradients/02_gradients.ipynb")
    monkeypatch.setattr(own_pictures, "home", lambda folder=None: workspace)
    image = "data:image/png;base64,cG5n"
    remember("02.1", "passed", workspace)
    milestones = ["one neuron", "XOR", "spirals", "digits", "names"]
    files = [f"milestone-{name.replace(' ', '-')}" for name in milestones]
    for name in ("01.2", "01.1", *files):
        own_pictures.keep(name, f'<p>text</p><img src="{image}">')
    own_pictures.keep("01.1", "text alone")
    page = start_page(RELEASED, workspace)
    assert re.findall('<img src="(.*?)"', page) == [f".pictures/{name}.png" for name in ("01.1", *files)]
    assert (workspace / ".pictures/01.1.png").read_bytes() == b"png"
    assert re.findall("<li><img .*?><div>(.*?)</div></li>", page) == milestones
    assert " · 2 of 2 functions of the engine are yours\n" in page
    assert '<code class="gl-own">record ✓</code> <code class="gl-own">edge ✓</code>' in page
    remember("02.1", "tried", workspace)
    assert "0 of 2 functions of the engine are yours" in start_page(RELEASED, workspace)


def test_each_chapter_shows_how_far_it_is(workspace):
    """A dot for each exercise, and the count; a tick is taken back when the check fails."""
    remember("01.1", "passed", workspace)
    remember("01.2", "tried", workspace)
    page = start_page(RELEASED, workspace)
    first, second, third = re.findall("<li>.*?</li>", page)
    assert '<a href="01_graph/01_graph.ipynb">' in first
    assert "<b>01</b> graph: a | in code</div></a><div>●◐\u00a01\u00a0of\u00a02</div><small></small>" in first
    assert "<b>02</b> gradients</div></a><div>○\u00a00\u00a0of\u00a01</div><small>needs 01</small>" in second
    assert "<b>03</b> to come</div><small>needs 02</small>" in third
    remember("01.1", "tried", workspace)
    assert "●" not in start_page(RELEASED, workspace)


def guessed(workspace, **guesses):
    """Remember guesses at predictions of chapter 01: whether they were sure, and whether they were right."""
    found = {
        name: {"question": f"What is <{name}>?", "said": ["1", "a*b"], "sure": sure, "right": [True, right]}
        for name, (sure, right) in guesses.items()
    }
    (workspace / ".predictions.json").write_text(json.dumps({"01_graph": found}))


def test_predictions_that_were_sure_and_wrong_are_listed_with_their_places(workspace):
    """The line on top links to the list; without such a prediction there is neither."""
    guessed(workspace, s1=(True, False), s2=(True, True), s3=(False, False))
    page = start_page(RELEASED, workspace)
    assert "passed · [1 prediction to look at again](#Worth-another-look)\n" in page
    item = r"- 01: [What is \<s1\>?](01_graph/01_graph.ipynb#cell-id=s1) You said 1, a\*b."
    assert page.partition("## Worth another look\n")[2].split("\n")[3:6] == [item, "", "## Where to begin"]
    guessed(workspace, s1=(True, False), s2=(True, False))
    assert "[2 predictions to look at again]" in start_page(RELEASED, workspace)
    guessed(workspace, s1=(True, True))
    assert "again" not in start_page(RELEASED, workspace)


def test_the_page_is_made_again_unless_the_student_wrote_in_it(workspace, monkeypatch):
    released = workspace / "released"
    released.mkdir()
    (released / START_PAGE).write_text(RELEASED)
    monkeypatch.setattr(lab, "COURSE", released)
    page = workspace / START_PAGE
    renew_page(workspace)
    assert not page.exists()
    put_page(START_PAGE, lambda: start_page(RELEASED, workspace), workspace)
    before = page.stat().st_mtime_ns
    renew_page(workspace)
    assert page.stat().st_mtime_ns == before, "what is up to date is left alone"
    remember("01.1", "passed", workspace)
    renew_page(workspace)
    assert "1 of 3 exercises passed" in page.read_text()
    page.write_text("mine")
    renew_page(workspace)
    assert page.read_text() == "mine"


def test_kept_copies_are_named_with_a_link(workspace):
    """To the notebook in it, to the file itself, and by name where there is neither."""
    folder, page, other = (
        workspace / name
        for name in ["01_graph.before-2026-11-21", "README.before-2026-11-21.md", "02_gradients.before-2026-11-21"]
    )
    folder.mkdir()
    other.mkdir()
    page.write_text("")
    (folder / "01_graph.ipynb").write_text("")
    shown = start_page(RELEASED, workspace, {folder: "A new edition.", page: "A page.", other: "Another."})
    assert "**Your earlier copies**" in shown, "of new editions, and of chapters that were started over"
    assert f"- [{folder.name}]({folder.name}/01_graph.ipynb): A new edition." in shown
    assert f"- [{page.name}]({page.name}): A page." in shown
    assert f"- `{other.name}`: Another." in shown


def test_the_released_page_has_a_place_for_all_this():
    """Every chapter that is there has a row with a place for its dots, and the words have theirs."""
    released = (COURSE / START_PAGE).read_text(encoding="utf-8")
    assert HERE in released
    assert f"{SURPRISES}\n\n" in released
    page = start_page(released, COURSE / "chapters")
    chapters = sorted(path.name for path in COURSE.glob("chapters/*") if path.name[0].isdigit())
    cards = {name: card for card in re.findall("<li>.*?</li>", page) for name in chapters if f"{name}.ipynb" in card}
    assert [name for name in chapters if "○" not in cards.get(name, "")] == []
    assert "**Next: [00 section" in page
    assert re.search(r"0 of \d\d functions of the engine", page)
