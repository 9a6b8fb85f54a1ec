"""Released cells are found in whatever comes back, and a new edition takes it in."""

import json

import pytest
from returned_notebooks import ALL, ANSWERS, FORMS, NAME, released

from gradlab import ipynb
from gradlab.returned import Release, same_text
from gradlab.setup import edition

READ = {name: form for name, form in FORMS.items() if form.points[0] is not None}
NEWS = {"cell_type": "markdown", "id": "news", "metadata": {}, "source": "New in this edition"}


@pytest.mark.parametrize("form", [name for name, form in READ.items() if tuple(form.points) == tuple(ALL)])
def test_every_answer_is_found(form):
    cells = ipynb.read(READ[form].data())["cells"]
    found = Release(released()["cells"]).find(cells)
    assert found.homes.keys() == ANSWERS.keys()


@pytest.mark.parametrize("form", READ)
def test_a_new_edition_takes_in_what_was_written(form):
    """Nothing that was written is missing, released cells stand in their order, and merging again changes nothing."""
    mine, new = ipynb.read(READ[form].data()), released()
    new["cells"].insert(3, NEWS)
    merged = ipynb.read(edition.to_json(edition.merge(released(), mine, new, f"{NAME}.before").notebook))
    after = {same_text(cell["source"]) for cell in [*merged["cells"], *released()["cells"]]}
    assert {same_text(cell["source"]) for cell in mine["cells"]} <= {*after, ""}
    ids = [cell["id"] for cell in new["cells"]]
    assert [cell["id"] for cell in merged["cells"] if cell["id"] in ids] == ids
    assert edition.same(edition.merge(new, merged, new, "").notebook, merged)
    assert json.dumps(merged).isascii()
