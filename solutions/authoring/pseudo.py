"""A language that nobody speaks, which shows what is not translated, is too short, or assumes a direction."""

import re

_ACCENTS = str.maketrans("aceinouyACEINOUY", "áçéíñóúýÁÇÉÍÑÓÚÝ")
_KEPT = re.compile(  # code, formulas, tags, targets of links, placeholders, entities
    r"^```.*?^```|\$\$.*?\$\$|\$[^$\n]+\$|``.+?``|`[^`]+`|<code>.*?</code>|<pre>.*?</pre>|<!--.*?-->|<[a-zA-Z/][^<>]*>"
    r"|\]\([^)]*\)|\{[^{}]*\}|\{\{|\}\}|&#?\w+;|https?://\S+",
    re.DOTALL | re.MULTILINE,
)
_MARK = re.compile(r"(\s*(?:#+ (?:\d+ · )?|[-*] |\d+\. |> )?)(.*)", re.DOTALL)  # of Markdown, at the start of a line
_HOLD = re.compile("\ue000(\\d+)\ue001")
_TO_LEFT, _TO_RIGHT = "\u2067", "\u2069"  # isolate a text that is written from right to left


def pseudo(text: str) -> str:
    """Return a text with accents, in ⟦ ⟧, longer by two fifths; code, formulas, tags and placeholders stay."""
    kept: list[str] = []

    def hold(match: re.Match) -> str:
        kept.append(match[0])
        return f"\ue000{len(kept) - 1}\ue001"

    lines = _KEPT.sub(hold, text).split("\n")
    return _HOLD.sub(lambda match: kept[int(match[1])], "\n".join(_line(line, kept) for line in lines))


def _line(line: str, kept: list[str]) -> str:
    """Return a line in the pseudo-language; the cells of a table's row, and what stands between tags, one by one."""
    first = _HOLD.match(line.strip())
    if line.strip().startswith("|"):
        return re.sub(r"(?<=\|)([^|]*[^|\s:-][^|]*)(?=\|)", lambda cell: f" {_said(cell[1].strip())} ", line)
    if first and kept[int(first[1])].startswith("<"):
        return re.sub(r"(?:^|(?<=\ue001))([^\ue000\ue001]*\w[^\ue000\ue001]*)", lambda text: _said(text[1]), line)
    mark, words = _MARK.fullmatch(line).groups()  # type: ignore[union-attr]  # it matches any text
    return mark + _said(words)


def _said(words: str) -> str:
    """Return one piece in ⟦ ⟧; every fifth is written from right to left."""
    plain = _HOLD.sub("", words)
    if not re.search(r"[^\W\d_]", plain):
        return words
    longer = " ~" * max(1, len(plain) // 5)
    said = f"⟦{words.translate(_ACCENTS)}{longer}⟧"
    return f"{_TO_LEFT}{said}{_TO_RIGHT}" if len(plain) % 5 == 0 else said
