"""The chapters as parameters of a test: the first in make test, the others in make test-all."""

from pathlib import Path

import pytest

CHAPTERS = sorted(path.stem for path in (Path(__file__).parents[1] / "chapters").glob("*/*.ipynb"))
EACH_CHAPTER = [
    pytest.param(name, marks=[pytest.mark.exhaustive] if number else []) for number, name in enumerate(CHAPTERS)
]
