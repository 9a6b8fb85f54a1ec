"""A Dutch catalogue of a few texts, for tests in another language than English."""

import io
from collections.abc import Mapping

from babel.messages import Catalog
from babel.messages.mofile import write_mo


def dutch_words(texts: Mapping[str | None, Mapping]) -> bytes:
    """Return the compiled catalogue of these texts and their translations, by where they stand; None: messages."""
    catalogue, made = Catalog(locale="nl"), io.BytesIO()
    for context, translated in texts.items():
        for english, dutch in translated.items():
            catalogue.add(english, dutch, context=context)
    write_mo(made, catalogue)
    return made.getvalue()
