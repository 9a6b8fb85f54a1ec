"""Every command has help, and no text names a command that does not exist."""

import argparse
import importlib
import importlib.util
import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
MAINS = {  # python -m …: the module whose main answers
    "gradlab": "gradlab.setup.command_line",
    "authoring": "authoring.__main__",
    "autograder": "autograder.__main__",
    "autograder.sandbox": "autograder.sandbox.__main__",
}
HERE = [name for name in MAINS if importlib.util.find_spec(name.split(".")[0])]
FOLDERS = [ROOT / name for name in ("", "course", "solutions", "grading", "grading/hub")]
PAGES = [path for folder in FOLDERS for path in sorted(folder.glob("*.md")) if path.name != "CHANGELOG.md"]


@pytest.fixture
def parser_of(monkeypatch):
    """Return a function that gives the parser which answers `--help` after some words, and its exit code."""

    def ask(command: str, *words: str) -> argparse.ArgumentParser:
        answered = []
        monkeypatch.setattr(argparse.ArgumentParser, "print_help", lambda parser, file=None: answered.append(parser))
        with pytest.raises(SystemExit) as end:
            importlib.import_module(MAINS[command]).main([*words, "--help"])
        assert end.value.code == 0
        (parser,) = answered
        return parser

    return ask


def subcommands(parser: argparse.ArgumentParser) -> dict[str, argparse.ArgumentParser]:
    """Return the parsers of the commands that a parser knows, by name."""
    found = [action.choices for action in parser._actions if isinstance(action, argparse._SubParsersAction)]
    return found[0] if found else {}


@pytest.mark.parametrize("command", HERE)
def test_each_command_has_help(parser_of, command):
    """--help ends with 0, after every subcommand too, and tells what the command does and what each option is for."""
    parser = parser_of(command)
    known = {"": parser, **{name: parser_of(command, name) for name in subcommands(parser)}}
    for name, answering in known.items():
        assert answering.prog == f"python -m {command} {name}".strip()
        assert answering.description, f"{answering.prog} does not say what it does"
        options = [action for action in answering._actions if not isinstance(action, argparse._SubParsersAction)]
        assert [action.dest for action in options if not action.help] == [], f"options of {answering.prog} without help"


def test_bare_make_lists_every_target():
    answer = subprocess.run(["make", "-C", ROOT, "--no-print-directory"], capture_output=True, text=True, check=True)
    listed = {line.split()[1]: line.split(maxsplit=2)[2] for line in answer.stdout.splitlines()}
    assert set(listed) == targets()
    assert {"lab", "test", "check", "doctor", "demo"} <= set(listed)


def targets() -> set[str]:
    """Return the targets of the Makefile."""
    (phony,) = [line for line in (ROOT / "Makefile").read_text().splitlines() if line.startswith(".PHONY:")]
    return set(phony.split()[1:])


def code(page: Path) -> str:
    """Return what a page shows as code, in blocks and in sentences."""
    text = page.read_text(encoding="utf-8")
    return text if page.suffix == ".yml" else "\n".join(re.findall(r"```.*?```|`[^`]+`", text, re.DOTALL))


@pytest.mark.parametrize("page", [*PAGES, *ROOT.glob("environment.yml")], ids=lambda page: str(page.relative_to(ROOT)))
def test_pages_name_commands_that_exist(parser_of, page):
    """Each `make …` is a target, and each `python -m …` a module with that command."""
    shown = code(page)
    assert set(re.findall(r"\bmake ([a-z-]+)", shown)) <= targets()
    for module, word in re.findall(r"python3? -m ([\w.]+)(?: +([a-z][a-z-]*))?", shown):
        assert importlib.util.find_spec(module), f"{page} names python -m {module}"
        if module in MAINS and word:
            assert word in subcommands(parser_of(module)), f"{page} names python -m {module} {word}"
