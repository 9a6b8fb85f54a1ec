"""The engine is a separate distribution that needs only NumPy."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import mini_autograd

FOLDER = Path(mini_autograd.__file__).parent

TRAINS = """
import importlib.metadata, sys
import mini_autograd as torch

w = torch.tensor([1.0, 2.0], requires_grad=True)
optimizer = torch.optim.SGD([w], lr=0.1)
(w * w).sum().backward()
optimizer.step()
assert [round(each, 6) for each in w.tolist()] == [0.8, 1.6]
about = importlib.metadata.metadata("mini-autograd")
print(torch.__file__)
print(about.get_all("Requires-Dist"), "written to be read in an hour" in about.get_payload(), "torch" in sys.modules)
"""


def test_it_can_be_installed_alone_and_trains(tmp_path):
    """Its page is the README; nothing else of the course comes along, and torch is not imported."""
    source, there = shutil.copytree(FOLDER, tmp_path / "engine"), tmp_path / "there"
    alone = ["--quiet", "--no-deps", "--no-build-isolation", "--target", str(there)]
    subprocess.run([sys.executable, "-m", "pip", "install", *alone, str(source)], check=True, cwd=tmp_path)
    assert {path.name for path in there.iterdir() if path.suffix != ".dist-info"} == {"mini_autograd"}
    said = subprocess.run(
        [sys.executable, "-c", TRAINS],
        env={**os.environ, "PYTHONPATH": str(there)},
        cwd=tmp_path,
        check=True,
        capture_output=True,
        text=True,
    ).stdout.splitlines()
    assert Path(said[0]).is_relative_to(there)
    assert said[1] == "['numpy'] True False"
