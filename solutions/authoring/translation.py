"""The course in another language: collect its texts, translate them by catalogues, and build the edition.

A language has a folder in `solutions/languages/` with gettext files: `messages.po` for gradlab and grading, `pages.po`
for the start page and the pages beside the chapters, and one for each chapter. A chapter's texts are keyed by where
they stand: Markdown, comments and docstrings by their cell ("s1"), questions and options by their prediction
("02/s1-run"), titles, cases, slips and captions by their check ("02.1"). The first kind is swapped in the notebook
before it runs; the others are looked up when they are shown, so code, records and grades are the same in every
language.

`xx` is a language that nobody speaks: each text in ⟦ ⟧, with accents, longer, some written from right to left.
"""

import ast
import datetime
import functools
import io
import re
import shutil
import string
import tokenize
from collections.abc import Callable, Iterator
from pathlib import Path

import nbformat
from babel import Locale, UnknownLocaleError
from babel.messages import Catalog, Message
from babel.messages.extract import extract_from_dir
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po, write_po
from nbformat import NotebookNode

from gradlab import words
from gradlab.checks.record import SUFFIX, Record
from gradlab.start_page import substituted

from .archive import FIRST_PAGE
from .build import START_PAGE, STUDENT_EDITION, execute, generate, without_noise, write
from .cells import tags
from .chapter import chapter_names, solved, source_path
from .pages import PAGES
from .places import ROOT, SOLUTIONS, ChapterError, sources
from .pseudo import pseudo

LANGUAGES = SOLUTIONS / "languages"
PSEUDO = "xx"
MESSAGES, BESIDE = "messages", "pages"
PROGRAMS = ("course/gradlab", "solutions/authoring", "grading/autograder")
READ_BY = [("**.py", "python"), ("**.j2", "jinja2.ext:babel_extract"), ("**.js", "javascript")]
KEYWORDS = {"_": None, "N_": None, "ngettext": (1, 2)}
ALWAYS = datetime.datetime(2026, 1, 1, tzinfo=datetime.UTC)
_SHOWN = re.compile(r"README|\d\d[./]")  # where texts stand that are looked up when they are shown
_WORD = re.compile(r"[^\W\d_]{2}")
_COUNT = re.compile(r"\d+ of \d+")


def parts() -> list[str]:
    """Return the names of a language's files, without their suffix."""
    return [MESSAGES, BESIDE, *chapter_names()]


def template(part: str) -> Catalog:
    """Return the English texts of one part, untranslated."""
    catalogue = Catalog(domain=part)
    if part == MESSAGES:
        for folder in PROGRAMS:
            messages = extract_from_dir(ROOT / folder, READ_BY, keywords=KEYWORDS, comment_tags=("Translators:",))
            for file, line, message, comments, _context in messages:
                catalogue.add(message, locations=[(f"{folder}/{file}", line)], auto_comments=comments)
        for path in sorted((ROOT / "grading/autograder/commands").glob("*.py")):  # shown as help
            if about := ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))):
                catalogue.add(about, locations=[(str(path.relative_to(ROOT)), 1)])
        return catalogue
    for where, text in _of_pages() if part == BESIDE else _of_chapter(part):
        catalogue.add(text, context=where)
    return catalogue


def _of_pages() -> Iterator[tuple[str, str]]:
    for where, path in _pages():
        for text in _blocks(path.read_text(encoding="utf-8")):
            yield where, words.pattern_of(text) if _COUNT.fullmatch(text) else text


def _blocks(page: str) -> list[str]:
    """Return the texts of a Markdown page that `substituted` translates."""
    texts = []

    def collected(text: str) -> str:
        texts.append(text)
        return text

    substituted(page, collected)
    return texts


def _pages() -> list[tuple[str, Path]]:
    beside = (FIRST_PAGE, *sorted(PAGES.glob("*.md")))
    return [("README", START_PAGE), *((path.name, path) for path in beside)]


def _of_chapter(name: str) -> Iterator[tuple[str, str]]:
    """Yield a chapter's texts, each with where it stands."""
    notebook = solved(name)
    for cell in notebook.cells:
        yield from ((cell.id, text) for text, *_span in cell_texts(cell))
    yield from _of_calls(notebook, name[:2])
    record = Record.from_json((STUDENT_EDITION / name / f"{name}{SUFFIX}").read_bytes())
    for check_id, check in record.checks.items():
        says = [words.pattern_of(case.says) if re.search(r"\d", case.says) else case.says for case in check.cases]
        slips = [text for slip in check.slips for text in (slip.name, slip.says)]
        title = check.title.partition(" ")[2]
        yield from ((check_id, text) for text in (title, check.owns, *says, *slips) if _WORD.search(text))


def cell_texts(cell: NotebookNode) -> Iterator[tuple[str, int, int]]:
    """Yield the texts that are swapped in a cell's source, each with its start and end there.

    Markdown is one text; in code, each comment and each docstring is one. Reference cells have none.
    """
    source = cell.source
    if cell.cell_type == "markdown":
        yield source, 0, len(source)
    if cell.cell_type != "code" or "reference" in tags(cell):
        return
    lines = [0, *(match.end() for match in re.finditer("\n", source))]
    before = None
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        mark = 2 if token.string.startswith("# ") else 3 if token.string.startswith('"""') else 0
        is_text = token.type == tokenize.COMMENT or (token.type == tokenize.STRING and before == tokenize.INDENT)
        if is_text and mark and _WORD.search(token.string):
            start = lines[token.start[0] - 1] + token.start[1]
            end = len(token.string) - 3 * (mark == 3)
            yield token.string[mark:end], start + mark, start + end
        before = token.type if token.type not in (tokenize.NL, tokenize.COMMENT) else before


def swap(notebook: NotebookNode, translated: Callable[[str, str], str]) -> None:
    """Replace, in place, a notebook's Markdown, comments and docstrings by what `translated` returns for each."""
    for cell in notebook.cells:
        for text, start, end in reversed([*cell_texts(cell)]):
            cell.source = cell.source[:start] + translated(cell.id, text) + cell.source[end:]


def _of_calls(notebook: NotebookNode, number: str) -> Iterator[tuple[str, str]]:
    """Yield the texts of predictions, payoffs and judges: strings in them, or assigned to names in them."""
    code = [cell.source for cell in notebook.cells if cell.cell_type == "code" and "reference" not in tags(cell)]
    nodes = [*ast.walk(ast.parse("\n".join(code)))]
    assigned: dict[str, list[ast.expr]] = {}
    for assignment in (node for node in nodes if isinstance(node, ast.Assign)):
        for target in assignment.targets:
            assigned.setdefault(ast.unparse(target), []).append(assignment.value)

    def texts(value: ast.AST, seen: frozenset = frozenset()) -> Iterator[str]:
        for inner in ast.walk(value):
            if isinstance(inner, ast.JoinedStr):  # known with {} instead of what it is filled in with: numbers
                parts = [part.value if isinstance(part, ast.Constant) else "{}" for part in inner.values]
                seen |= {*map(id, inner.values)}
                yield "".join(map(str, parts))
            elif isinstance(inner, ast.Constant) and isinstance(inner.value, str) and id(inner) not in seen:
                yield inner.value
            elif isinstance(inner, ast.Name) and inner.id not in seen:
                for other in assigned.get(inner.id, ()):
                    yield from texts(other, seen | {inner.id})

    for node in nodes:
        if isinstance(node, ast.Call) and node.args and isinstance(node.args[0], ast.Constant):
            function, first = ast.unparse(node.func), str(node.args[0].value)
            if function.partition(".")[0] in ("predict", "payoff"):
                for argument in (*node.args[1:], *node.keywords):
                    where = first if function == "payoff" else f"{number}/{first}"
                    name = getattr(argument, "arg", None) or ""
                    place = "README" if name == "milestone" else where
                    if function == "payoff" and name not in ("copies", "milestone") and _WORD.search(name):
                        yield where, name.replace("_", " ")
                    shown_texts = (text for text in texts(argument) if _is_words(text))
                    yield from ((place, text) for text in shown_texts)
        elif isinstance(node, ast.FunctionDef) and node.name.startswith("judge_"):
            where = node.name.removeprefix("judge_").replace("_", ".", 1)  # why it calls an answer wrong
            reasons = [inner for inner in ast.walk(node) if isinstance(inner, ast.Return)]
            yield from ((where, text) for reason in reasons for text in texts(reason) if _is_words(text))


def _is_words(text: str) -> bool:
    """Return whether a text has words, and is not an expression or a statement in Python, such as `x.grad`."""
    try:
        statements = ast.parse(text.strip()).body
    except (SyntaxError, ValueError):
        return bool(_WORD.search(text))
    return text.isalpha() and len(text) > 1 and isinstance(getattr(statements[0], "value", None), ast.Name)


def catalogues(language: str) -> dict[str, Catalog]:
    """Return a language's catalogues by part, with texts from `template`.

    Raises ChapterError for a language that has none, and for a translation that lacks what its text is filled in with.
    """
    if language != PSEUDO and not (LANGUAGES / language).is_dir():
        known = [path.name for path in LANGUAGES.glob("*") if path.is_dir()]
        raise ChapterError(
            f"There is no translation {language!r} in {LANGUAGES}: there are {', '.join([*known, PSEUDO])}. "
            f"To begin one: python -m authoring translate {language}"
        )
    return {part: _catalogue(language, part) for part in parts()}


def _catalogue(language: str, part: str) -> Catalog:
    if language == PSEUDO:
        catalogue = Catalog(locale=language, domain=part)
        for message in (message for message in template(part) if message.id):
            said = tuple(map(pseudo, _forms(message.id)))
            catalogue.add(message.id, said if message.pluralizable else said[0], context=message.context)
        return catalogue
    path = LANGUAGES / language / f"{part}.po"
    if not path.exists():
        return Catalog(locale=language, domain=part, project="autograd-course")
    with path.open("rb") as file:
        catalogue = read_po(file, locale=language, domain=part)
    for message in (message for message in catalogue if message.id and not message.fuzzy):
        fields = _fields(message, *_forms(message.id))
        if any(_fields(message, form) != fields for form in _forms(message.string) if form):
            raise ChapterError(f"{path}: the translation of {message.id!r} needs {', '.join(fields) or 'no {name}'}.")
    return catalogue


def _forms(text: str | tuple[str, ...] | list[str] | None) -> tuple[str, ...]:
    """Return the forms of a message: one, or the singular and the plural."""
    return (text or "",) if isinstance(text, str | None) else tuple(text)


def _fields(message: Message, *texts: str) -> list[str]:
    """Return what texts are filled in with: names but the count, which a singular need not show; a case's numbers."""
    if message.context and "{}" not in str(message.id):
        return []
    try:
        parts = [part for text in texts for part in string.Formatter().parse(text)]
    except ValueError:
        return ["{…}"]
    fields = [field for _before, field, *_rest in parts if field is not None]
    return sorted(f"{{{field}}}" for field in (fields if message.context else {*fields} - {"count"}))


def shown(catalogues: dict[str, Catalog]) -> bytes:
    """Return the compiled catalogue of all texts that are looked up when they are shown."""
    locale = catalogues[MESSAGES].locale_identifier
    together, compiled = Catalog(locale=locale, creation_date=ALWAYS), io.BytesIO()  # the same texts, the same bytes
    for message in (message for catalogue in catalogues.values() for message in catalogue if message.id):
        if _SHOWN.match(message.context or "README"):
            together.add(message.id, message.string, context=message.context, flags=message.flags)
    write_mo(compiled, together)
    return compiled.getvalue()


def lookup(catalogue: Catalog, where: str, text: str) -> str:
    """Return the translation of a text that is swapped, by its context and its English."""
    message = catalogue.get(text, where)
    return _forms(message.string)[0] if message and message.string and not message.fuzzy else text


def build(language: str, names: list[str]) -> Path:
    """Build the edition in a language, of the named chapters or of all, and return its folder `build/LANGUAGE`.

    `sources` there has the solved chapters, from which a class in this language begins, and `chapters` the student
    edition. Both run in that language.
    """
    made = sources(language).parent
    of_parts = catalogues(language)
    compiled = shown(of_parts)
    for folder in (made / "sources", made / "chapters"):
        folder.mkdir(parents=True, exist_ok=True)
        (folder / words.FILE).write_bytes(compiled)
    words.use(compiled)
    names = names or chapter_names()
    for name in names:
        print(f"{name}: executing in {language}", flush=True)
        target = made / "sources" / name
        shutil.rmtree(target, ignore_errors=True)
        shutil.copytree(source_path(name).parent, target)
        notebook = nbformat.read(target / f"{name}.ipynb", as_version=4)
        swap(notebook, functools.partial(lookup, of_parts[name]))
        execute(notebook, target)
        write(without_noise(notebook), target / f"{name}.ipynb")
    generate(names, made / "chapters", made / "sources")
    (made / "chapters" / PAGES.name).mkdir(exist_ok=True)
    for where, path in _pages()[1:]:
        folder = made / "chapters" / PAGES.name if path.parent == PAGES else made
        text = substituted(path.read_text(encoding="utf-8"), functools.partial(lookup, of_parts[BESIDE], where))
        (folder / path.name).write_text(text, encoding="utf-8")
    return made


def update(language: str) -> Iterator[str]:
    """Write a language's files, or bring them up to date with the English texts; yield a line on each one's state."""
    folder = LANGUAGES / language
    try:
        Locale.parse(language)
    except (ValueError, UnknownLocaleError) as error:
        raise ChapterError(f"{language!r} is not the code of a language, such as nl or pt_BR: {error}.") from None
    if language in ("en", PSEUDO):
        raise ChapterError(f"{language!r} is not a language to translate into: the course is in English, xx is made.")
    folder.mkdir(parents=True, exist_ok=True)
    for part in parts():
        catalogue, state = _updated(language, part)
        with (folder / f"{part}.po").open("wb") as file:
            write_po(file, catalogue, width=120)
        yield state


def covered() -> Iterator[str]:
    """Yield a line for each language and part: how many of the English texts of today are translated."""
    for language in sorted(path.name for path in LANGUAGES.glob("*") if path.is_dir()):
        yield from (f"{language} {_updated(language, part)[1]}" for part in parts())


def _updated(language: str, part: str) -> tuple[Catalog, str]:
    """Return a catalogue with the English texts of today, and in words how many of them are translated."""
    catalogue = _catalogue(language, part)
    catalogue.update(template(part))
    messages = [message for message in catalogue if message.id]
    done = sum(all(_forms(message.string)) and not message.fuzzy for message in messages)
    return catalogue, f"{part:24} {done} of {len(messages)} texts"
