"""A class with a catalogue is graded in its language: verdicts, reasons, pages and reports, with the same points."""

import pickle

import pytest
from dutch_words import dutch_words
from nbconvert.exporters import HTMLExporter
from nbformat.v4 import new_markdown_cell
from tiny_class import NAME, RIGHT, SLIP, TinyClass, csv_rows, nbgrader, write_settings

from autograder.steps.autograde import autograde
from gradlab import words

DUTCH = {
    "The cell for {answer} has a syntax error in line {line}: {error}.": "De cel met {answer}, regel {line}: {error}.",
    "it contains more than {count} files.": "het zijn meer dan {count} bestanden.",
    "What was graded": "Wat is beoordeeld",
    "Scrolls sideways": 'Schuift "opzij"',
    "{state}. Likely slip: {slip}": "{state}. Vermoedelijk: {slip}",
    "{got} of {most}": "{got} van {most}",
    ("{got} of {most} point", "{got} of {most} points"): ("{got} van {most} punt", "{got} van {most} punten"),
    "slip: {name}": "vergissing: {name}",
    "graded": "beoordeeld",
    "not submitted": "niet ingeleverd",
    "Slip": "Fout",
    "Other": "Fout",
    "Report on {chapter}": "Verslag over {chapter}",
    "This submission could not be graded:": "Deze inzending kon niet worden beoordeeld:",
    "Made on {time} from the gradebook and the autograded notebooks.": "Gemaakt op {time} uit het cijferboek.",
}
OF_CHAPTER = {"the gradient at x": "de gradiënt in x", "external gradient alone": "alleen de gradiënt van buiten"}
ANSWERS = {"right": RIGHT, "slip": SLIP, "syntax": RIGHT | {"answer-1": "def pull_back(x, v:\n    return v"}}


@pytest.fixture(scope="module")
def dutch(tmp_path_factory):
    """A class in Dutch with settings, graded and with feedback."""
    tiny = TinyClass(write_settings(tmp_path_factory.mktemp("dutch")))
    (tiny.folder / words.FILE).write_bytes(dutch_words({None: DUTCH, "90.1": OF_CHAPTER}))
    tiny.add("absent")
    for student, answers in ANSWERS.items():
        tiny.hand_in(student, answers, lambda nb: nb.cells.append(new_markdown_cell("<table></table>")))
    tiny.hand_in("full", RIGHT)
    for number in range(501):
        (tiny.submission("full") / f"{number}.txt").touch()
    tiny.grade()
    nbgrader(tiny.folder.parent, "generate_feedback", NAME)
    yield tiny
    words.use(b"")


def test_the_points_are_those_of_a_class_in_english(dutch):
    assert [dutch.points(student) for student in ("right", "slip", "syntax")] == [[2, 3], [0, 1.5], [0, 1.5]]


def test_a_verdict_and_the_feedback_page_are_in_the_class_s_language(dutch):
    assert "De cel met pull_back, regel 1: '(' was never closed." in dutch.verdict("syntax", "check-1")
    page = dutch.page("slip").read_text(encoding="utf-8")
    for text in ['<html lang="nl">', "Wat is beoordeeld", "90.1 de gradiënt in x", "0 van 2", "1.5 van 5 punten"]:
        assert text in page
    assert ". Vermoedelijk: alleen de gradiënt van buiten" in page
    assert 'aria-label="Schuift &#34;opzij&#34;"' in page
    assert "external gradient alone" not in page


def test_the_report_is_too_but_not_the_data_of_its_csv_file(dutch, said):
    shown, reports = said(dutch, "report", NAME), dutch.folder / "reports"
    found = {(line["student"], line["check"]): line for line in csv_rows(reports / f"{NAME}.csv")}
    assert [found[student, "90.1"]["status"] for student in ("absent", "full", "slip")] == [
        "not submitted",
        "could not be graded",
        "graded",
    ]
    assert found["slip", "90.1"]["slip"] == "external gradient alone"
    assert found["full", "90.1"]["reason"] == "het zijn meer dan 500 bestanden."
    page = (reports / f"{NAME}.html").read_text(encoding="utf-8")
    for text in ['<html lang="nl">', "Verslag over Tiny", "niet ingeleverd", "alleen de gradiënt van buiten"]:
        assert text in page
    assert page.count(">Fout</th>") == 3, "two columns with the same translation are two"
    assert "Gemaakt op <time" in page
    assert "90.1  vergissing: alleen de gradiënt van buiten" in shown
    assert "3 beoordeeld" in shown
    assert "\nabsent                  niet ingeleverd\n" in shown


def test_a_worker_gets_the_language_with_the_assignment(dutch):
    grader = dutch.grader()
    submission = grader.begin("syntax")
    words.use(b"")
    graded = autograde(pickle.loads(pickle.dumps(grader.kit)), submission)
    assert "De cel met pull_back, regel 1" in graded.notebook


def test_formgrader_says_in_it_at_the_top_why_a_submission_could_not_be_graded(dutch):
    for student in ("full", "right"):
        path = dutch.folder / "autograded" / student / NAME / f"{NAME}.ipynb"
        names = dict.fromkeys(["assignment_id", "notebook_id", "submission_id", "student", "notebook_path"], NAME)
        names |= {"index": 0, "total": 1, "base_url": "", "last_name": None, "first_name": None}
        page, _ = HTMLExporter(config=dutch.api.config).from_filename(str(path), resources=names)
        assert '<html lang="nl">' in page
        said = "Deze inzending kon niet worden beoordeeld:</strong> het zijn meer dan 500 bestanden."
        assert (said in page[page.index("<body") : page.index('id="notebook"')]) == (student == "full")


def test_nbgrader_s_own_commands_use_the_language_too(dutch):
    words.use(b"")
    nbgrader(dutch.folder.parent, "autograde", NAME, "--student", "syntax", "--force")
    assert "De cel met pull_back, regel 1: '(' was never closed." in dutch.verdict("syntax", "check-1")
    words.use(b"")
    nbgrader(dutch.folder.parent, "generate_feedback", NAME, "--student", "syntax", "--force")
    assert "Wat is beoordeeld" in dutch.page("syntax").read_text(encoding="utf-8")


def test_a_page_is_outdated_when_the_catalogue_has_changed(dutch, said):
    assert "The feedback page is outdated" not in said(dutch, "report", NAME)
    path = dutch.folder / words.FILE
    kept = path.read_bytes()
    path.unlink()
    assert f"The feedback page is outdated (autograder feedback {NAME}): " in said(dutch, "report", NAME)
    path.write_bytes(kept)
