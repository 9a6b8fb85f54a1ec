"""`make check` names a picture of the README when what it shows has changed."""

import readme_pictures as pictures


def test_a_picture_is_stale_when_its_style_or_code_has_changed_and_not_for_a_comment(tmp_path, monkeypatch):
    code, style = tmp_path / "card.py", tmp_path / "card.css"
    code.write_text("head = 1")
    style.write_text("b{}")
    monkeypatch.setattr(pictures, "MADE_FROM", {"card": (tmp_path, "*.py *.css", "")})
    monkeypatch.setattr(pictures, "DIGESTS", tmp_path / "digests.json")
    assert pictures.stale() == ["card"]
    pictures.note("card")
    code.write_text('"""A card."""\nhead = 1  # its head')
    assert pictures.stale() == []
    for path, text in ((code, "head = 2"), (style, "b{top:0}")):
        path.write_text(text)
        assert pictures.stale() == ["card"]
        pictures.note("card")
