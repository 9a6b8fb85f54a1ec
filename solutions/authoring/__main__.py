"""Build, check and validate the chapters."""

import argparse
import multiprocessing
import sys
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor

import nbformat

from . import archive, build, new_exercise, phrases, translation
from .chapter import chapter_names, home, load_chapter, source_path
from .minutes import minutes
from .places import ChapterError
from .reference import AuthoredCheck
from .validate import HEADING, total, try_mutants, validate

SEEDS, OTHER_SEEDS, MUTANT_SEEDS = 20, 200, 3


def main(argv: list[str] | None = None) -> int:
    """Run one command and return its exit code."""
    parser = argparse.ArgumentParser(prog="python -m authoring", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for name, help_text in (
        ("build", "execute the solved notebooks and generate the student edition"),
        ("check", "list stale generated files, and phrases that must not come back"),
        ("translate", "collect the texts of the course for a language, in solutions/languages/LANGUAGE"),
        ("archive", "pack what a student needs, and nothing else, into build/autograd-course.zip"),
        ("new-exercise", "add the five cells of an exercise to a chapter, for you to rewrite"),
        ("site", "build the site in build/site/, with all chapters or only some"),
        ("minutes", "compute how long each chapter takes, by activity"),
        ("validate", "try slips, constants and other right answers on every check, and print a table"),
    ):
        command = commands.add_parser(name, help=help_text, description=help_text[0].upper() + help_text[1:] + ".")
        if name in ("build", "minutes", "site"):
            default = "those that changed since they were built" if name == "build" else "all"
            command.add_argument(
                "chapters", nargs="*", metavar="CHAPTER", help=f"as in solutions/chapters; default: {default}"
            )
        if name in ("build", "check"):
            command.add_argument("--every", action="store_true", help="include unchanged chapters")
        if name in ("build", "archive"):
            command.add_argument(
                "--language", default="en", help="of an edition in build/LANGUAGE; xx shows what isn't translated"
            )
        if name == "translate":
            command.add_argument("language", metavar="LANGUAGE", help="its code, such as nl or pt_BR")
        if name == "new-exercise":
            command.add_argument("chapter", metavar="CHAPTER", help="as in solutions/chapters")
        if name == "validate":
            command.add_argument(
                "names", nargs="*", metavar="NAME", help="a chapter (05) or a check (05.3); default: all"
            )
            command.add_argument("--seeds", type=int, default=SEEDS, help=f"for slips and constants (default {SEEDS})")
            command.add_argument(
                "--other-seeds", type=int, default=OTHER_SEEDS, help=f"for right answers (default {OTHER_SEEDS})"
            )
            command.add_argument(
                "--mutant-seeds", type=int, default=MUTANT_SEEDS, help=f"for mutants; 0: none (default {MUTANT_SEEDS})"
            )
    args = parser.parse_args(argv)
    try:
        if args.command == "check":
            return _check(args.every)
        if args.command == "build" and args.language != "en":
            print(translation.build(args.language, args.chapters))
            return 0
        if args.command == "translate":
            print(*translation.update(args.language), sep="\n")
            return 0
        if args.command == "build":
            build.build(args.chapters or build.changed(args.every))
            return 0
        if args.command == "archive":
            print(archive.write(language=args.language))
            return 0
        if args.command == "site":
            from .site.build import build as build_site  # imported here: Sphinx takes a second

            print(build_site(args.chapters))
            return 0
        if args.command == "new-exercise":
            exercise = new_exercise.add(args.chapter)
            print(f"{exercise} stands in {args.chapter}. Rewrite its cells, then: make notebooks validate-checks")
            return 0
        if args.command == "minutes":
            return _minutes(args.chapters or chapter_names())
        return _validate(args.names, args.seeds, args.other_seeds, args.mutant_seeds)
    except ChapterError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1


def _check(every: bool) -> int:
    with ProcessPoolExecutor(mp_context=multiprocessing.get_context("spawn")) as pool:
        stale, marked = build.stale(pool.map, every), phrases.found()
    print(*stale, *marked, *translation.covered(), sep="\n")
    print(f"{len(stale)} stale files: run make notebooks, and commit the result." if stale else "chapters: up to date")
    if marked:
        print(f"{len(marked)} phrases to rewrite; authoring/phrases.py lists them.")
    return bool(stale or marked)


def _minutes(names: list[str]) -> int:
    print(f"{'chapter':24}  prose   code  predictions  exercises  total, with a quarter more")
    for name in names:
        estimate = minutes(nbformat.read(source_path(name), as_version=4))
        spent = f"{estimate.prose:6.0f} {estimate.code:6.0f} {estimate.predictions:12} {estimate.exercises:10}"
        print(f"{name:24} {spent} {estimate.total:27}")
    return 0


def _chosen(words: list[str]) -> Iterator[AuthoredCheck]:
    """Yield the checks selected by words such as 05_freezing, 05 and 05.3; all checks if there are no words."""
    for word in words or chapter_names():
        if "." in word:
            yield load_chapter(home(word)).checks[word]
        else:
            name = next((name for name in chapter_names() if name.startswith(f"{word}_")), word)
            yield from load_chapter(name).checks.values()


def _validate(words: list[str], seeds: int, other_seeds: int, mutant_seeds: int) -> int:
    tallies = []
    print(HEADING)
    for check in _chosen(words):
        tallies.append(validate(check, range(100, 100 + seeds), range(100, 100 + other_seeds)))
        if mutant_seeds:
            try_mutants(check, range(100, 100 + mutant_seeds), tallies[-1])
        print(tallies[-1].row(), flush=True)
    together = total(tallies)
    print(together.row())
    print(f"slips and constants on {seeds} seeds each, the solution and other right answers on {other_seeds}")
    print("apart: the largest deviation of a right answer, in units of the check's tolerance")
    if together.unexplained:
        print(f"mutants that pass on {mutant_seeds} seeds, for the author to reject with a case or to explain:")
        print("\n".join(f"  {mutant}" for mutant in together.unexplained))
    faults = [fault for tally in tallies for fault in tally.faults]
    for fault in faults:
        print(f"FAULT {fault}", file=sys.stderr)
    return bool(faults)


if __name__ == "__main__":
    sys.exit(main())
