"""Read a notebook file, whatever program wrote it. Imports nothing that must be installed: set-up uses it too."""

import json
import re
from typing import Any

from .words import _

TYPES = ("code", "markdown", "raw")
_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]|[\ud800-\udfff]")
_ID = re.compile(r"[\w-]{1,64}", re.ASCII)


class Unreadable(ValueError):
    """Raised for a file that is not a notebook; the text says why."""


def read(data: bytes) -> dict:
    """Return a notebook in nbformat 4.5, except that a cell has no id if its id was missing, invalid or repeated.

    Reads UTF-8, UTF-16 and UTF-32, with or without a byte order mark. Each cell has a type, a source that is one
    string, and metadata; a code cell also has outputs. Lone surrogates, which no file or database can store, become
    U+FFFD. Raises Unreadable, for example for formats before nbformat 4.
    """
    notebook = _dict(_json(data))
    if "worksheets" in notebook:
        raise Unreadable(_("the notebook's format is older than nbformat 4. Open it in JupyterLab and save it."))
    cells = notebook.get("cells")
    if not isinstance(cells, list):
        raise Unreadable(_("the file is not a notebook that Jupyter can read (it has no list of cells)."))
    ids: set[str] = set()
    cells = [_cell(cell, ids) for cell in cells]
    kept = {key: value for key, value in notebook.items() if key != "orig_nbformat"}
    return {**kept, "cells": cells, "metadata": _dict(notebook.get("metadata")), "nbformat": 4, "nbformat_minor": 5}


def _json(data: bytes) -> object:
    try:
        return load(data.decode(json.detect_encoding(data), "surrogatepass"))
    except UnicodeDecodeError:
        raise Unreadable(_("the notebook file is not text in UTF-8, UTF-16 or UTF-32.")) from None
    except (ValueError, RecursionError):
        raise Unreadable(_("the notebook file is not valid JSON; it was probably cut off or edited by hand.")) from None


def load(text: str) -> object:
    """Return what JSON text says; lone surrogates, which no file or database can store, become U+FFFD."""
    value = json.loads(text)
    if _SURROGATE.search(text):
        whole = json.dumps(value, ensure_ascii=False).encode("utf-16", "surrogatepass")
        value = json.loads(whole.decode("utf-16", "replace"))
    return value


def _cell(cell: object, ids: set[str]) -> dict:
    """Return a cell in nbformat 4.5. ids: those of the cells above, to which its own is added."""
    cell = _dict(cell)
    kind = cell.get("cell_type")
    source = cell.get("source", "")
    lines = source if isinstance(source, list) else [source]
    if kind not in TYPES or not all(isinstance(line, str) for line in lines):
        raise Unreadable(_("the file is not a notebook that Jupyter can read (a cell has no type or no text)."))
    source = "".join(lines).replace("\r\n", "\n")
    read: dict[str, Any] = {"cell_type": kind, "metadata": _dict(cell.get("metadata")), "source": source}
    if isinstance(cell.get("id"), str) and _ID.fullmatch(cell["id"]) and cell["id"] not in ids:
        ids.add(cell["id"])
        read["id"] = cell["id"]
    if kind == "code":
        outputs, count = cell.get("outputs"), cell.get("execution_count")
        read["outputs"] = outputs if isinstance(outputs, list) else []
        read["execution_count"] = count if type(count) is int else None
    elif _dict(cell.get("attachments")):
        read["attachments"] = cell["attachments"]
    return read


def nbgrader(cell: dict) -> dict:
    """Return a cell's nbgrader metadata; empty if it has none."""
    return _dict(cell["metadata"].get("nbgrader"))


def tags(cell: dict) -> list:
    """Return a cell's tags; empty if its metadata has no list of them."""
    value = cell["metadata"].get("tags")
    return value if isinstance(value, list) else []


def grade_id(cell: dict) -> str | None:
    """Return the name under which nbgrader knows a cell; None if its metadata has none."""
    name = nbgrader(cell).get("grade_id")
    return name if isinstance(name, str) else None


def _dict(value: object) -> dict:
    return value if isinstance(value, dict) else {}
