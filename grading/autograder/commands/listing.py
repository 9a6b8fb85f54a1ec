"""Print titled lists in a command's output."""

from ..steps.files import readable


def show_list(title: str, items: list[str], between: str = "") -> None:
    """Print a title and the items, one per line or joined by `between`; print nothing if there are no items."""
    lines = list(map(readable, items))
    if items:
        print(f"{title}: {between.join(lines)}" if between else "\n  ".join([f"{title}:", *lines]))
