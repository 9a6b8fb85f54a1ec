"""Show everything that led to one submission's grade, and nothing about other students, on a page for appeals."""

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import nbformat
from nbformat import NotebookNode
from nbgrader.api import Gradebook
from nbgrader.coursedir import CourseDirectory

from gradlab import atomic, ipynb

from ..errors import ClassError, did_you_mean
from ..steps import outcome, receipt, scores
from ..steps.assignment import stored_version
from ..steps.files import all_in, readable, unfit
from ..steps.outcome import NotebookOutcome
from .changes import compare_all, counted, points
from .feedback_page import GetGradesOrReason
from .report import Report, Row, gather
from .standing import in_words
from .submission_page import NotebookPages
from .words import exercise_of, local

MOST_BYTES = 5_000_000  # of a submitted notebook whose sources are shown
MOST_SOURCES = 200
MOST_CHARACTERS = 30_000  # of one source

Facts = list[tuple[str, str]]


def write(course: CourseDirectory, name: str, student: str) -> tuple[Path, Facts]:
    """Write the page about a student's grade into the class's folder `appeals`; return its path and its summary.

    Raises ClassError if the student is unknown or has no graded submission.
    """
    report = gather(course, name, only=student, search=False)
    if not report.rows:
        with Gradebook(course.db_url, course.course_id) as gradebook:
            meant = did_you_mean(student, [one.id for one in gradebook.students])
        raise ClassError(f"The gradebook has no student {readable(student)}.{meant}")
    row = report.rows[0]
    if row.notebook is None:
        raise ClassError(f"{readable(student)} has no graded submission of {name} (status: {row.status}).")
    nb = nbformat.read(row.notebook, as_version=4)
    found = outcome.read(nb)
    facts = _facts(course, report, row, found)
    appeal = {"facts": facts, "checks": list(_checks(report, row, nb))} | _submission(course, name, student, found)
    page = Path(course.root, "appeals", name, f"{row.student}.html")
    page.parent.mkdir(parents=True, exist_ok=True)
    pages = NotebookPages(course, "course_submission", GetGradesOrReason)
    atomic.write_text(page, pages.render(row.notebook, student, appeal=appeal), mode=0o600)
    return page, facts


def _facts(course: CourseDirectory, report: Report, row: Row, found: NotebookOutcome) -> Facts:
    standing, name = row.standing, report.assignment
    score = f"{row.score:g} of {report.max_score:g}" if row.score is not None else row.status
    facts = [("Student", row.student + (f", {standing.name}" if standing.name else "")), ("Score", score)]
    facts += [("Reason", row.reason)] if row.reason else []
    submitted = local(standing.submitted_at) if standing.submitted_at else "at an unknown time, so it counts as on time"
    extended = f", with an extension of {in_words(standing.extension_s)}" if standing.extension_s else ""
    facts += [("Submitted", submitted), ("Due", local(standing.due) + extended if standing.due else "no due date")]
    facts.append(("Late", f"{standing.late}; {counted(standing.penalty)} deducted" if standing.late else "no"))
    now = scores.read(course, name).get(row.student)
    for cell, given in standing.by_hand.items():
        automatic = points(now.auto.get(cell) if now else None)
        facts.append((f"{exercise_of(cell)} set manually", f"{counted(given)}, instead of {automatic} by the check"))
    facts += [(f"Comment on {exercise_of(cell)}", text) for cell, text in _comments(course, name, row.student)]
    graded = datetime.fromtimestamp(row.notebook.stat().st_mtime, UTC)
    ran = f"; its cells ran for {found.seconds:.3g} seconds" if found.seconds is not None else ""
    facts += [("Graded", local(graded) + ran), ("Judged by", _record(course, name, found))]
    for at, changes in compare_all(course, name):
        for change in (one for one in changes if one.student == row.student):
            moved = f"{change.exercise}: from {points(change.before)} to {points(change.after)}"
            facts.append((f"Changes since the run of {local(at)}", "; ".join(filter(None, [moved, change.said]))))
    return [(label, readable(text)) for label, text in facts]


def _comments(course: CourseDirectory, name: str, student: str) -> list[tuple[str, str]]:
    """Return the graders' comments by cell, each on one line, without automatic ones."""
    with Gradebook(course.db_url, course.course_id) as gradebook:
        found = [c for notebook in gradebook.find_submission(name, student).notebooks for c in notebook.comments]
        return sorted((one.name, " ".join(one.manual_comment.split())) for one in found if one.manual_comment)


def _record(course: CourseDirectory, name: str, found: NotebookOutcome) -> str:
    seed, version = stored_version(course, name)
    if not found.graded_by:
        return "no record: grading failed before the checks, or an earlier version did not store it"
    if found.graded_by == version:
        return f"record {version}, the class's current one, with seed {seed}"
    return f"record {found.graded_by}, but the class's current one is {version or 'missing'}: regrade the submission"


def _checks(report: Report, row: Row, nb: NotebookNode) -> Iterator[dict]:
    """Yield a dict for each check: title, cell, points, result and, if it failed, the message of its verdict."""
    verdicts = {check_id: said for cell in nb.cells for check_id, said in outcome.read_verdicts(cell).items()}
    for check in report.checks:
        result, verdict = row.results.get(check.check_id), verdicts.get(check.check_id)
        if result is not None:
            passed = {True: "passed", False: "not passed", None: "no verdict"}[result.passed]
            by_hand = ", set manually" if check.cell in row.standing.by_hand else ""
            yield {
                "title": check.title,
                "cell": check.cell,
                "points": f"{points(result.points)} of {check.max_points:g}{by_hand}",
                "result": f"{passed}; slip: {result.slip}" if result.slip else passed,
                "verdict": "" if verdict is None or verdict.passed else verdict.message,
            }


def _submission(course: CourseDirectory, name: str, student: str, found: NotebookOutcome) -> dict:
    """Return a dict with the sources that differ from the release, and whether the submission changed since grading."""
    folder = Path(course.format_path(course.submitted_directory, student, name))
    if not folder.exists():
        return {"state": "The submission no longer exists.", "sources": []}
    same = found.handed_in == receipt.fingerprint(folder, course.ignore)
    state = f"The submission {'is unchanged' if same else 'has changed'} since it was graded."
    reason = unfit(folder, name)
    if reason:
        return {"state": f"{state} {reason}", "sources": [], "files": _files(folder)}
    released = Path(course.format_path(course.release_directory, ".", name))
    try:
        given = {source for _, source in _sources(released, name)}
        sources = [(where, source) for where, source in _sources(folder, name) if source not in given]
    except (OSError, ValueError, RecursionError, MemoryError) as error:
        said = f"{state} Its notebook cannot be read here ({type(error).__name__}: {readable(str(error))[:200]})."
        return {"state": said, "sources": [], "files": _files(folder)}
    return {"state": f"{state} These sources differ from the release.", "sources": sources[:MOST_SOURCES]}


def _sources(folder: Path, name: str) -> Iterator[tuple[str, str]]:
    """Yield a title and the source of each code cell and Python file of a submission; the notebook may be malformed."""
    path = folder / f"{name}.ipynb"
    if path.stat().st_size > MOST_BYTES:
        raise ValueError(f"it is larger than {MOST_BYTES / 1e6:g} MB")
    for number, cell in enumerate(ipynb.read(path.read_bytes())["cells"], 1):
        if cell["cell_type"] == "code":
            label = ipynb.grade_id(cell) or cell.get("id", "without a name")
            yield f"Cell {number}, {readable(label[:60])}", cell["source"][:MOST_CHARACTERS]
    for path in sorted(folder.rglob("*.py")):
        if path.is_file():
            with path.open(encoding="utf-8", errors="replace") as file:
                yield readable(path.relative_to(folder)), file.read(MOST_CHARACTERS)


def _files(folder: Path) -> str:
    try:
        found = [f"{readable(path.relative_to(folder))}, {found.st_size} bytes" for path, found in all_in(folder)]
    except OSError as error:
        return f"The folder cannot be read: {error.strerror}."
    return "\n".join(found[:MOST_SOURCES])
