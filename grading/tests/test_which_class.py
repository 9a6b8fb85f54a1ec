"""The class and settings that a command uses, in any working folder."""

import subprocess
from pathlib import Path

import pytest
from tiny_class import NAME, RIGHT, TinyClass, write_settings

from autograder import __main__ as command
from autograder.settings import class_api


@pytest.fixture(scope="module")
def graded(tmp_path_factory):
    tiny = TinyClass(tmp_path_factory.mktemp("graded") / "class")
    tiny.hand_in("anna", RIGHT)
    tiny.grade()
    return tiny


def add_setting(path: Path, line: str) -> None:
    with path.open("a") as file:
        file.write(f"\n{line}\n")


@pytest.mark.parametrize("words", [["--class", "{}", "report", NAME], ["report", NAME, "--class", "{}"]])
def test_the_class_may_be_named_before_and_after_the_command(graded, words, capsys):
    assert command.main([word.format(graded.folder) for word in words]) == 0
    assert "1 student: 1 graded" in capsys.readouterr().out.replace("1 students", "1 student")


def test_a_class_that_no_configuration_names_prints_a_warning(graded, capsys):
    assert command.main(["report", NAME, "--class", str(graded.folder)]) == 0
    said = capsys.readouterr().err
    assert f"Using the class in {graded.folder} with default settings" in said
    assert f"configure(get_config(), '{graded.folder}')" in said


def test_a_missing_class_is_not_created(tmp_path, capsys):
    assert command.main(["report", NAME, "--class", str(tmp_path / "typo")]) == 1
    assert f"There is no class in {tmp_path}/typo" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_without_a_name_the_working_folders_configuration_selects_the_class(tmp_path, monkeypatch, capsys):
    folder = write_settings(tmp_path / "settings").parent / "class"
    TinyClass(tmp_path / "made").folder.rename(tmp_path / "moved")
    folder.rmdir() if folder.exists() else None
    (tmp_path / "moved").rename(folder)
    monkeypatch.chdir(tmp_path / "settings")
    assert command.main(["report", NAME]) == 0
    shown = capsys.readouterr()
    assert shown.err == ""
    assert f"{folder}/reports/{NAME}.csv" in shown.out


def test_settings_are_read_in_the_working_folder_beside_the_class_and_in_it(tmp_path, monkeypatch):
    """The class folder's settings take precedence; those of a different class are ignored."""
    folder = write_settings(tmp_path)
    add_setting(tmp_path / "nbgrader_config.py", "c = get_config(); c.RunCells.submission_timeout_s = 111")
    assert class_api(folder).config.RunCells.submission_timeout_s == 111
    (tmp_path / "nbgrader_config.py").rename(tmp_path / "away")
    assert "submission_timeout_s" not in class_api(folder).config.RunCells
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (tmp_path / "away").rename(elsewhere / "nbgrader_config.py")
    monkeypatch.chdir(elsewhere)
    assert class_api(folder).config.RunCells.submission_timeout_s == 111
    assert "submission_timeout_s" not in class_api(tmp_path / "another").config.RunCells
    (folder / "nbgrader_config.py").write_text("c = get_config()\nc.RunCells.submission_timeout_s = 222\n")
    assert class_api(folder).config.RunCells.submission_timeout_s == 222


@pytest.mark.parametrize("target", ["grade", "feedback", "formgrader"])
def test_make_takes_a_class(target):
    root = Path(__file__).resolve().parents[2]
    words = ["make", "--dry-run", target, f"ASSIGNMENT={NAME}", "CLASS=/a class"]
    said = subprocess.run(words, cwd=root, capture_output=True, text=True, check=True).stdout
    assert '--class "/a class"' in said
