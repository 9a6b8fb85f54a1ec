"""The hub's container file runs the steps of its page, and its proxy's versions are pinned."""

import json
import re
from pathlib import Path

HUB = Path(__file__).resolve().parents[1] / "hub"
ROOT = HUB.parents[1]


def steps() -> list[str]:
    """Return the commands that the container file runs."""
    return re.findall(r"^RUN (.*)$", (HUB / "Containerfile").read_text(encoding="utf-8"), re.MULTILINE)


def test_each_step_of_the_image_is_in_the_handbook():
    """After installing system packages, it runs the commands of README.md in order, from `make setup`."""
    packages, *made = steps()
    _, for_a_class = (HUB / "README.md").read_text(encoding="utf-8").split("## For a class\n")
    commands = [line.partition(" && ")[0] for line in for_a_class.splitlines()]
    assert [command for command in commands if command in made] == made
    assert made[0] == "make setup"
    assert {"make", "nodejs", "npm"} <= set(packages.split())


def test_the_files_that_the_image_copies_and_starts_exist():
    """Its final command names files of the repository, under the folder into which the repository is copied."""
    text = (HUB / "Containerfile").read_text(encoding="utf-8")
    (place,) = re.findall(r"^COPY \. (\S+)$", text, re.MULTILINE)
    (command,) = re.findall(r"^CMD (.*)$", text, re.MULTILINE)
    named = [Path(word) for word in json.loads(command) if word.startswith(place)]
    assert [path for path in named if path.parts[3] != ".venv" and not (ROOT / path.relative_to(place)).exists()] == []


def test_the_proxys_lock_has_the_requested_version():
    """package-lock.json has the version of package.json, and no download addresses."""
    (wanted,) = json.loads((HUB / "package.json").read_text())["dependencies"].items()
    lock = json.loads((HUB / "package-lock.json").read_text())["packages"]
    assert (wanted[0], lock[f"node_modules/{wanted[0]}"]["version"]) == wanted
    assert [name for name, package in lock.items() if "resolved" in package] == []
