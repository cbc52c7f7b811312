"""Derive the title, description, tags and language of a map from its outline.

Map files have no title or description. For every format, the central topic serves as the title, and
its note or its children as the description. The language is detected from the texts.
"""

from collections import Counter
from collections.abc import Iterable
from pathlib import PurePath
from typing import Final

from mapshelf.model import MOST_TAGS, TAG_LENGTH, Outline
from mapshelf.readers.parsing.text_cleaning import clean, is_visible, one_line
from mapshelf.text.language_detection import SAMPLE_LENGTH, guess_language

MAX_TITLE: Final = 500
"""Maximum length of a title, in characters; real titles have under a hundred."""

MAX_DESCRIPTION: Final = 2_000
"""Maximum length of a description taken from a note, in characters: some notes are whole chapters.
"""

MAX_LISTED: Final = 500
"""Maximum length of a description made of the main topics, in characters."""

_FIRST: Final = 1 << 32
"""The weight of a tag on a central topic, higher than any number of topics."""


def title(outline: Outline, path: str) -> str:
    """Return the first central topic on one line, or the name of the file at ``path``.

    It has at most ``MAX_TITLE`` characters, and ends with … if truncated.
    """
    # File names are bytes: surrogate escapes stand for undecodable ones and are removed.
    name = one_line(clean(PurePath(path).stem))
    texts = one_line(outline.roots[0].text), name
    return _shorten(next(filter(is_visible, texts), "Untitled"), MAX_TITLE)


def description(outline: Outline) -> str:
    """Return the note of the first central topic, or else the main topics, joined by commas.

    The note is cut at ``MAX_DESCRIPTION`` characters. Main topics are listed while they fit whole
    into ``MAX_LISTED`` characters, followed by … if there are more. If the first one does not fit,
    it is cut.
    """
    root = outline.roots[0]
    if note := root.note.strip():
        return _shorten(note, MAX_DESCRIPTION)
    return _listed(one_line(child.text) for child in root.children)


def tags(outline: Outline) -> tuple[str, ...]:
    """Return the tags of the map: those of its topics, the most relevant first.

    Tags of the central topic come first, because they apply to the whole map, then the most
    frequent ones. At most ``MOST_TAGS`` are returned; overlong ones are omitted.
    """
    counts: Counter[str] = Counter()
    names: dict[str, str] = {}
    roots = set(map(id, outline.roots))
    for _, topic in outline.topics():
        for tag in topic.tags:
            name = " ".join(tag.replace(",", " ").split())
            if 0 < len(name) <= TAG_LENGTH and name.isprintable():
                key = name.casefold()
                names.setdefault(key, name)
                counts[key] += _FIRST if id(topic) in roots else 1
    return tuple(names[key] for key, _ in counts.most_common(MOST_TAGS))


def language(outline: Outline) -> str:
    """Return the ISO 639-1 code of the language the topics and notes are in, empty when unsure."""
    parts: list[str] = []
    missing = SAMPLE_LENGTH
    for _, topic in outline.topics():
        if missing <= 0:
            break
        part = f"{topic.text}\n{topic.note}"[:missing]
        parts.append(part)
        missing -= len(part) + 1
    return guess_language("\n".join(parts))


def _listed(texts: Iterable[str]) -> str:
    listed: list[str] = []
    size = 0
    for text in filter(None, texts):
        size += len(text) + 2
        if size > MAX_LISTED:
            return ", ".join([*listed, "…"]) if listed else _shorten(text, MAX_LISTED)
        listed.append(text)
    return ", ".join(listed)


def _shorten(text: str, length: int) -> str:
    return text if len(text) <= length else text[: length - 1].rstrip() + "…"
