"""Grade an assignment's collected submissions that have no current grade, and write the report."""

import argparse
from collections import Counter
from pathlib import Path
from typing import Any

from gradlab.words import _

from ..steps.files import composed
from . import report, show_list

INTERRUPTED = 130  # the exit code after Ctrl-C


def add_arguments(command: argparse.ArgumentParser) -> None:
    command.add_argument("assignment", help=_("a chapter's name, for instance 02_external_gradients"))
    command.add_argument("--force", action="store_true", help=_("grade everything again; manual scores are kept"))
    several: dict[str, Any] = {"action": "append", "type": composed, "metavar": "STUDENT"}
    command.add_argument("--student", help=_("grade only this student; repeatable"), **several)
    command.add_argument("--keep-points", help=_("first keep this student's manual points; repeatable"), **several)
    command.add_argument("--drop-points", help=_("first drop this student's manual points; repeatable"), **several)
    command.add_argument("--scheduler", metavar="ADDRESS", help=_("a Dask cluster, for example tcp://host:8786"))
    command.add_argument("--workers", type=int, help=_("processes to start here (default: one per two cores)"))
    unsafe = _("let submissions change and delete your files, and change grades in the gradebook")
    command.add_argument("--no-sandbox", action="store_true", help=unsafe)


def run(args: argparse.Namespace) -> int:
    """Keep or drop points, grade, write the report, and return the exit code."""
    from ..term import by_hand

    folder, name, cluster = args.folder, args.assignment, {"scheduler": args.scheduler, "workers": args.workers}
    for title, students, keep in ((_("Kept"), args.keep_points, True), (_("Dropped"), args.drop_points, False)):
        if students:
            show_list(title, by_hand.decide(folder, name, students, keep))
    return grade_class(folder, name, args.force, args.student, not args.no_sandbox, **cluster)


def grade_class(
    folder: Path, name: str, force: bool = False, students: list[str] | None = None, sandbox: bool = True, **cluster
) -> int:
    """Grade, write the report, print the counts by status, and return the exit code.

    cluster: arguments for `cluster.connect`. Raises SandboxError if this machine should run submissions in a sandbox
    and cannot.
    """
    from ..sandbox import machine
    from ..sandbox.provisioner import SERVER
    from ..settings import class_api
    from ..term import by_hand

    if sandbox and not cluster.get("scheduler"):
        machine.require()
        SERVER.begin()  # it imports torch while this process imports the rest
    from ..run.grade import grade
    from ..steps.outcome import Status

    counts: Counter[str] = Counter()
    try:
        for outcome in grade(folder, name, force, students, sandbox, **cluster):
            counts[outcome.status] += 1
    except KeyboardInterrupt:
        print()
        print(_("Interrupted. Done so far: {counts}.", counts=_said(counts) or _("nothing")))
        print(_("To continue, grade again without --force.") if force else _("To continue, grade again."))
        return INTERRUPTED
    report.show(folder, name)
    show_list(*by_hand.listed(class_api(folder).coursedir, name))
    if force:
        print(_("To see what changed: {command}", command=f"python -m autograder report {name} --changes"))
    print(_said(counts))
    if counts[Status.SKIPPED]:
        print(_("Skipped submissions already have a current grade; --force grades them again."))
    return 0


def _said(counts: Counter[str]) -> str:
    return ", ".join(f"{count} {_(status)}" for status, count in sorted(counts.items()))
