"""Formats whose XML is the tree: WiseMapping, OPML, iThoughts, VYM, Mindomo."""

import re
from collections.abc import Iterator
from typing import Final
from urllib.parse import unquote
from xml.etree.ElementTree import Element

from feature_counts.raw_files import RawFile
from feature_counts.rich_text import PICTURE, different, has_words, local, markup, words_in
from feature_counts.table import Format, RawMap, Rule, each, each_in, number_of_topics

# --- WiseMapping -------------------------------------------------------------------------------


def _open_wise(raw: RawFile) -> RawMap[Element] | None:
    root = raw.root
    if root is None or root.tag != "map" or root.find("topic") is None:
        return None
    return RawMap(raw, root, tuple(root.iter("topic")))


def _wise_has_note(topic: Element) -> bool:
    notes = topic.findall("note")
    return any(
        has_words("".join(note.itertext())) or has_words(unquote(note.get("text", "")))
        for note in notes
    )


def _wise_relationships(opened: RawMap[Element]) -> int:
    ids = {topic.get("id") for topic in opened.topics} - {None, ""}
    found = opened.document.findall("relationship")
    return sum(len({part.get("srcTopicId"), part.get("destTopicId")} & ids) == 2 for part in found)


def _wise_floating(opened: RawMap[Element]) -> int:
    tops = opened.document.findall("topic")
    return len(tops) - any(top.get("central", "false") != "false" for top in tops)


def _wise_is_coloured(topic: Element) -> bool:
    font = topic.get("fontStyle", "").split(";")
    return bool(topic.get("bgColor") or topic.get("brColor") or (font[2:] and font[2].strip()))


WISEMAPPING: Final = Format(
    "WiseMapping",
    _open_wise,
    (
        Rule("topics", "topic", number_of_topics),
        Rule(
            "notes",
            "note with words: CDATA, a child, or percent-encoded @text",
            each(_wise_has_note),
        ),
        Rule(
            "markers",
            "icon@id, eicon@id (emoji)",
            each(lambda t: len(t.findall("icon[@id]")) + len(t.findall("eicon[@id]"))),
        ),
        Rule(
            "links", "link@url", each(lambda t: different(x.get("url") for x in t.findall("link")))
        ),
        Rule(
            "images",
            "image='width,height:path'",
            each(lambda t: local([t.get("image", "").partition(":")[2]])),
        ),
        Rule(
            "relationships",
            "relationship@srcTopicId/@destTopicId, without labels",
            _wise_relationships,
        ),
        Rule("floating", "map/topic that are not central", _wise_floating),
        Rule(
            "folded",
            'shrink="true" with topics below',
            each(lambda t: t.get("shrink") == "true" and t.find("topic") is not None),
        ),
        Rule("colours", "bgColor, brColor, third part of fontStyle", each(_wise_is_coloured)),
    ),
)

# --- OPML --------------------------------------------------------------------------------------

_OPML_LINKS: Final = ("url", "htmlUrl", "xmlUrl")
_LIST: Final = re.compile(r"\d{1,9}")
_NOWHERE: Final = re.compile(r"#|/$|.*[\"\\]")
"""Addresses in HTML that lead nowhere from an outline: places in the web page and the top of the
web site that it was meant for, and pieces of program code (``<a href=\\"" + url + "``)."""


def _open_opml(raw: RawFile) -> RawMap[Element] | None:
    root = raw.root
    if root is None or root.tag != "opml":
        return None
    return RawMap(raw, root, tuple(root.findall("body//outline")))


def _opml_topics(opened: RawMap[Element]) -> int:
    return len(opened.topics) + (len(opened.document.findall("body/outline")) > 1)


def _opml_has_note(outline: Element) -> bool:
    text = outline.get("text") or outline.get("title")
    found = (outline.get(name, "") for name in ("_note", "description"))
    return any(has_words(note) and note != text for note in found)


def _opml_links(outline: Element) -> int:
    written = [link for link in markup(outline.get("text", "")).links if not _NOWHERE.match(link)]
    return different([*map(outline.get, _OPML_LINKS), *written])


def _opml_folded(opened: RawMap[Element]) -> int:
    parents = {outline for outline in opened.topics if outline.find("outline") is not None}
    folded = {outline for outline in parents if outline.get("collapse") == "true"}
    listed = {int(n) for n in _LIST.findall(opened.document.findtext("head/expansionState", ""))}
    if listed:
        folded |= parents - set(_opml_expanded(opened, listed))
    return len(folded)


def _opml_expanded(opened: RawMap[Element], listed: set[int]) -> Iterator[Element]:
    """Yield the outlines that a list of visible lines, counted from 1, expands."""
    pending = opened.document.findall("body/outline")[::-1]
    line = 0
    while pending:
        outline = pending.pop()
        line += 1
        if line in listed:
            yield outline
            pending += outline.findall("outline")[::-1]


OPML: Final = Format(
    "OPML",
    _open_opml,
    (
        Rule("topics", "outline, and one for the title if it joins several", _opml_topics),
        Rule("notes", "_note, description, unless equal to the text", each(_opml_has_note)),
        Rule(
            "tags",
            "category, separated by commas",
            each(lambda o: different(o.get("category", "").split(","))),
        ),
        Rule(
            "links",
            "url, htmlUrl, xmlUrl; a href of HTML in text, but for places (#..) and the top (/) of"
            " a web site that is not there, and addresses put together by program code",
            each(_opml_links),
        ),
        Rule(
            "images",
            "img of HTML in text",
            each(lambda o: local(markup(o.get("text", "")).pictures)),
        ),
        Rule(
            "folded",
            'collapse="true"; else head/expansionState, if not empty: outlines with children that'
            " no number expands (numbers count visible lines from 1)",
            _opml_folded,
        ),
    ),
)

# --- iThoughts ---------------------------------------------------------------------------------

_ITHOUGHTS_TASK: Final = ("resources", "cost")
_NO_FACT: Final = frozenset({"", "-1"})


def _open_ithoughts(raw: RawFile) -> RawMap[Element] | None:
    root = raw.member_root("mapdata.xml") if raw.members else raw.root
    if root is None or root.tag != "iThoughts":
        return None
    return RawMap(raw, root, tuple(root.findall("topics//topic")))


def _asset(opened: RawMap[Element], topic: Element) -> str:
    name = topic.get("att-name", "")
    member = f"assets/{topic.get('att-id', '')}/{name}"
    return name if topic.get("att-id") and member in opened.raw.members else ""


def _ithoughts_relationships(opened: RawMap[Element]) -> list[Element]:
    ids = {topic.get("uuid") for topic in opened.topics} - {None, ""}
    found = opened.document.findall("relationships/relationship")
    return [
        part for part in found if len({part.get("end1-uuid"), part.get("end2-uuid")} & ids) == 2
    ]


def _ithoughts_boundaries(opened: RawMap[Element]) -> int:
    around = sum(topic.get("boundary", "0") not in {"", "0"} for topic in opened.topics)
    return around + len(opened.document.findall(".//group[@member0]"))


def _ithoughts_floating(opened: RawMap[Element]) -> int:
    beside = set(opened.document.findall("topics/topic")[1:])
    return len(beside | {topic for topic in opened.topics if topic.get("floating") == "1"})


def _ithoughts_is_task(topic: Element) -> bool:
    names = [name for name in topic.attrib if name.startswith("task-")]
    return any(topic.get(name, "") not in _NO_FACT for name in (*names, *_ITHOUGHTS_TASK))


ITHOUGHTS: Final = Format(
    "iThoughts",
    _open_ithoughts,
    (
        Rule("topics", "topic", number_of_topics),
        Rule("notes", "note", each(lambda t: has_words(t.get("note")))),
        Rule(
            "markers",
            "icon1, icon2, ..",
            each(lambda t: sum(bool(t.get(n)) for n in t.attrib if re.fullmatch(r"icon\d+", n))),
        ),
        Rule("links", "link", each(lambda t: bool(t.get("link", "").strip()))),
        Rule(
            "images",
            "att-id/att-name with a picture's ending, in assets/ID/NAME; image-width alone is none",
            each_in(lambda opened, t: bool(PICTURE.search(_asset(opened, t)))),
        ),
        Rule(
            "attachments",
            "att-id/att-name with another ending",
            each_in(lambda o, t: bool(_asset(o, t)) and not PICTURE.search(_asset(o, t))),
        ),
        Rule(
            "relationships",
            "relationship@end1-uuid/@end2-uuid",
            lambda opened: len(_ithoughts_relationships(opened)),
        ),
        Rule(
            "relationship_labels",
            "center-text",
            lambda opened: sum(
                has_words(part.get("center-text")) for part in _ithoughts_relationships(opened)
            ),
        ),
        Rule("boundaries", "boundary other than 0; group@member0", _ithoughts_boundaries),
        Rule(
            "summaries",
            "topics with summary1 (the first of what it sums up)",
            each(lambda t: bool(t.get("summary1"))),
        ),
        Rule("floating", 'floating="1"; further topics at the top', _ithoughts_floating),
        Rule("callouts", 'callout="1"', each(lambda t: t.get("callout") == "1")),
        Rule("task", "task-*, resources, cost; -1 is none", each(_ithoughts_is_task)),
        Rule(
            "folded",
            'folded="1" with topics below',
            each(lambda t: t.get("folded") == "1" and t.find("topic") is not None),
        ),
        Rule(
            "colours",
            "color, text-color",
            each(lambda t: bool(t.get("color") or t.get("text-color"))),
        ),
    ),
)

# --- VYM ---------------------------------------------------------------------------------------

_PLACE: Final = re.compile(r"(mc|bo):(\d{1,6})")
_DEFAULT_COLOUR: Final = "#000000"


def _open_vym(raw: RawFile) -> RawMap[Element] | None:
    names = sorted(name for name in raw.members if name.endswith(".xml") and "/" not in name)
    names.sort(key=lambda name: name != "map.xml")
    roots = [raw.root] if raw.root is not None else map(raw.member_root, names)
    root = next((root for root in roots if root is not None and root.tag == "vymmap"), None)
    if root is None:
        return None
    return RawMap(raw, root, tuple(x for x in root.iter() if x.tag in {"mapcenter", "branch"}))


def _vym_has_note(branch: Element) -> bool:
    notes = [note for name in ("vymnote", "htmlnote", "note") for note in branch.findall(name)]
    return any(bool(words_in(note)) or has_words(note.get("text")) for note in notes)


def _vym_images(opened: RawMap[Element], branch: Element) -> int:
    hrefs = [image.get("href", "") for image in branch.findall("floatimage")]
    return sum(href.removeprefix("file:") in opened.raw.members for href in hrefs)


def _vym_at(opened: RawMap[Element], place: str) -> Element | None:
    found: Element | None = opened.document
    for kind, number in _PLACE.findall(place):
        below = [] if found is None else found.findall("mapcenter" if kind == "mc" else "branch")
        found = below[int(number)] if int(number) < len(below) else None
    return found if place else None


def _vym_relationships(opened: RawMap[Element]) -> int:
    links = opened.document.iter("xlink")
    ends = [
        (_vym_at(opened, x.get("beginID", "")), _vym_at(opened, x.get("endID", ""))) for x in links
    ]
    return sum(None not in pair and pair[0] is not pair[1] for pair in ends)


def _vym_framed(branch: Element, *, around_all: bool) -> bool:
    frames = [f for f in branch.findall("frame") if f.get("frameType", "NoFrame") != "NoFrame"]
    return any((frame.get("includeChildren") == "true") == around_all for frame in frames)


def _vym_is_coloured(branch: Element) -> bool:
    colours = [heading.get("textColor", "") for heading in branch.findall("heading")]
    return any(colour and colour != _DEFAULT_COLOUR for colour in colours)


VYM: Final = Format(
    "VYM",
    _open_vym,
    (
        Rule("topics", "mapcenter, branch", number_of_topics),
        Rule("notes", "vymnote (earlier htmlnote, note) with words", each(_vym_has_note)),
        Rule(
            "markers",
            "standardflag, userflag",
            each(lambda b: len(b.findall("standardflag")) + len(b.findall("userflag"))),
        ),
        Rule("links", "url, vymLink", each(lambda b: different([b.get("url"), b.get("vymLink")]))),
        Rule("images", "floatimage@href=file:.. whose member exists", each_in(_vym_images)),
        Rule(
            "relationships",
            "xlink@beginID/@endID: indexes 'mc:0,bo:2' from 0",
            _vym_relationships,
        ),
        Rule(
            "boundaries",
            "frame other than NoFrame with includeChildren: around the branch with all below it",
            each(lambda branch: _vym_framed(branch, around_all=True)),
        ),
        Rule(
            "shapes",
            "frame other than NoFrame without includeChildren: around the words of one topic",
            each(lambda branch: _vym_framed(branch, around_all=False)),
        ),
        Rule(
            "floating",
            "mapcenter beyond the first",
            lambda o: max(0, len(o.document.findall("mapcenter")) - 1),
        ),
        Rule("task", "task", each(lambda b: b.find("task") is not None)),
        Rule(
            "folded",
            'scrolled="yes" (or true) with branches',
            each(lambda b: b.get("scrolled") in {"yes", "true"} and b.find("branch") is not None),
        ),
        Rule(
            "colours",
            "heading@textColor, which every heading has: all but black",
            each(_vym_is_coloured),
        ),
    ),
)

# --- Mindomo -----------------------------------------------------------------------------------

_MINDOMO: Final = ("Document.xml", "document.xml", "map.xml")


def _open_mindomo(raw: RawFile) -> RawMap[Element] | None:
    roots = [raw.root, *map(raw.member_root, _MINDOMO)]
    root = next(
        (root for root in roots if root is not None and root.find("topics/topic") is not None), None
    )
    if root is None or root.tag != "map":
        return None
    pending = root.findall("topics/topic")
    topics: list[Element] = []
    while pending:
        topic = pending.pop()
        if topic.get("deleted") in {None, "false", "0"}:
            topics.append(topic)
            pending += topic.findall("subTopics/topic")
    return RawMap(raw, root, tuple(topics))


def _mindomo_floating(opened: RawMap[Element]) -> int:
    alive = set(opened.topics)
    return max(0, sum(topic in alive for topic in opened.document.findall("topics/topic")) - 1)


MINDOMO: Final = Format(
    "Mindomo",
    _open_mindomo,
    (
        Rule("topics", "topic that is not deleted", number_of_topics),
        Rule(
            "markers",
            "symbols/symbol: number_1, smiley_.. (from a script of others)",
            each(lambda t: sum(bool(words_in(s)) for s in t.findall("symbols/symbol"))),
        ),
        Rule("floating", "topics/topic beyond the first", _mindomo_floating),
    ),
)
