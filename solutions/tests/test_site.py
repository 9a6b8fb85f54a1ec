"""The site: what a reader finds on its pages, in a headless Chromium, without a network. And what no page may contain.

`make test` builds it with three chapters and walks through these and the front page; the exhaustive tests take all.
"""

import functools
import html
import http.server
import json
import os
import re
import shutil
import subprocess
import sys
import threading
from pathlib import Path
from typing import NamedTuple

import nbformat
import pytest
from accessible import faint_texts, violations
from browser import fresh_page
from kept_answers import kept_answers, solution

from authoring import chapter, digests
from authoring.build import STUDENT_EDITION
from authoring.chapter import chapter_names, source_path
from authoring.pages import cures
from authoring.site import errors, recording, write
from authoring.site.build import build, read
from gradlab.predict.kinds import Numbers, Order, Unreadable
from gradlab.setup.taken_home import bring_in
from gradlab.setup.workspace import bring_up_to_date

MOST_BYTES = 1_500_000
FEW = [name for name in chapter_names() if name.startswith(("00", "01", "06"))]
WIDTHS = {1400: "light", 768: "light", 360: "dark"}
CONTRASTS = [1400, 360]  # the widths at which colors are measured; axe reads a page at one of them
TEXTS = [".5", "-.5e1", "1/3", "1,5", "[1]", "none", "inf", "-inf", "nan", "1_000", "2.", "−3", "6.0000001", "x", ""]


class Site(NamedTuple):
    """A built site: its folder, its address, the pages to walk through, and those of them that axe reads."""

    folder: Path
    address: str
    pages: list[str]
    read: list[str]

    def chapters(self) -> list[str]:
        return [page for page in self.pages if re.match(r"\d\d_", page)]


class Quiet(http.server.SimpleHTTPRequestHandler):
    """A server of files that prints nothing."""

    def log_message(self, *words):
        pass


@pytest.fixture(scope="module", params=["few", pytest.param("whole", marks=pytest.mark.exhaustive)])
def site(request, tmp_path_factory):
    """Return a site, on a server of its own."""
    folder = build(FEW if request.param == "few" else [], tmp_path_factory.mktemp("built") / "site")
    pages = sorted(str(path.relative_to(folder)) for path in folder.rglob("*.html"))
    alike = [page for page in pages if page.startswith("errors/")]  # made from one template
    read = [page for page in pages if page not in alike[1:]]
    if request.param == "few":
        pages = ["index.html", *(f"{name}/{name}.html" for name in FEW)]
        read = pages[:2]  # axe takes half a minute on a long page
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=folder)) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield Site(folder, f"http://127.0.0.1:{server.server_port}/", pages, read)
        server.shutdown()


small = pytest.mark.parametrize("site", ["few"], indirect=True)  # more chapters would show nothing else


def texts(folder: Path) -> dict[str, str]:
    """Return the text of each file that holds one, as a reader sees it."""
    found = {}
    for path in folder.rglob("*"):
        if path.suffix in {".html", ".js", ".json", ".svg", ".xml", ".txt", ".css"}:
            text = path.read_text(encoding="utf-8").replace("\\n", "\n")
            text = html.unescape(re.sub(r"<[^>]+>", "", text)) if path.suffix in {".html", ".json"} else text
            found[str(path.relative_to(folder))] = text
    return found


def lines(text: str) -> list[str]:
    """Return the lines of a text, without the white space around them."""
    return [line.strip() for line in text.splitlines()]


def cells(path: Path) -> list[nbformat.NotebookNode]:
    """Return a notebook's cells; without nbformat's validation, which takes ten times as long."""
    return nbformat.reader.reads(path.read_text(encoding="utf-8")).cells


def released() -> str:
    """Return the text of all cells that students receive."""
    return "\n".join(cell.source for path in STUDENT_EDITION.glob("*/*.ipynb") for cell in cells(path))


def secrets(student: set[str]) -> dict[str, str]:
    """Return the lines of solutions and references that are not among students' lines, with the cell of each."""
    found = {}
    for name in chapter_names():
        for cell in cells(source_path(name)):
            pieces = re.findall(r"### BEGIN SOLUTION\n(.*?)### END SOLUTION", cell.source, re.DOTALL)
            if "reference" in cell.metadata.get("tags", []):
                pieces.append(cell.source)
            secret = {line for piece in pieces for line in lines(piece)} - student
            found |= dict.fromkeys(secret, f"{name}, {cell.id}")
    return found


@pytest.mark.browser
def test_no_line_of_a_solution_or_a_reference_stands_in_a_file_of_the_site(site):
    student = released()
    secret = secrets(set(lines(student)))
    shown = ((file, line) for file, text in texts(site.folder).items() for line in lines(text))
    found = [f"{file}: {line} ({secret[line]})" for file, line in shown if line in secret and line not in student]
    assert len(secret) > 1000
    assert found == []


@pytest.mark.browser
def test_every_link_leads_to_a_page_of_the_site_and_a_place_on_it(site):
    pages = {path: path.read_text(encoding="utf-8") for path in site.folder.rglob("*.html")}
    broken = []
    for path, text in pages.items():
        for link in re.findall(r'<a [^>]*href="([^"]*)"', text):
            target, _, place = html.unescape(link).partition("#")
            if re.match(r"\w+:", target) or "searchindex" in target:
                continue
            file = (path.parent / target).resolve() if target else path
            if not file.exists() or (place and f'id="{place}"' not in pages.get(file, "")):
                broken.append(f"{path.relative_to(site.folder)}: {link}")
    assert broken == []


@small
@pytest.mark.browser
def test_searches_and_shared_links_find_each_pages_title_description_and_picture(site):
    sitemap = (site.folder / "sitemap.xml").read_text(encoding="utf-8")
    assert "sitemap.xml" in (site.folder / "robots.txt").read_text(encoding="utf-8")
    assert (site.folder / "_static/share.png").exists()
    for page in ("index.html", "errors/runtimeerror-trying-to-backward-through-the-graph-a-second-time.html"):
        assert f"/{page}</loc>" in sitemap
        tags = re.findall(r'<meta (?:name|property)="(.*?)" content="(.+?)"', (site.folder / page).read_text("utf-8"))
        known = dict(tags)
        assert [name for name, _ in tags].count("description") == 1
        assert known["og:image"].endswith("/_static/share.png")
        title, described = ("torch.autograd", "hands-on") if page == "index.html" else ["RuntimeError: Trying"] * 2
        assert known["og:title"].startswith(title)  # without markup
        assert described in known["og:description"] == known["description"]


@pytest.mark.browser
def test_every_page_is_small_quiet_and_accessible_without_a_network(site, chromium):
    found = []

    def offline(route):
        route.continue_() if route.request.url.startswith(site.address) else route.abort()

    def complain(event):
        aborted = getattr(event, "failure", None) == "net::ERR_ABORTED"  # by the way to the next page
        found.extend([] if aborted and event.url.startswith(site.address) else [f"{getattr(event, 'url', event)}"])

    for width, theme in WIDTHS.items():
        with fresh_page(chromium) as page:
            page.set_viewport_size({"width": width, "height": 1000})
            page.emulate_media(color_scheme=theme, reduced_motion="reduce")
            page.context.route("**", offline)
            page.on("requestfailed", complain)
            page.on("pageerror", complain)
            for k, name in enumerate(site.pages):
                page.goto(site.address + name)
                size = (site.folder / name).stat().st_size
                found += [f"{name}: {size} bytes"] * (size > MOST_BYTES)
                wide = page.evaluate("document.documentElement.scrollWidth")
                found += [f"{name} at {width}: {wide} pixels wide"] * (wide > width)
                found += [f"{name}, {theme}: {text}" for text in faint_texts(page)] if width in CONTRASTS else []
                if name in site.read and width == CONTRASTS[k % 2]:
                    found += [f"{name}, {theme}: {text}" for text in violations(page, "body")]
    assert found == []


def options(page, place, right: bool) -> list[str]:
    """Return a guess for a prediction, from its data: right in every blank, or wrong in the first one."""
    data = json.loads(place.locator("script").first.text_content())
    said = [answer["value"] for answer in data["answers"]]
    if right:
        return said
    if data["distinct"]:
        return [*said[1:], said[0]]
    others = data["blanks"][0]["options"] or ["12345"]
    return [next(other for other in others if other != said[0]), *said[1:]]


def enter(place, texts: list[str]) -> None:
    """Fill a prediction's form and send it by keyboard."""
    for field, text in zip(place.locator("input[type=text]").all(), texts, strict=False):
        field.fill(text)
    for group, text in zip(place.get_by_role("radiogroup").all(), texts, strict=False):
        group.locator(f"input[value={json.dumps(text)}]").check()
    events = place.locator(".gl-order li")
    for k, text in enumerate(texts if events.count() else []):
        while events.nth(k).get_attribute("data-event") != text:
            place.locator(f".gl-order li[data-event={json.dumps(text)}] button").first.press("ArrowUp")
    place.get_by_role("button", name="Compare with torch").press("Enter")


@small
@pytest.mark.browser
def test_each_prediction_is_guessed_before_torchs_answer_and_the_explanation_show(site, page):
    for name in site.chapters():
        page.goto(site.address + name)
        for place in page.locator(".site-guess").all():
            assert not place.locator(".site-answer").is_visible()
            enter(place, options(page, place, right=False))
            assert "not right" in place.get_by_role("status").text_content() or " of " in place.text_content()
            assert place.locator(".site-answer .gl-output").is_visible()
            place.get_by_role("button", name="Guess again").click()
            assert not place.locator(".site-answer").is_visible()
            enter(place, options(page, place, right=True))
            assert "✗" not in place.get_by_role("status").text_content()
        assert page.locator("details[hidden]").count() == 0  # every explanation, too
        page.reload()
        assert page.get_by_text("You guessed before").count() == page.locator(".site-guess").count()
        assert f"{page.locator('.site-guess').count()} guesses entered" in page.locator(".site-guesses").text_content()


@small
@pytest.mark.browser
def test_the_page_judges_a_guess_as_the_notebook_does(site, page):
    numbers, order = Numbers({"g": 1}), Order(["a", "b"])
    cases = [(numbers, [text], [answer]) for text in TEXTS for answer in (6.0, 0.3333, None, float("inf"))]
    cases += [(order, said, ["b", "a"]) for said in (["b", "a"], ["a", "a"], ["", "a"])]
    expected, asked = [], []
    for kind, said, answers in cases:
        try:
            expected.append(kind.right(said, answers))
        except Unreadable as problem:
            expected.append([problem.blank, str(problem)])
        data = {"numbers": kind is numbers, "distinct": kind is order}
        data["blanks"] = [{"label": blank.label, "options": blank.options} for blank in kind.blanks]
        data["answers"] = [{"value": str(answer)} for answer in answers]
        asked.append([data, said])
    page.goto(site.address + site.chapters()[0])
    judged = page.evaluate(
        """async cases => {
            const { judge } = await import('/_static/guess.js');
            return cases.map(([data, said]) => {
                try { return judge(data, said); } catch (error) { return [error.blank, error.message]; }
            });
        }""",
        asked,
    )
    assert [*zip(asked, judged, strict=True)] == [*zip(asked, expected, strict=True)]


@small
@pytest.mark.browser
def test_the_front_pages_stepper_goes_by_mouse_keyboard_and_touch(site, chromium):
    context = chromium.new_context(has_touch=True, viewport={"width": 360, "height": 700})
    page = context.new_page()
    page.goto(site.address)
    stepper = page.locator(".gl-stepper").first
    count = stepper.locator("output")
    stepper.get_by_role("button", name="Next").click()
    assert count.text_content().startswith("1 /")
    stepper.get_by_role("button", name="Next").tap()
    page.keyboard.press("ArrowRight")
    assert count.text_content().startswith("3 /")
    stepper.get_by_role("slider").press("Home")
    assert count.text_content().startswith("0 /")
    context.close()


@small
@pytest.mark.browser
def test_a_payoffs_slider_moves_through_pictures(site, page):
    page.goto(site.address + site.chapters()[0])
    payoff = page.locator(".site-frames:has([type=range])").first
    before = payoff.locator(".gl-frame").inner_html()
    with page.expect_response("**/frames/*.json"):
        payoff.get_by_role("slider").first.press("End")
    page.wait_for_function(
        "before => document.querySelector('.site-frames .gl-frame').innerHTML !== before", arg=before
    )


@small
@pytest.mark.browser
def test_the_search_finds_a_chapter_offline(site, page):
    page.goto(site.address + "search.html?q=retain_graph")
    page.locator("#search-results a").first.wait_for()
    assert page.locator("#search-results a").count() > 1


TWENTY = Path("00_twenty_lines/00_twenty_lines.html")
VALUE = """class Value(Node):
    def __add__(self, other):
        return Value(self.data + other.data, (self, 1.0), (other, 1.0))

    def __mul__(self, other):
        return Value(self.data * other.data, {edges})
"""
RIGHT = VALUE.format(edges="(self, other.data), (other, self.data)")
WRONG = [
    VALUE.format(edges="(self, self.data), (other, other.data)"),
    VALUE.format(edges="(self, other.data), (other, self.data)").replace("1.0", "0.0"),
    VALUE.format(edges="(self, other.dat), (other, self.data)"),  # an error, with its line
]
IN_IPYTHON = """
import json, sys
from pathlib import Path

class Missing:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ("torch", "numpy"):
            raise ImportError(f"{name} is not here")

home, folder, missing = sys.argv[1:]
if missing:
    sys.meta_path.insert(0, Missing())
else:
    import torch
import kernel
kernel.HOME = Path(home)
texts = [next(Path(folder).glob(f"*.{kind}")).read_text() for kind in ("ipynb", "record.json")]
page = kernel.Page(Path(folder).name, *texts, {})
for cell, texts in json.load(sys.stdin):
    print(json.dumps(json.loads(page.run(cell, texts))["outputs"][cell]))
"""


def ran_in_ipython(home: Path, cells: list[tuple[str, dict]], missing: bool) -> list[list[dict]]:
    """Return the outputs of cells of chapter 00, each run with some texts, in the page's kernel outside a browser.

    missing: torch and NumPy cannot be imported.
    """
    paths = [str(Path(write.__file__).parent), str(STUDENT_EDITION.parent)]
    done = subprocess.run(
        [sys.executable, "-c", IN_IPYTHON, home, STUDENT_EDITION / TWENTY.parent, "missing" * missing],
        input=json.dumps(cells),
        env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)},
        capture_output=True,
        text=True,
        check=True,
    )
    return [json.loads(line) for line in done.stdout.splitlines()]


def checked(exercise: str, text: str) -> tuple[str, dict]:
    """Return the check of an exercise, to be run with this answer."""
    name = exercise.replace(".", "-")
    return f"check-{name}", {f"answer-{name}": text}


def cards(ran: list[list[dict]]) -> list[str]:
    return [outputs[0]["data"]["text/html"] for outputs in ran]


def test_chapter_00_needs_neither_torch_nor_numpy_and_its_cards_say_the_same(tmp_path):
    wrong = [(kept.check_id, kept.source) for kept in kept_answers() if kept.check_id < "01" and not kept.is_right]
    right = [(f"00.{number}", solution(f"00.{number}")) for number in range(1, 6)]
    others = [cell.id for cell in cells(STUDENT_EDITION / TWENTY.with_suffix(".ipynb")) if cell.cell_type == "code"]
    others = [(cell, {}) for cell in others if not cell.startswith(("check-", "answer-"))]
    without, with_both = (
        ran_in_ipython(tmp_path / str(missing), [*(checked(*each) for each in wrong + right), *others], missing)
        for missing in (True, False)
    )
    count = len(wrong + right)
    assert cards(without[:count]) == cards(with_both[:count])
    passed = ['class="gl-card gl-card-passed' in card for card in cards(without[:count])]
    assert passed == [False] * len(wrong) + [True] * 5
    assert [output for outputs in without[count:] for output in outputs if "error" in output] == []


def type_answer(page, text: str, exercise: str = "00.1") -> None:
    """Replace an answer by keyboard, and check it."""
    page.get_by_role("textbox", name=f"Your answer to {exercise}.").click()
    page.keyboard.press("Control+a")
    page.keyboard.insert_text(text)
    page.keyboard.press("Shift+Enter")


@small
@pytest.mark.browser
@pytest.mark.skipif(not shutil.which("npm"), reason="without npm, chapter 00 cannot be written in the page")
def test_chapter_00_is_written_in_the_page_and_its_cards_are_the_notebooks(site, chromium, tmp_path):
    with fresh_page(chromium) as page:
        page.set_viewport_size({"width": 360, "height": 700})
        page.goto(site.address + TWENTY.as_posix())
        card = page.locator(".site-check .gl-card").first
        answers = [*WRONG, RIGHT]
        ran = ran_in_ipython(tmp_path / "home", [checked("00.1", text) for text in answers], missing=False)
        for text, expected in zip(answers, cards(ran), strict=True):
            type_answer(page, text)
            page.wait_for_function(
                """html => {
                    const words = (node) => node?.textContent.replace(/\\s+/g, " ");
                    const there = new DOMParser().parseFromString(html, "text/html").querySelector(".gl-card");
                    return words(document.querySelector(".site-check .gl-card")) === words(there);
                }""",
                arg=expected,
            )
        assert "passed" in card.inner_text()
        page.get_by_role("slider", name="price").first.wait_for()  # the payoff, with this answer
        type_answer(page, "while True:\n    pass")
        page.get_by_role("button", name="Stop").click()
        page.get_by_text("Stopped. Your text is kept.").wait_for()
        page.reload()
        answer, over = page.locator(".cm-content").first, page.get_by_role("button", name="Start over").first
        assert "while True" in answer.inner_text()
        assert "passed" in card.inner_text()
        page.once("dialog", lambda dialog: dialog.dismiss())
        over.click()
        assert "while True" in answer.inner_text()
        page.once("dialog", lambda dialog: dialog.accept())
        over.click()
        assert "Your turn" in answer.inner_text()
        assert page.evaluate("document.documentElement.scrollWidth") <= 360
        type_answer(page, RIGHT)
        for number in range(2, 6):
            type_answer(page, solution(f"00.{number}").strip(), f"00.{number}")
            page.locator(".site-check .gl-card-passed").nth(number - 1).wait_for()
        page.get_by_role("img", name="step 100:").and_(page.locator("canvas")).wait_for()  # it trains by itself
        with page.expect_download() as download:
            page.get_by_role("button", name="Take it home").click()
        download.value.save_as(home := tmp_path / "twenty_lines.py")
    trained = subprocess.run([sys.executable, home], capture_output=True, text=True, check=True).stdout
    assert "step 100: loss 0.0" in trained
    bring_up_to_date({TWENTY.parent.name: STUDENT_EDITION / TWENTY.parent.name}, tmp_path / "workspace")
    assert "00.1, 00.2, 00.3, 00.4, 00.5" in bring_in(home, tmp_path / "workspace")[0]


def test_a_changed_chapter_runs_again_and_changes_its_page(monkeypatch, tmp_path):
    source, ran = tmp_path / "99_new/99_new.ipynb", []

    def execute(notebook, folder):
        """Print, in place of a kernel, what each cell says."""
        ran.append(folder.name)
        for cell in notebook.cells:
            cell.outputs = [nbformat.v4.new_output("stream", text=f"ran {cell.source}")]

    def page() -> str:
        notebook = recording.recorded("99_new") or recording.keep("99_new", recording.run("99_new"))
        return nbformat.writes(read(notebook, "99_new", set())[0])

    for module, name in ((chapter, "SOURCES"), (digests, "SOURCES"), (recording, "RECORDED")):
        monkeypatch.setattr(module, name, tmp_path)
    monkeypatch.setattr(recording, "execute", execute)
    source.parent.mkdir()
    nbformat.write(nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("print(1)")]), source)
    assert page() == page()
    assert len(ran) == 1
    source.write_text(source.read_text().replace("print(1)", "print(2)"))
    assert "ran print(2)" in page()
    assert len(ran) == 2


def test_the_smallest_program_of_each_error_raises_it():
    known = errors.entries()
    assert known.keys() == cures().keys()
    assert len({errors.slug(message) for message in known}) == len(known)
    silent = [
        message
        for message, entry in known.items()
        if not any(errors.fits(message, line) for line in errors.raised(entry.program))
    ]
    assert silent == []
