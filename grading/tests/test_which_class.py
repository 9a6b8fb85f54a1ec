"""The class and settings that a command uses, in any working folder."""

import subprocess
from pathlib import Path

import pytest
from tiny_class import NAME, TinyClass, write_settings

from autograder import __main__ as command
from autograder.settings import class_api
from gradlab import words


@pytest.mark.parametrize("line", [["--class", "{}", "report", NAME], ["report", NAME, "--class", "{}"]])
def test_the_class_may_be_named_before_and_after_the_command(tiny, line, capsys):
    assert command.main([word.format(tiny.folder) for word in line]) == 0
    assert "0 students: " in capsys.readouterr().out


def test_a_class_that_no_configuration_names_prints_a_warning_and_a_missing_one_is_not_created(tiny, tmp_path, capsys):
    assert tiny.command("report", NAME) == 0
    said = capsys.readouterr().err
    assert f"Using the class in {tiny.folder} with default settings" in said
    assert "nbgrader's own commands would use a different gradebook." in said
    assert f"configure(get_config(), '{tiny.folder}')" in said
    for words_of_command in (["report", NAME], ["formgrader"]):
        assert command.main([*words_of_command, "--class", str(tmp_path / "typo")]) == 1
        said = capsys.readouterr().err
        assert f"There is no class in {tmp_path}/typo" in said
        assert said.endswith(f"python -m autograder new-class {tmp_path}/typo\n")
        assert not (tmp_path / "typo").exists()


def test_a_catalogue_that_cannot_be_read_is_an_error_of_the_class_it_belongs_to(tiny, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / words.FILE).mkdir()
    assert tiny.command("report", NAME) == 0
    (tiny.folder / words.FILE).mkdir()
    assert tiny.command("report", NAME) == 1
    assert f"error: [Errno 21] Is a directory: '{tiny.folder}/{words.FILE}'" in capsys.readouterr().err


def test_without_a_name_the_working_folders_configuration_selects_the_class(tmp_path, monkeypatch, capsys):
    folder = TinyClass(write_settings(tmp_path / "settings")).folder
    monkeypatch.chdir(tmp_path / "settings")
    assert command.main(["report", NAME]) == 0
    shown = capsys.readouterr()
    assert "default settings" not in shown.err
    assert f"{folder}/reports/{NAME}.csv" in shown.out


def test_settings_are_read_in_the_working_folder_beside_the_class_and_in_it(tmp_path, monkeypatch):
    """The class folder's settings take precedence; those of a different class are ignored."""
    folder = write_settings(tmp_path, "c.RunCells.submission_timeout_s = 111")
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
