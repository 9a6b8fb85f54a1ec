"""Lists in what a command prints: a title, and what there is below it."""

from ..steps.files import readable


def show_list(title: str, items: list[str], between: str = "") -> None:
    """Print a title and the items, one a line or joined by `between`; print nothing if there are none."""
    if items:
        print(f"{title}: {between.join(map(readable, items))}" if between else "\n  ".join([f"{title}:", *items]))
