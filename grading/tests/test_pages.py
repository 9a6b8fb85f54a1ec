"""Feedback and Formgrader pages are complete, and nothing from a submission runs or loads in them."""

import base64
import re
import sys
from pathlib import Path

import nbformat
import pytest
from browser import LabPage
from lab_server import serve
from nbformat.v4 import new_code_cell, new_markdown_cell, new_output, new_raw_cell
from test_hub import Formgrader
from tiny_class import NAME, RIGHT, SLIP, TinyClass, write_settings

from authoring.places import SOURCES
from autograder.views import pages

RUN = "(top.ran = top.ran || []).push(1)"  # set by a submission's script if it runs
FAR = "http://far.example"
PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="  # one pixel
SVG = (
    f'<svg xmlns="http://www.w3.org/2000/svg" width="20" height="10" onload="{RUN}"><script>{RUN}</script>'
    f'<image href="{FAR}/in.png"/><rect width="20" height="10"/></svg>'
)
SVG_URI = "data:image/svg+xml;base64," + base64.b64encode(SVG.encode()).decode()

ATTACKS = [
    f"<script>{RUN}</script>",
    f'<script src="{FAR}/a.js"></script>',
    f"<img src=x onerror='{RUN}'>",
    f'<img src="{FAR}/pixel.png" srcset="{FAR}/2.png 2x">',
    f"<svg onload='{RUN}'><script>{RUN}</script><foreignObject><img src=x onerror='{RUN}'></foreignObject></svg>",
    f'<math><mtext><table><mglyph><style><!--</style><img title="--&gt;&lt;img src=1 onerror={RUN}&gt;">',
    f'<math><a xlink:href="javascript:{RUN}">m</a></math>',
    f'<a class="lure" href="javascript:{RUN}">a</a> <a class="lure" href="java\nscript:{RUN}">b</a>',
    f'<a class="lure" href="data:text/html,<script>{RUN}</script>">c</a> <a class="lure" href="evil.html">d</a>',
    f'<iframe srcdoc="<script>{RUN}</script>"></iframe><iframe src="{FAR}/f"></iframe>',
    f'<iframe src="evil.html"></iframe><iframe src="javascript:{RUN}"></iframe>',
    f'<object data="{FAR}/o"></object><embed src="{FAR}/e"><video src="{FAR}/v" autoplay></video>',
    f'<form action="{FAR}/form"><input name="score" autofocus onfocus="{RUN}"><button>Send</button></form>',
    f'<meta http-equiv="refresh" content="0; url={FAR}/m"><base href="{FAR}/">',
    f'<link rel="stylesheet" href="{FAR}/l.css"><style>@import "{FAR}/s.css"; .total {{ color: red }}</style>',
    f'<p style="background: url({FAR}/b.png); position: fixed; inset: 0; color: blue">over everything</p>',
    f'<details open ontoggle="{RUN}"><summary>open</summary></details>',
    f'<p id="check-1" class="score tabbable" data-html="true" title="<img src=x onerror={RUN}>">t</p>',
    f'<body onload="{RUN}" background="{FAR}/body.png">',
    f"</div></div></section></main></body><script>{RUN}</script>",
    f"</pre></code></textarea></title></style><img src=x onerror='{RUN}'>",
    f'<math href="{FAR}/1"><mi href="{FAR}/2" xlink:href="{FAR}/3">x</mi><maction href="{FAR}/4">y</maction></math>',
    f'<math><annotation-xml encoding="text/html"><img src="{FAR}/5"></annotation-xml><mglyph src="{FAR}/6"/></math>',
    f'<math style="background-image: url({FAR}/7)"><mi style="background-color: url({FAR}/8)">z</mi></math>',
    "<math><mpadded voffset='-3000px' lspace='-800px' width='0'><mspace width='-9999px'/><mi>up</mi></mpadded></math>",
    f'<p style="background-color: u\\72l({FAR}/9); border: 1px url({FAR}/10); width: 99999px; height: 50px">wide</p>',
    '<p style="font-size: 900px; white-space: nowrap">huge</p><table style="width: 99999px"><td>wide</td></table>',
    f'<img src="attachment:{FAR}"><img src="attachment:dot.png" width="9999"><math><mspace width="99999px"/></math>',
]
BOXES = ".piece, .outputs, .highlight, .comment, pre, h3"
# Returns what of a box is hit outside the box, on a grid of points of the whole page
OUTSIDE = """boxes => {
    const found = []
    for (let top = 0; top < document.documentElement.scrollHeight; top += innerHeight) {
        scrollTo(0, top)
        for (let y = 5; y < innerHeight; y += 20) for (let x = 5; x < innerWidth; x += 20)
            for (const hit of document.elementsFromPoint(x, y))
                for (let box = hit.closest(boxes); box; box = box.parentElement.closest(boxes)) {
                    const {left, right, top, bottom} = box.getBoundingClientRect()
                    if (x < left - 1 || x > right + 1 || y < top - 1 || y > bottom + 1) found.push(hit.outerHTML)
                }
    }
    return found
}"""
HTML = "\n\n".join(ATTACKS)

HONEST = f"""
A formula $\\frac{{\\partial L}}{{\\partial x}} < 1$ and another:

$$J = \\begin{{pmatrix}} a & b \\\\ c & d \\end{{pmatrix}}$$

| one | two |
|---|---|
| 1 | `x < y` |

<details><summary>Unfold</summary>

Folded **text**.

</details>

![from the folder](figures/dot.svg) <img alt="inside" src="{SVG_URI}">

[The documentation](https://docs.pytorch.org/)
"""

SHOW = f"""
from IPython.display import HTML, SVG, Image, Javascript, Latex, Markdown, display

html, svg, png = {HTML!r}, {SVG!r}, {PNG!r}
"""
SHOW_HOSTILE = (
    SHOW
    + f"""
import sys

display(HTML(html), SVG(svg), Markdown(html), Latex(html), Javascript({RUN!r}), Image(url="{FAR}/i.png"))
display({{"text/html": html, "text/plain": html}}, raw=True, metadata={{"text/html": {{"isolated": True}}}})
display({{"image/png": '"><script>{RUN}</script>'}}, raw=True, metadata={{"image/png": {{"width": "1 onload={RUN}"}}}})
display({{"application/vnd.jupyter.widget-view+json": {{"model_id": html}}, "text/plain": html}}, raw=True)
print(html)
print(html, file=sys.stderr)
raise ValueError(html)
"""
)
SHOW_HONEST = (
    SHOW
    + """
import base64

display(Image(data=base64.b64decode(png)), SVG(svg), Markdown("**bold** $x^2$"))
display(HTML(f"<table><tr><td style='text-align: right'>cell</td></tr></table>"))
print("plain", "text")
"""
)


def fill(folder: Path, nb, markdown: str, show: str) -> None:
    """Put a student's answers into a notebook of the tiny class, and a picture beside it."""
    for cell in nb.cells:
        cell.metadata["autograder"] = {"90.1": {"feedback": {"title": "90.1 forged", "state": "passed"}}}
    (folder / "figures").mkdir()
    (folder / "figures" / "dot.svg").write_text(SVG)
    (folder / "evil.html").write_text(f"<script>{RUN}</script>")
    nb.cells += [new_markdown_cell(markdown), new_raw_cell(markdown), new_code_cell(show)]


def poison(path: Path) -> None:
    """Add content that grading would remove to an autograded notebook, because pages must be safe on their own."""
    nb = nbformat.read(path, as_version=4)
    nb.metadata.update(title=HTML, language_info={"name": HTML, "pygments_lexer": HTML})
    nb.metadata["widgets"] = {"application/vnd.jupyter.widget-state+json": {"state": {"a": HTML}}}
    output = new_output("execute_result", {"text/html": HTML}, execution_count=1)
    cell = new_code_cell("1", outputs=[output])
    cell.metadata.update(tags=[HTML], magics_language=HTML)
    cell.metadata["nbgrader"] = {"grade_id": f'x"><img src=x onerror="{RUN}">', "grade": True, "points": HTML}
    cell["execution_count"] = output["execution_count"] = HTML
    cell["id"] = "<script>"
    nb.cells.append(cell)
    path.write_text(nbformat.writes(nb))


@pytest.fixture(scope="module")
def tiny(tmp_path_factory):
    """Anna is honest; mallory's answer is hostile too; ines could not be graded."""
    root = tmp_path_factory.mktemp("pages")
    tiny = TinyClass(root / "class")
    evil = f"def pull_back(x, v):\n    return {HTML!r}"
    tiny.hand_in("anna", RIGHT, change=lambda nb: fill(tiny.submission("anna"), nb, HONEST, SHOW_HONEST))
    tiny.hand_in(
        "mallory",
        RIGHT | {"answer-1": evil},
        change=lambda nb: fill(tiny.submission("mallory"), nb, HTML, SHOW_HOSTILE),
    )
    tiny.hand_in("ines", RIGHT)
    notebook = tiny.submission("ines") / f"{NAME}.ipynb"
    notebook.rename(notebook.with_name("<img src=x onerror=alert(1)>.ipynb"))
    write_settings(root)
    assert tiny.grade() == {"anna": "graded", "mallory": "graded", "ines": "could not be graded"}
    poison(tiny.folder / "autograded" / "mallory" / NAME / f"{NAME}.ipynb")
    with tiny.api.gradebook as gradebook:
        for student in ("anna", "mallory"):
            gradebook.find_submission_notebook(NAME, NAME, student).comments[0].manual_comment = f"See $x^2$.\n\n{HTML}"
        gradebook.db.commit()
    result = tiny.api.generate_feedback(NAME)
    assert result["success"], result
    return tiny


class Look:
    """A page in Chromium, with its requests and messages."""

    def __init__(self, page):
        self.page = page
        self.requests, self.messages, self.dialogs = [], [], []
        page.context.on("request", lambda request: self.requests.append(request.url))
        page.on("console", lambda message: self.messages.append(message.text))
        page.on("pageerror", lambda error: self.messages.append(str(error)))
        page.on("dialog", lambda dialog: (self.dialogs.append(dialog.message), dialog.dismiss()))

    def assert_dead(self) -> None:
        """Fail if anything ran or was loaded, or was blocked by the page's policy, which causes a message."""
        self.page.wait_for_load_state("networkidle")
        assert [frame.evaluate("window.ran") for frame in self.page.frames] == [None] * len(self.page.frames)
        assert self.dialogs == []
        assert self.messages == []
        assert [url for url in self.requests if "far.example" in url or "evil.html" in url] == []

    def texts(self, selector: str) -> list[str]:
        return self.page.locator(selector).all_inner_texts()


@pytest.fixture
def look(page):
    return Look(page)


@pytest.mark.browser
@pytest.mark.parametrize("student", ["anna", "mallory", "ines"])
def test_a_feedback_page_is_one_file_in_which_nothing_runs(tiny, look, student):
    """Only the file is requested, and the page contains nothing that its policy must block."""
    look.page.goto(tiny.page(student).as_uri())
    look.assert_dead()
    assert look.requests == [tiny.page(student).as_uri()] + [url for url in look.requests if url[:5] == "data:"]
    assert look.page.locator("script, iframe, object, embed, form, input, svg, base, link").count() == 0
    for lure in look.page.locator("a:not([href^='#'])").all():
        assert re.match("https?://", lure.get_attribute("href") or "https://")
    reason = "(found: 90_tiny.record.json, <img src=x onerror=alert(1)>.ipynb)"
    assert (reason in look.texts("main")[0]) == (student == "ines"), "shown as text"


@pytest.mark.browser
@pytest.mark.parametrize("kind", ["feedback", "reports"])
def test_a_submission_stays_inside_its_boxes_and_names_no_address_that_a_page_loads(tiny, look, kind):
    assert tiny.command("report", NAME) == 0
    page = tiny.page("mallory") if kind == "feedback" else next((tiny.folder / kind).rglob("mallory.html"))
    look.page.goto(page.as_uri())
    look.assert_dead()
    assert look.page.evaluate(OUTSIDE, BOXES) == []
    assert look.page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0
    assert look.page.locator("[style*='url'], [src*=far], :not(a)[href]").count() == 0


@pytest.mark.browser
def test_a_feedback_page_shows_what_an_honest_student_wrote(tiny, look):
    from playwright.sync_api import expect  # imported only where it is used

    look.page.goto(tiny.page("anna").as_uri())
    assert_honest(look, outputs=False)
    assert look.texts("th[scope=row], td:first-child a") == [
        "90.1 the gradient at x",
        "90.2 the implied one",
        "90.3 the gradient at x, negative",
    ]
    assert look.texts(".total") == ["5 of 5 points"]
    assert look.page.get_by_text("See").locator("math").count() == 1
    look.page.get_by_role("link", name="90.2 the implied one").focus()
    look.page.keyboard.press("Enter")
    assert look.page.evaluate("location.hash") == "#check-2"
    for shown in ("#answer-2 .highlight", "#check-2 .outputs"):
        expect(look.page.locator(shown)).to_be_in_viewport()
    assert look.texts("header p")[-1] == "Your instructor commented on 1."
    look.page.get_by_role("link", name="1", exact=True).click()
    expect(look.page.get_by_role("heading", name="Comment")).to_be_in_viewport()
    assert look.page.evaluate("[document.documentElement.lang, document.title]") == ["en", "Feedback on Tiny"]
    assert look.page.locator("img:not([alt])").count() == 0


def assert_honest(look, outputs: bool = True) -> None:
    """Check that pictures and formulas are shown, and that details open by keyboard."""
    pictures = look.page.locator("img[src]")
    assert pictures.count() == (4 if outputs else 2)
    for picture in pictures.all():
        assert picture.evaluate("e => e.decode().then(() => e.naturalWidth)") in (1, 20)
    assert look.page.locator("math[display=block] mtable mtr").count() == 2
    assert look.page.locator("math mfrac").count() == 1
    assert look.page.locator("td", has_text="x < y").count() == 1
    assert look.page.get_by_role("link", name="The documentation").get_attribute("href") == "https://docs.pytorch.org/"
    text = look.page.get_by_text("Folded text.")
    assert not text.is_visible()
    look.page.get_by_text("Unfold").focus()
    look.page.keyboard.press("Space")
    assert text.is_visible()
    assert look.page.get_by_text("90.1 the gradient at x: passed.").count() == 1
    assert look.page.get_by_text("plain text").count() == outputs
    cells = look.page.locator("td", has_text="cell")
    assert [cell.evaluate("e => getComputedStyle(e).textAlign") for cell in cells.all()] == ["right"] * outputs


@pytest.mark.browser
def test_a_feedback_page_says_for_each_check_what_was_wrong(tiny, look):
    look.page.goto(tiny.page("mallory").as_uri())
    shown = look.page.locator("#check-1 pre").last.inner_text()
    for part in ("90.1 the gradient at x: not yet.", "Case 1 of 2", "yours    str: '<script>", "torch's  tensor("):
        assert part in shown
    assert "not yet. The type differs from the expected one." in look.texts("tbody tr")[0]
    assert look.page.locator("#check-1 h2").inner_text() == "1 · Check: 0 of 2 points"


@pytest.mark.browser
def test_if_the_sanitizer_failed_the_pages_policy_would_hold(tiny, look, monkeypatch, tmp_path):
    """All scripts and addresses reach the page, but nothing runs or is loaded."""
    monkeypatch.setattr(pages, "clean", lambda source, resources: source)
    pages.shown.close()  # forked processes keep the functions from when they started
    result = tiny.api.generate_feedback(NAME, "mallory", force=True)
    assert result["success"], result
    page = tiny.page("mallory").rename(tmp_path / "page.html")
    monkeypatch.undo()
    pages.shown.close()
    assert tiny.api.generate_feedback(NAME, "mallory", force=True)["success"]
    assert f"<script>{RUN}</script>" in page.read_text()
    page.write_text(page.read_text().replace("refresh", ""))  # no policy blocks navigation
    failures = []
    look.page.on("requestfailed", lambda request: failures.append(request.failure))
    look.page.goto(page.as_uri())
    look.page.wait_for_load_state("networkidle")
    assert look.page.evaluate("window.ran") is None
    assert any("Content Security Policy" in message for message in look.messages)
    assert set(failures) == {"csp"}
    assert [url for url in look.requests if url.startswith(FAR)]


def submission_page(tiny, server, page, student: str) -> Look:
    """Open a submission, as Formgrader's list of submissions does."""
    with tiny.api.gradebook as gradebook:
        number = gradebook.find_submission_notebook(NAME, NAME, student).id
    look = Look(page)
    page.context.request.get(server.address("lab"))  # logs in; the page shares its cookies
    page.goto(f"{server.url}/formgrader/submissions/{number}/")
    page.wait_for_function("() => formgrader.loaded && formgrader.comments.loaded && formgrader.grades.loaded")
    return look


def serve_formgrader(tiny, home):
    command = [sys.executable, "-m", "autograder", "--class", str(tiny.folder), "formgrader"]
    return serve(tiny.folder.parent, home, command)


@pytest.fixture(scope="module")
def formgrader(tiny, tmp_path_factory):
    """A server started by our command, shared by several tests."""
    with serve_formgrader(tiny, tmp_path_factory.mktemp("home")) as server:
        yield server


@pytest.mark.browser
def test_formgrader_shows_a_submission_in_which_nothing_runs(tiny, formgrader, page):
    look = submission_page(tiny, formgrader, page, "mallory")
    look.assert_dead()
    assert [url for url in look.requests if not url.startswith((formgrader.url, "data:"))] == []
    assert look.page.locator("#notebook script, iframe, object, embed, form, #notebook svg, base").count() == 0
    assert look.page.locator("#check-1").count() == 1
    assert look.page.locator("#notebook a[href], #notebook [class*=lure]").count() == 0


@pytest.mark.browser
def test_formgrader_shows_an_honest_submission_and_grades_it_manually(tiny, formgrader, page):
    """nbgrader's own scripts run under the policy: scores are shown, and a new score and comment are saved."""
    look = submission_page(tiny, formgrader, page, "anna")
    look.assert_dead()
    assert_honest(look)
    score = look.page.locator("#check-2")
    assert score.get_attribute("placeholder") == "3"
    score.fill("2.5")
    with look.page.expect_response(lambda reply: "/api/grade/" in reply.url and reply.request.method == "PUT"):
        score.press("Escape")
    comment = look.page.locator("#answer-2-comment")
    comment.fill("Well done.")
    with look.page.expect_response(lambda reply: "/api/comment/" in reply.url and reply.request.method == "PUT"):
        comment.press("Escape")
    look.page.locator(".glyphicon-eye-open").click()
    assert look.page.locator("a.name-shown").inner_text().strip() == "anna"
    with tiny.api.gradebook as gradebook:
        found = gradebook.find_submission_notebook(NAME, NAME, "anna")
        assert {grade.name: grade.manual_score for grade in found.grades}["check-2"] == 2.5
        assert {comment.name: comment.manual_comment for comment in found.comments}["answer-2"] == "Well done."


@pytest.mark.browser
def test_formgraders_button_grades(tiny, formgrader, page):
    tiny.hand_in("bela", SLIP)
    tiny.hand_in("broken", text='{"cells": [')
    lab = LabPage(page, formgrader)
    lab.goto("lab")
    lab.command("nbgrader:open-formgrader")
    frame = page.frame_locator("iframe[src*=formgrader]")
    frame.locator("td.num-submissions a", has_text="5").click()
    for student, points in {"bela": "1.5 / 5", "broken": "0 / 5"}.items():
        Formgrader(frame).click("autograde", of=student)
        row = frame.locator("tr", has=frame.get_by_text(student, exact=True))
        assert row.locator("td.score").inner_text() == points
    assert (tiny.points("bela"), tiny.points("broken")) == ([0, 1.5], [None, None])


@pytest.mark.browser
def test_if_the_sanitizer_failed_formgraders_policy_would_hold(tiny, page, tmp_path):
    """A submission's scripts reach the page, but only nbgrader's run."""
    leak = "lambda source, resources: source.replace('refresh', '').replace('evil.html', '')"
    write_settings(tiny.folder.parent, "from autograder.views import pages", f"pages.clean = {leak}")
    try:
        with serve_formgrader(tiny, tmp_path) as server:
            look = submission_page(tiny, server, page, "mallory")
    finally:
        write_settings(tiny.folder.parent)
    assert f"<script>{RUN}</script>" in look.page.content()
    assert look.page.evaluate("window.ran") is None
    assert any("Content Security Policy" in message for message in look.messages)


@pytest.mark.browser
def test_jupyterlab_shows_an_autograded_notebook_in_which_nothing_runs(tiny, formgrader, page):
    """Formgrader's link to the live notebook opens it there; submitted notebooks are not trusted."""
    lab = LabPage(page, formgrader)
    lab.goto(f"lab/tree/class/autograded/mallory/{NAME}/{NAME}.ipynb")
    lab.wait_for_kernel()
    shown = [lab.locate(place).inner_text() for place in range(len(lab.cells()))]
    assert sum("over everything" in text for text in shown) > 2, "in Markdown and in outputs"
    assert page.evaluate("top.ran") is None


def test_a_page_embeds_pictures_only_from_the_submission_and_not_too_many(tiny):
    """Neither relative nor absolute paths reach other students' pictures, and repeating one makes no page huge."""
    other = tiny.folder / "autograded" / "anna" / NAME / "figures" / "dot.svg"
    resources = {"metadata": {"path": str(tiny.folder / "autograded" / "mallory" / NAME)}, "page": {"room": 9999}}
    assert "src" in pages.clean('<img src="figures/dot.svg">', resources)
    for address in (f"../../anna/{NAME}/figures/dot.svg", str(other), other.as_uri(), "evil.html", "%00.svg", "."):
        assert pages.clean(f'<img src="{address}">', resources) == f'<img alt="{pages.NO_ALT}">'
    resources["page"]["room"] = 2000
    page = pages.clean('<img src="figures/dot.svg">' * 1000, resources)
    assert 0 < len(page.replace(f'<img alt="{pages.NO_ALT}">', "")) < 2500


def test_every_formula_of_the_course_becomes_mathml(monkeypatch):
    found = {}
    real = pages.mathematics
    monkeypatch.setattr(pages, "mathematics", lambda source, display: found.setdefault(source, real(source, display)))
    resources = {"metadata": {"path": "."}, "page": {"room": 0}}
    for path in SOURCES.glob("*/*.ipynb"):
        for cell in nbformat.read(path, as_version=4).cells:
            if cell.cell_type == "markdown":
                pages._markdown(cell.source, resources)
    assert len(found) > 50
    assert {source: made for source, made in found.items() if not made.startswith("<math")} == {}


@pytest.mark.parametrize(
    "source", ["{" * 10**6, r"\left(" * 10**5, r"\sqrt" * 160 + "x", r"\def\a{{\a}}\a", r"\unknown", "a & b", "<b>"]
)
def test_no_formula_breaks_a_page(source):
    """Formulas that cannot be converted are shown as code, and break nothing."""
    made = pages.mathematics(source, display=True)
    assert made.startswith(("<code>", "<math"))
    assert "<b>" not in made
