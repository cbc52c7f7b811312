"""What the search index is given for a text, without an index."""

from mapshelf.text.normalize import normalize_keeping_accents, split_words
from mapshelf.text.stemming import IndexStemmer, word_variants


def index_words(text: str) -> list[str]:
    """Return the words of ``text`` in their order."""
    return IndexStemmer().normalized(split_words(normalize_keeping_accents(text)))


def index_forms(text: str, language: str) -> set[str]:
    """Return all that a map in ``language`` is found by that says ``text``."""
    whole, stemmer = normalize_keeping_accents(text), IndexStemmer()
    variants = word_variants(text, whole, split_words(whole))
    return {*stemmer.normalized(variants), *stemmer.stems(variants, language)}
