"""Messages are shown in the language of the catalogue beside the chapters; a text that it lacks stays English."""

import pytest
from dutch_words import dutch_words

from gradlab import words
from gradlab.words import N_, _, ngettext, of_chapter


@pytest.fixture
def dutch():
    """Use a small Dutch catalogue; afterwards, English again."""
    messages = {
        "{right} of {total} cases are right.": "Van {total} gevallen zijn er {right} goed.",
        ("{count} point", "{count} points"): ("{count} punt", "{count} punten"),
        "passed": "geslaagd",
    }
    cases = {"three nodes": "drie knopen", "shape ({}, {}) of {{x}}": "{{x}} heeft vorm ({}, {})"}
    words.use(dutch_words({None: messages, "00.3": cases}))
    yield
    words.use(b"")


def test_a_message_is_translated_and_filled_in(dutch):
    assert _("{right} of {total} cases are right.", right=1, total=4) == "Van 4 gevallen zijn er 1 goed."
    assert [ngettext("{count} point", "{count} points", n) for n in (1, 2)] == ["1 punt", "2 punten"]
    assert (N_("passed"), _(N_("passed")), words.language()) == ("passed", "geslaagd", "nl")


def test_a_missing_translation_falls_back_to_english(dutch):
    assert _("failed") == "failed"
    assert _("{x} is {y}", x=1, y="{z}") == "1 is {z}"
    assert ngettext("{count} case", "{count} cases", 2) == "2 cases"
    assert of_chapter("01.1", "three nodes") == "three nodes"
    assert of_chapter("00.3", "4 nodes") == "4 nodes"
    assert (_(""), of_chapter("00.3", "")) == ("", "")


def test_a_chapters_text_is_known_by_its_place_and_a_cases_numbers_may_vary(dutch):
    assert of_chapter("00.3", "three nodes") == "drie knopen"
    assert of_chapter("00.3", "shape (2, -1.5) of {x}") == "{x} heeft vorm (2, -1.5)"


def test_the_catalogue_beside_the_chapters_is_used(tmp_path, monkeypatch):
    (tmp_path / words.FILE).write_bytes(dutch_words({None: {"passed": "geslaagd"}}))
    chapter = tmp_path / "02_external_gradients"
    chapter.mkdir()
    monkeypatch.setattr("gradlab.notebook.FOLDER", chapter)
    monkeypatch.setattr("gradlab.words._used", [])
    assert _("passed") == "geslaagd"


def test_a_damaged_catalogue_is_english(tmp_path):
    (tmp_path / words.FILE).write_bytes(b"\xde\x12\x04\x95 cut off")
    words.use(words.read(tmp_path))
    assert (_("passed"), words.language()) == ("passed", "en")
    words.use(b"")
