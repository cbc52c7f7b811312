"""Convert inline Markdown in topics (emphasis, code, links) to plain text and HTML.

Markdown outlines and iThoughts maps use it. No library is used, for the reasons given in
``readers.formats.markdown``.
"""

import html
import re
from typing import Final, NamedTuple

_PIECES: Final = re.compile(
    r"(?<!`)(?P<ticks>`{1,8})(?P<code>[^`\n]{1,4000})(?P=ticks)(?!`)"
    r"|\\(?P<escaped>[!-/:-@\[-`{-~])"
    r"|<(?P<address>(?:https?://|mailto:)[^<>\s]{1,2000})>"
)
_IMAGE: Final = re.compile(r"!\[([^\[\]]{0,2000})\]\([^()\n]{0,2000}\)")
_LINK: Final = re.compile(
    r"\[([^\[\]]{0,2000})\]\([ \t]{0,9}<?([^()<>\s]{0,2000})>?"
    r"(?:[ \t]{1,9}[\"'][^\"'\n]{0,500}[\"'])?[ \t]{0,9}\)"
)
_MARKS: Final = (
    (re.compile(r"\*\*(?=\S)((?:[^*\n]|\*(?!\*)){1,2000})(?<=\S)\*\*"), "b"),
    (re.compile(r"(?<![0-9A-Za-z*])\*(?=\S)([^*\n]{1,2000})(?<=\S)\*(?![0-9A-Za-z])"), "i"),
    (re.compile(r"(?<!\w)__(?=\S)([^_\n]{1,2000})(?<=\S)__(?!\w)"), "b"),
    (re.compile(r"(?<!\w)_(?=\S)([^_\n]{1,2000})(?<=\S)_(?!\w)"), "i"),
    (re.compile(r"~~(?=\S)([^~\n]{1,2000})(?<=\S)~~"), "del"),
    (re.compile(r"==(?=\S)([^=\n]{1,2000})(?<=\S)=="), "u"),
)
"""Patterns of emphasis, with their HTML elements."""

_BREAK: Final = re.compile(r"<br\s{0,9}/?>", re.IGNORECASE)
_TAG: Final = re.compile(
    r"</?(?:a|b|code|del|div|em|font|i|img|kbd|mark|p|s|small|span|strong|sub|sup|u)"
    r"(?:\s[^<>]{0,1000})?/?>",
    re.IGNORECASE,
)
_SPECIAL: Final = re.compile(r"[\0!&*<=\[\\_`~]")
_KEPT: Final = re.compile("\0(\\d{1,7})\0")


class Inline(NamedTuple):
    """A text without Markdown syntax.

    Attributes:
        text: as plain text.
        html: with formatting; empty if it has none.
        links: link targets in it.
    """

    text: str
    html: str
    links: list[str]


def inline_markdown(words: str) -> Inline:
    """Return the content of ``words`` without Markdown syntax."""
    if not _SPECIAL.search(words):
        return Inline(words, "", [])
    kept: list[str] = []
    codes: set[int] = set()
    links: list[str] = []

    def keep(piece: re.Match[str]) -> str:
        if piece["code"]:
            codes.add(len(kept))
        kept.append(piece["code"] or piece["escaped"] or piece["address"])
        if piece["address"]:
            links.append(piece["address"])
        return f"\0{len(kept) - 1}\0"

    def restore(place: re.Match[str]) -> str:
        return kept[int(place[1])]

    def restore_rich(place: re.Match[str]) -> str:
        piece = html.escape(restore(place), quote=False)
        return f"<code>{piece}</code>" if int(place[1]) in codes else piece

    def follow(link: re.Match[str]) -> str:
        links.append(_KEPT.sub(restore, link[2]))
        return link[1]

    # NUL marks pieces that must stay unchanged.
    text = _PIECES.sub(keep, words.replace("\0", "").strip())
    text = _LINK.sub(follow, _IMAGE.sub(r"\1", text))
    text = _TAG.sub("", _BREAK.sub("\n", text))
    rich = html.escape(html.unescape(text), quote=False)
    formatted = bool(codes)
    for mark, element in _MARKS:
        text, count = mark.subn(r"\1", text)
        if count:
            formatted = True
            rich = mark.sub(rf"<{element}>\1</{element}>", rich)
    plain = _KEPT.sub(restore, html.unescape(text))
    markup = _KEPT.sub(restore_rich, rich).replace("\n", "<br>") if formatted else ""
    return Inline(plain, markup, links)
