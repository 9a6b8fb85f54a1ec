"""The commands, one per module, each with add_arguments and with run, which returns an exit code or None for 0."""

from collections.abc import Iterable

from ..steps.files import readable


def show_list(title: str, items: Iterable, between: str = "") -> None:
    """Print a title and the items, one per line or joined by `between`; print nothing if there are no items."""
    lines = [readable(str(item)) for item in items]
    if lines:
        print(f"{title}: {between.join(lines)}" if between else "\n  ".join([f"{title}:", *lines]))
