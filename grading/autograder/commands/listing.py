"""Lists in what a command prints: a title, and what there is below it."""

from ..steps.files import readable


def show_list(title: str, items: list[str], between: str = "") -> None:
    """Print a title and the items, one a line or joined by `between`; print nothing if there are none."""
    lines = list(map(readable, items))
    if items:
        print(f"{title}: {between.join(lines)}" if between else "\n  ".join([f"{title}:", *lines]))
