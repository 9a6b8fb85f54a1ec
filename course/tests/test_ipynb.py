"""Notebook files of every program are read, in every encoding, and anything else is refused with the reason."""

import codecs
import json

import nbformat
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gradlab import ipynb

CELLS = [
    {"cell_type": "markdown", "id": "top", "metadata": {}, "source": ["# Grüße\n", "∂"]},
    {"cell_type": "code", "id": "run", "metadata": {}, "source": "x = 1\n", "outputs": [], "execution_count": 3},
]
IN_4 = {"cells": CELLS, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}


@pytest.mark.parametrize("mark", [b"", codecs.BOM_UTF8])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-32-le", "utf-32-be"])
def test_every_unicode_encoding_is_read(encoding, mark):
    text = json.dumps(IN_4, ensure_ascii=False)
    data = (mark if encoding == "utf-8" else b"") + text.encode(encoding)
    assert [cell["source"] for cell in ipynb.read(data)["cells"]] == ["# Grüße\n∂", "x = 1\n"]


def test_a_missing_invalid_or_repeated_id_is_left_out():
    ids = ["run", None, "no id", "", 7, "run", "x" * 65, "a-b_C"]
    found = ipynb.read(json.dumps({"cells": [{"cell_type": "raw", "id": one} for one in ids]}).encode())
    assert [cell.get("id") for cell in found["cells"]] == ["run", *[None] * 6, "a-b_C"]
    cells = [{"id": f"given-{number}", **cell} for number, cell in enumerate(found["cells"])]
    nbformat.validate({**found, "cells": cells}, relax_add_props=True)


@pytest.mark.parametrize("source", ['"\\ud83d"', '"\\uDE00 \\ud83d\\ude00"', '"\ud83d"', '["\\ud800", "\\udc00"]'])
def test_a_lone_surrogate_is_replaced(source):
    text = f'{{"cells": [{{"cell_type": "code", "source": {source}}}], "metadata": {{"\\ud800": 1}}}}'
    found = ipynb.read(text.encode("utf-8", "surrogatepass"))
    assert "\ufffd" in found["cells"][0]["source"]
    json.dumps(found, ensure_ascii=False).encode()


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"", "is not valid JSON"),
        (b"{", "is not valid JSON"),
        (b"[" * 100_000, "is not valid JSON"),
        (b"\xff\xfe", "is not valid JSON"),
        ('{"cells": [], "é"}'.encode("latin-1"), "is not text in UTF-8, UTF-16 or UTF-32"),
        (b"[]", "has no list of cells"),
        (b"null", "has no list of cells"),
        (b"{}", "has no list of cells"),
        (b'{"cells": {}}', "has no list of cells"),
        (b'{"worksheets": [{"cells": []}], "nbformat": 3}', "is older than nbformat 4"),
        (b'{"cells": [1]}', "a cell has no type"),
        (b'{"cells": [{"source": ""}]}', "a cell has no type"),
        (b'{"cells": [{"cell_type": ["code"]}]}', "a cell has no type"),
        (b'{"cells": [{"cell_type": "code", "source": 1}]}', "a cell has no type or no text"),
        (b'{"cells": [{"cell_type": "code", "source": [1]}]}', "a cell has no type or no text"),
    ],
)
def test_anything_else_is_refused_with_the_reason(data, why):
    with pytest.raises(ipynb.Unreadable, match=why):
        ipynb.read(data)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)
KEYS = ["cell_type", "id", "metadata", "source", "outputs", "execution_count", "attachments"]
CELL = st.fixed_dictionaries({}, optional=dict.fromkeys(KEYS, JSON | st.sampled_from(["code", "markdown", "raw"])))


@settings(max_examples=200, deadline=None)
@given(cells=st.lists(CELL, max_size=4) | JSON, metadata=JSON)
def test_any_json_is_read_or_refused(cells, metadata):
    try:
        found = ipynb.read(json.dumps({"cells": cells, "metadata": metadata}).encode("utf-8", "surrogatepass"))
    except ipynb.Unreadable:
        return
    for cell in found["cells"]:
        assert cell["cell_type"] in ipynb.TYPES
        assert isinstance(cell["source"], str)
        assert isinstance(cell["metadata"], dict)
