"""The words and forms that the search index stores for a text, without an index."""

from itertools import chain

from mapshelf.text.word_forms import WordForms


def index_words(text: str) -> list[str]:
    """Return the words of ``text`` in their order."""
    return list(chain.from_iterable(piece.words for piece in WordForms().of(text, "")))


def index_forms(text: str, language: str) -> set[str]:
    """Return all forms by which a map in ``language`` with ``text`` is found."""
    pieces = WordForms().of(text, language)
    return {form for piece in pieces for form in piece.forms.split()}
