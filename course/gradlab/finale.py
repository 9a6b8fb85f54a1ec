"""Run lesson cells of earlier chapters in torch and on the engine of part two, and compare what they print."""

import contextlib
import html
import inspect
import io
import re
import warnings
from dataclasses import dataclass

from . import like_torch, notebook
from .ipynb import grade_id, read, tags
from .words import N_, _

LEFT_OUT = {  # by chapter and cell: what the cell needs but the engine leaves out
    "02_external_gradients": {
        "s3-table": N_("a tensor of an older kind"),
        "s2-shapes": N_("a check of the external gradient's type"),
    },
    "03_accumulation": dict.fromkeys(["s3-run", "s3-memory-run", "s4-memory", "s5-ways"], N_("access to saved values"))
    | {"s1-loop": N_("a count of a tensor's versions")},
    "06_tensor_hooks": dict.fromkeys(
        ["s2-handle", "s2-raise-run", "s6-inputs", "s7-wrong"], N_("access to torch's own engine")
    )
    | dict.fromkeys(["s6-nodes-run", "s6-step"], N_("hooks on nodes")),
}
TORCH, OURS = "import torch\n", "from gradlab import like_torch as torch\n"
STYLE = """<style>
.gl-lessons summary{cursor:pointer;white-space:nowrap;overflow:hidden;text-overflow:ellipsis}
.gl-lessons .gl-beside{display:flex;flex-wrap:wrap;gap:0 16px}
.gl-lessons summary+.gl-beside{padding:2px 0 10px 16px}
.gl-lessons .gl-beside>*{flex:1 1 0;min-width:0}
.gl-lessons summary+.gl-beside>*{flex-basis:440px}
.gl-lessons pre{font-size:12px;line-height:1.4;overflow-x:auto}
</style>"""
ASKED = re.compile(r'predict\.\w+\(\s*"([^"]+)",\s*"([^"]+)"')  # a prediction's cell and question
_compared: dict = {}  # each chapter's compared lessons, and the matmul and SGD that they ran with


def prepare(matmul, SGD):
    """Let lessons use the matmul and SGD that chapter 14 adds to the engine."""
    if _compared.get("with") != (matmul, SGD):
        _compared.clear()
        _compared["with"] = matmul, SGD
    like_torch.finish(matmul, SGD)


@dataclass(frozen=True)
class Lesson:
    """A lesson cell, and what it prints in torch and on your engine.

    why: what it needs, if it is left out. asked: the question of a prediction.
    """

    cell: str
    source: str
    torch: str = ""
    yours: str = ""
    why: str = ""
    asked: str = ""

    @property
    def same(self):
        """Whether it ran and printed the same on both."""
        return not self.why and self.torch == self.yours

    @property
    def how(self):
        """The outcome of the comparison, in words."""
        if self.why:
            return _("left out: it needs {what}", what=_(self.why))
        return _("the same") if self.same else _("not the same")


class Prediction:
    """A prediction that nobody makes: its block runs and prints as usual, and so does what reads its answers."""

    def reads(self, function):
        self.reader = function

    def compare(self, *answers):
        pass

    def __enter__(self):
        return self

    def __exit__(self, kind, error, traceback):
        if error is None and hasattr(self, "reader"):
            parameters = inspect.signature(self.reader).parameters.values()
            names = [parameter.name for parameter in parameters if parameter.default is parameter.empty]
            self.reader(*(self.reader.__globals__[name] for name in names))


class Predict:
    """A stand-in for gradlab.predict, with the predictions of one chapter."""

    def __init__(self):
        self.made = {}

    def __getattr__(self, name):
        return lambda cell="", *args, **options: self.made.setdefault(cell, Prediction())


IN_PLACE = dict.fromkeys(["display", "draw", "step", "vjp"], lambda *args, **kwargs: None)  # they show pictures


def notebook_of(chapter):
    """Return the path of a chapter's notebook: its released copy if there is one, else the notebook itself."""
    beside = notebook.home() / chapter / f"{chapter}.ipynb"
    released = notebook.home() / ".released" / chapter / beside.name
    return released if released.exists() else beside


def lesson_cells(chapter):
    """Return the id and source of each setup and lesson cell of a chapter as released, without the learner's cells."""
    return [
        (cell["id"], cell["source"])
        for cell in read(notebook_of(chapter).read_bytes())["cells"]
        if cell["cell_type"] == "code"
        and grade_id(cell) is None
        and not {"reference", "after-exercises"} & {*tags(cell)}
    ]


def printed(chapter, line):
    """Return what each lesson cell prints, by id, with `line` instead of `import torch`; errors are printed, too."""
    namespace, outputs, in_place = {}, {}, IN_PLACE | {"predict": Predict()}
    for cell_id, source in lesson_cells(chapter):
        if cell_id in LEFT_OUT.get(chapter, ()):
            continue
        out = io.StringIO()
        with contextlib.redirect_stdout(out), warnings.catch_warnings(action="ignore"):
            try:
                exec(compile(source.replace(TORCH, line), cell_id, "exec"), namespace)
            except Exception as error:
                print(f"{type(error).__name__}: {error}")
        namespace |= in_place
        outputs[cell_id] = out.getvalue()
    return outputs


def compare(chapter):
    """Return a chapter's lessons: the cells that print, with both outputs, and those that are left out."""
    if chapter not in _compared:
        on_torch, on_ours, why = printed(chapter, TORCH), printed(chapter, OURS), LEFT_OUT[chapter]
        cells = lesson_cells(chapter)
        asked = dict(pair for _, source in cells for pair in ASKED.findall(source))
        ran = (Lesson(*cell, *(every.get(cell[0], "") for every in (on_torch, on_ours, why, asked))) for cell in cells)
        _compared[chapter] = [lesson for lesson in ran if lesson.why or lesson.torch or lesson.yours]
    return _compared[chapter]


class side_by_side:
    """The lessons of one chapter, each beside both of its outputs; the first line counts the lessons of all chapters.

    If a chapter's folder is not beside this chapter's, that line says so, and no lesson is shown.
    """

    def __init__(self, chapter, chapters):
        missing = [each for each in chapters if not notebook_of(each).exists()]
        if missing:
            self.lessons = []
            folders = ", ".join(missing)
            self.count = _(
                "To see lessons run on your engine, put these folders beside this one: {folders}.", folders=folders
            )
            return
        self.lessons = compare(chapter)
        lessons = [lesson for each in chapters for lesson in compare(each)]
        self.count = _(
            "{same} of {total} lesson cells of chapters {chapters} print the same on your engine as in torch; "
            "{out} are left out, each for a reason.",
            same=sum(lesson.same for lesson in lessons),
            total=len(lessons),
            chapters=", ".join(each[:2] for each in chapters),
            out=sum(bool(lesson.why) for lesson in lessons),
        )

    def __repr__(self):
        return "\n".join([self.count, *(f"{lesson.cell:18} {lesson.how}" for lesson in self.lessons)])

    def _repr_html_(self):
        shown = [lesson for lesson in self.lessons if not lesson.why]
        left_out = [f"<li>{_where(lesson)}: {html.escape(lesson.how)}</li>" for lesson in self.lessons if lesson.why]
        lessons = "".join(_details(lesson, opened=lesson is shown[0]) for lesson in shown)
        return f'{STYLE}<div class="gl-lessons"><p><b>{self.count}</b></p>{lessons}<ul>{"".join(left_out)}</ul></div>'


def _where(lesson):
    section = re.match(r"s(\d+)-", lesson.cell)
    return _("section {number}", number=section[1]) if section else _("the set-up")


def _part(what, text):
    return f"<div><b>{what}</b><pre>{html.escape(text)}</pre></div>"


def _details(lesson, opened):
    """Return a lesson as a fold: its code, with both outputs beside it."""
    torchs, yours = _part(_("prints in torch"), lesson.torch), _part(_("on your engine"), lesson.yours)
    code = _part(_("the lesson"), lesson.source.replace(TORCH, OURS))
    beside = f'<div class="gl-beside">{code}<div class="gl-beside">{torchs}{yours}</div></div>'
    line = html.escape(lesson.asked) or f"<code>{html.escape(lesson.source.splitlines()[0])}</code>"
    title = f"{'✓' if lesson.same else '✗'} {lesson.how}, {_where(lesson)}: {line}"
    return f"<details{' open' * opened}><summary>{title}</summary>{beside}</details>"
