"""What the search index is given for a text, without an index."""

from mapshelf.text.normalize import composed, spelt_words
from mapshelf.text.stemming import IndexForms, made_of


def index_words(text: str) -> list[str]:
    """Return the words of ``text`` in their order."""
    return IndexForms().folded(spelt_words(composed(text)))


def index_forms(text: str, language: str) -> set[str]:
    """Return all that a map in ``language`` is found by that says ``text``."""
    whole, forms = composed(text), IndexForms()
    spelt = made_of(text, whole, spelt_words(whole))
    return {*forms.folded(spelt), *forms.stems(spelt, language)}
