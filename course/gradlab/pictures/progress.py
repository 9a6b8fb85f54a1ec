"""The picture of a learner's progress: a row for each chapter, a box for each exercise."""

from .picture import Picture, label, static, svg, text_width


class Progress(Picture):
    """The grid of all exercises.

    chapters: the ids of each chapter's exercises, {"02_external_gradients": ["02.1"]}. verdicts: the states of
    exercises that were tried, {"02.1": "passed"} or "tried".
    """

    def __init__(self, chapters, verdicts):
        self.chapters, self.verdicts = chapters, verdicts
        ids = [i for exercises in chapters.values() for i in exercises]
        passed, tried = (sum(verdicts.get(i) == v for i in ids) for v in ("passed", "tried"))
        counts = f"{passed} of {len(ids)} exercises passed, {tried} tried."
        alt = counts if ids else "No chapters were found beside this one."
        lines = [alt]
        for name, exercises in chapters.items():
            marks = " ".join(f"{i}{_mark(verdicts.get(i))}" for i in exercises)
            lines.append(f"{_title(name)}: {marks or 'no exercises'}")
        lines += ["✓ passed, … tried, · not yet"] if ids else []
        super().__init__(_draw(chapters, verdicts, alt), "\n".join(lines), alt)


def _title(name):
    number, _, words = name.partition("_")
    return f"{number} {words.replace('_', ' ')}"


def _mark(verdict):
    return {"passed": "✓", "tried": "…"}.get(verdict, "·")


def _draw(chapters, verdicts, alt):
    step, top = 26, 34
    left = 20 + max((text_width(_title(name), 12, True) for name in chapters), default=0)
    most = max((len(exercises) for exercises in chapters.values()), default=0)
    body = [label(6, 16, alt, "gl-t gl-note", "start")]
    for row, (name, exercises) in enumerate(chapters.items()):
        y = top + row * step
        done = bool(exercises) and all(verdicts.get(i) == "passed" for i in exercises)
        body.append(label(6, y + 15, _title(name), "gl-t gl-note" if done else "gl-note", "start"))
        for k, i in enumerate(exercises):
            x, verdict = left + k * step, verdicts.get(i)
            body.append(f'<g class="gl-check gl-{verdict or "open"}" data-check="{i}">')
            body.append(f'<rect x="{x}" y="{y}" width="20" height="20" rx="4"/>')
            if verdict == "passed":
                body.append(f'<path class="gl-tick" d="M{x + 5} {y + 10}l4 4 7 -8"/>')
            else:
                body.append(label(x + 10, y + 14, i.partition(".")[2]))
            body.append("</g>")
    height = top + step * len(chapters) + 4
    width = max(left + step * most + 6, text_width(alt, 12, True) + 12)
    return svg(width, height, "".join(body), alt, static("progress.css"))
