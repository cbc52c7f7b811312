"""Text formats: NB MindMap ``.mmd`` and Markmap (Markdown).

PlantUML and Mermaid are not counted: the corpus has none, and their topics have nothing beyond
their own line.
"""

import html
import re
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Final

from feature_counts.raw_files import RawFile
from feature_counts.rich_text import different, has_words, local
from feature_counts.table import Format, RawMap, Rule, each, number_of_topics


@dataclass(eq=False, slots=True)
class Entry:
    """A topic and the lines that belong to it."""

    level: int
    text: str
    facts: dict[str, str] = field(default_factory=dict)
    extras: dict[str, str] = field(default_factory=dict)
    code: bool = False
    parent: bool = False
    lines: list[str] = field(default_factory=list)


def _mark_parents(entries: list[Entry]) -> None:
    for entry, following in pairwise(entries):
        entry.parent = following.level > entry.level


# --- NB MindMap --------------------------------------------------------------------------------

_NB_HEADER: Final = re.compile(r"(?:(?!---).*\n){0,20}>.*__version__[ \t]*=[ \t]*`")
_NB_FACT: Final = re.compile(r"([^\s=,`>]+)=(`+)([^`\n]*)\2")
_NB_EXTRA: Final = re.compile(r"- ([A-Z]+)\s*<pre>(.*?)</pre>", re.DOTALL)
_NB_PIECE: Final = re.compile(
    r"(?ms)^(?P<fence>```).*?^```|^- [A-Z]+\s*<pre>.*?</pre>|^(?P<marks>#+)(?P<text>[^\n]*)"
    r"|^(?P<facts>>[^\n]*)"
)


def _open_nb(raw: RawFile) -> RawMap[Entry] | None:
    if raw.members or not _NB_HEADER.match(raw.text[:4096]):
        return None
    entries: list[Entry] = []
    for piece in _NB_PIECE.finditer(raw.text.replace("\r\n", "\n")):
        if piece["marks"]:
            entries.append(Entry(len(piece["marks"]), piece["text"].strip()))
        elif entries:
            _add(entries[-1], piece)
    _mark_parents(entries)
    return RawMap(raw, Entry(0, ""), tuple(entries))


def _add(entry: Entry, piece: re.Match[str]) -> None:
    if piece["fence"]:
        entry.code = True
    elif piece["facts"]:
        entry.facts |= {name: value for name, _, value in _NB_FACT.findall(piece["facts"])}
    else:
        entry.extras |= {kind: html.unescape(text) for kind, text in _NB_EXTRA.findall(piece[0])}


_NB_COLOURS: Final = ("fillColor", "textColor", "borderColor")
_NB_LINKS: Final = ("LINK", "FILE", "TOPIC")

NB: Final = Format(
    "NB MindMap",
    _open_nb,
    (
        Rule("topics", "headings", number_of_topics),
        Rule(
            "notes",
            "- NOTE with words, or fenced source text",
            each(lambda e: e.code or has_words(e.extras.get("NOTE"))),
        ),
        Rule("markers", "mmd.emoticon", each(lambda e: bool(e.facts.get("mmd.emoticon")))),
        Rule(
            "links",
            "- LINK, - FILE (refers, does not hold), - TOPIC (a jump, drawn as an arrow)",
            each(lambda e: different(e.extras.get(kind, "") for kind in _NB_LINKS)),
        ),
        Rule("images", "mmd.image, base64", each(lambda e: bool(e.facts.get("mmd.image")))),
        Rule(
            "folded",
            "collapsed true with deeper headings after it",
            each(lambda e: e.facts.get("collapsed") == "true" and e.parent),
        ),
        Rule(
            "colours",
            "fillColor, textColor, borderColor",
            each(lambda e: any(e.facts.get(name) for name in _NB_COLOURS)),
        ),
    ),
)

# --- Markmap -----------------------------------------------------------------------------------

_FRONT: Final = re.compile(
    r"---[ \t]*\n(.*?)^(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.DOTALL | re.MULTILINE
)
_MARKED: Final = re.compile(r"^markmap[ \t]*:", re.MULTILINE)
_TITLED: Final = re.compile(r"^title[ \t]*:[ \t]*\S", re.MULTILINE)
_FENCED: Final = re.compile(r"^[ \t]*(```+|~~~+).*?(?:^[ \t]*\1|\Z)", re.DOTALL | re.MULTILINE)
_FOLD: Final = re.compile(r"<!--\s*(?:markmap:\s*fold(?:All)?|fold)\s*-->", re.IGNORECASE)
_COMMENT: Final = re.compile(r"<!--.*?-->", re.DOTALL)
_TOPIC: Final = re.compile(
    r"(?P<marks>#{1,6})[ \t]+\S|(?P<indent>[ \t]*)(?:[-*+]|\d{1,9}[.)])[ \t]+\S"
)
_LINK: Final = re.compile(
    r"(?<!!)\[[^\[\]]*\]\(\s*<?([^()<>\s]+)|<((?:https?://|mailto:)[^<>\s]+)>"
)
_IMAGE: Final = re.compile(r"!\[[^\[\]]*\]\(\s*<?([^()<>\s]+)")
_TICKED: Final = re.compile(r"[ \t]*(?:[-*+]|\d{1,9}[.)])[ \t]+\[[ xX]\]\s")
_FORMULA: Final = re.compile(
    r"\$\$.+?\$\$|(?<![\\$\w])\$(?=[^\s$])[^$\n]*[\\^_{}=][^$\n]*(?<=\S)\$(?![\d$])"
)
_LISTS: Final = 10
_KEPT_FOLD: Final = "\0fold"


def _open_markmap(raw: RawFile) -> RawMap[Entry] | None:
    text = raw.text.replace("\r\n", "\n")
    front = _FRONT.match(text)
    marked = front is not None and _MARKED.search(front[1]) is not None
    if raw.members or not (marked or raw.name.lower().endswith((".md", ".markdown"))):
        return None
    body = _FENCED.sub("\0code", text[front.end() :] if front else text)
    entries: list[Entry] = []
    for line in _COMMENT.sub("", _FOLD.sub(_KEPT_FOLD, body)).split("\n"):
        topic = _TOPIC.match(line)
        if topic:
            level = len(topic["marks"] or "") or _LISTS + len(topic["indent"].expandtabs(4))
            entries.append(Entry(level, line))
        elif entries:
            entries[-1].lines.append(line)
    _mark_parents(entries)
    highest = min((entry.level for entry in entries), default=0)
    several = sum(entry.level == highest for entry in entries) > 1
    titled = front is not None and _TITLED.search(front[1]) is not None
    if several and titled:
        entries.insert(0, Entry(0, "", parent=True))
    return RawMap(raw, Entry(0, ""), tuple(entries))


def _has_words(entry: Entry) -> bool:
    lines = [_IMAGE.sub("", line).replace(_KEPT_FOLD, "") for line in entry.lines]
    return any(line.strip() for line in lines)


def _all(entry: Entry) -> str:
    return "\n".join([entry.text, *entry.lines])


MARKMAP: Final = Format(
    "Markmap",
    _open_markmap,
    (
        Rule(
            "topics",
            "headings, list items; the title of the front matter if it joins several",
            number_of_topics,
        ),
        Rule("notes", "other lines after it, fenced source text", each(_has_words)),
        Rule(
            "links",
            "[..](target), <http..> in the topic and the lines after it",
            each(lambda e: different(a or b for a, b in _LINK.findall(_all(e)))),
        ),
        Rule("images", "![..](relative or data)", each(lambda e: local(_IMAGE.findall(_all(e))))),
        Rule("task", "list item with [ ] or [x]", each(lambda e: bool(_TICKED.match(e.text)))),
        Rule(
            "formulas",
            "$$..$$; $..$ with one of \\ ^ _ { } = inside (else it is money)",
            each(lambda e: bool(_FORMULA.search(e.text))),
        ),
        Rule(
            "folded",
            "<!-- markmap: fold --> with topics below",
            each(lambda e: _KEPT_FOLD in e.text and e.parent),
        ),
    ),
)
