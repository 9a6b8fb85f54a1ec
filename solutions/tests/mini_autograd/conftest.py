import gc
import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parent))


@pytest.fixture
def collector_off():
    gc.collect()
    gc.disable()
    yield
    gc.enable()
