"""XMind: ``content.json`` since 2018, else ``content.xml`` in an archive or alone.

An archive with JSON also has a ``content.xml`` with only a warning, and ``Revisions/`` has old
copies. Neither is opened. Files with a password are not counted.
"""

import re
from collections.abc import Iterator
from typing import Final
from xml.etree.ElementTree import Element

from feature_counts.json_parts import Node, nodes_in, objects, string, strings
from feature_counts.raw_files import RawFile
from feature_counts.rich_text import different, has_words, local, markup, pictures_in, words_in
from feature_counts.table import Format, RawMap, Rule, each, each_in, number_of_topics

_RANGE: Final = re.compile(r"\(\s*(\d+)\s*,\s*(\d+)\s*\)")
_INSIDE: Final = "xap:"
_COLOURS: Final = ("svg:fill", "fo:color", "line-color", "border-line-color")
_BARE_COLOURS: Final = tuple(name.rpartition(":")[2] for name in _COLOURS)
_TASKS: Final = frozenset({"org.xmind.ui.taskInfo", "org.xmind.ui.task"})
_AUDIO: Final = "org.xmind.ui.audionotes"
_FORMULA: Final = "org.xmind.ui.mathJax"
_LOCKS: Final = ("META-INF/manifest.xml", "manifest.json")


def _is_locked(raw: RawFile) -> bool:
    return any(b"encryption-data" in raw.member(name) for name in _LOCKS)


def _inside(raw: RawFile, target: str) -> bool:
    return target.startswith(_INSIDE) and target.removeprefix(_INSIDE).lstrip("/") in raw.members


def _pictures(raw: RawFile, sources: list[str]) -> int:
    return sum(_inside(raw, source) or local([source]) for source in sources)


def _encloses(extent: str, children: int) -> bool:
    """Return whether a boundary's range has topics: it is the topic itself if it has no numbers."""
    numbers = _RANGE.fullmatch(extent)
    return numbers is None or int(numbers[1]) < children


# --- XML ---------------------------------------------------------------------------------------


def _open_xml(raw: RawFile) -> RawMap[Element] | None:
    if "content.json" in raw.members or _is_locked(raw):
        return None
    root = raw.member_root("content.xml") if raw.members else raw.root
    if root is None or root.tag != "xmap-content":
        return None
    topics = [topic for sheet in root.findall("sheet/topic") for topic in sheet.iter("topic")]
    return RawMap(raw, root, tuple(topics))


def _kind(name: str) -> str:
    return f"children/topics[@type='{name}']/topic"


def _href(topic: Element) -> str:
    return topic.get("href", "").strip()


def _xml_relationships(opened: RawMap[Element]) -> list[Element]:
    ids = {topic.get("id") for topic in opened.topics} - {None, ""}
    found = opened.document.findall("sheet/relationships/relationship")
    return [part for part in found if len({part.get("end1"), part.get("end2")} & ids) == 2]


def _xml_extension(topic: Element, *providers: str) -> list[Element]:
    found = topic.findall("extensions/extension")
    return [part for part in found if part.get("provider") in providers]


def _xml_is_task(topic: Element) -> bool:
    contents = [part.find("content") for part in _xml_extension(topic, *_TASKS)]
    return any(words_in(content) for content in contents)


def _xml_attachments(opened: RawMap[Element], topic: Element) -> int:
    audio = [
        reference.get("resource-id", "")
        for part in _xml_extension(topic, _AUDIO)
        for reference in part.iter("resource-ref")
    ]
    return _inside(opened.raw, _href(topic)) + sum(name in opened.raw.members for name in audio)


def _xml_images(opened: RawMap[Element], topic: Element) -> int:
    own = [image.get("src", "") for image in topic.findall("img")]
    return _pictures(opened.raw, own + pictures_in(topic.find("notes/html")))


def _xml_boundaries(topic: Element) -> int:
    children = len(topic.findall(_kind("attached")))
    found = topic.findall("boundaries/boundary")
    return sum(_encloses(boundary.get("range", ""), children) for boundary in found)


def _xml_summaries(topic: Element) -> int:
    ids = {summary.get("id") for summary in topic.findall(_kind("summary"))}
    found = topic.findall("summaries/summary")
    return sum(summary.get("topic-id") in ids for summary in found)


def _xml_colours(opened: RawMap[Element]) -> int:
    sheet = opened.raw.member_root("styles.xml")
    styles = [] if sheet is None else list(sheet.iter("style"))
    coloured = {
        style.get("id")
        for style in styles
        for properties in style.findall("topic-properties")
        if any(properties.get(name, "").startswith("#") for name in _BARE_COLOURS)
    }
    return sum(topic.get("style-id") in coloured for topic in opened.topics)


XMIND_XML: Final = Format(
    "XMind XML",
    _open_xml,
    (
        Rule("topics", "topic within a sheet's topic, of every type", number_of_topics),
        Rule(
            "notes",
            "notes/plain or notes/html with words",
            each(
                lambda topic: (
                    has_words(topic.findtext("notes/plain"))
                    or bool(words_in(topic.find("notes/html")))
                )
            ),
        ),
        Rule("markers", "marker-ref", each(lambda t: len(t.findall("marker-refs/marker-ref")))),
        Rule(
            "tags",
            "label",
            each(lambda t: sum(bool(words_in(label)) for label in t.findall("labels/label"))),
        ),
        Rule(
            "links",
            "href that is not xap: (xmind:#id and targets without a scheme too)",
            each(lambda t: bool(_href(t)) and not _href(t).startswith(_INSIDE)),
        ),
        Rule("images", "img@src of the topic and in notes/html", each_in(_xml_images)),
        Rule(
            "attachments",
            "href xap:attachments/.., audio notes (extension audionotes), if the member exists",
            each_in(_xml_attachments),
        ),
        Rule(
            "relationships",
            "relationship whose end1 and end2 are two topics (boundaries have ids too)",
            lambda opened: len(_xml_relationships(opened)),
        ),
        Rule(
            "relationship_labels",
            "relationship/title",
            lambda opened: sum(
                has_words(part.findtext("title")) for part in _xml_relationships(opened)
            ),
        ),
        Rule(
            "boundaries", "boundary whose range has a child, or without one", each(_xml_boundaries)
        ),
        Rule("summaries", "summary whose topic-id is a summary topic", each(_xml_summaries)),
        Rule("floating", "topics type=detached", each(lambda t: len(t.findall(_kind("detached"))))),
        Rule("callouts", "topics type=callout", each(lambda t: len(t.findall(_kind("callout"))))),
        Rule("task", "extension taskInfo with content", each(_xml_is_task)),
        Rule(
            "formulas",
            "extension mathJax (not seen in XML)",
            each(lambda topic: bool(_xml_extension(topic, _FORMULA))),
        ),
        Rule(
            "folded",
            'branch="folded" with topics below',
            each(
                lambda topic: (
                    topic.get("branch") == "folded"
                    and topic.find("children/topics/topic") is not None
                )
            ),
        ),
        Rule(
            "colours",
            "style-id in styles.xml with topic-properties fill, color, line-color or"
            " border-line-color #..; dangling ids and the sheet's theme do not count",
            _xml_colours,
        ),
        Rule(
            "sheets",
            "sheet with a topic",
            lambda opened: len(opened.document.findall("sheet/topic")),
        ),
    ),
)


# --- JSON --------------------------------------------------------------------------------------


def _open_json(raw: RawFile) -> RawMap[Node] | None:
    if "content.json" not in raw.members or _is_locked(raw):
        return None
    sheets = raw.json_of("content.json")
    roots = objects([sheet.get("rootTopic") for sheet in objects(sheets)])
    return RawMap(raw, {"sheets": sheets}, tuple(nodes_in(roots, _children)))


def _children(topic: Node) -> Iterator[Node]:
    children = topic.get("children")
    for kind in children.values() if isinstance(children, dict) else ():
        yield from objects(kind)


def _of_kind(topic: Node, kind: str) -> list[Node]:
    children = topic.get("children")
    return objects(children.get(kind)) if isinstance(children, dict) else []


def _sheets(opened: RawMap[Node]) -> list[Node]:
    return [sheet for sheet in objects(opened.document["sheets"]) if sheet.get("rootTopic")]


def _note_parts(topic: Node) -> tuple[str, list[object], str]:
    """Return a note as plain text, as pieces of rich text, and as HTML."""
    notes = topic.get("notes")
    if not isinstance(notes, dict):
        return "", [], ""
    plain, ops, rich = (notes.get(kind) for kind in ("plain", "ops", "realHTML"))
    pieces = objects(ops.get("ops")) if isinstance(ops, dict) else []
    return (
        string(plain, "content"),
        [piece.get("insert") for piece in pieces],
        string(rich, "content"),
    )


def _json_has_note(topic: Node) -> bool:
    plain, pieces, rich = _note_parts(topic)
    return any(map(has_words, [plain, *pieces, rich]))


def _json_images(opened: RawMap[Node], topic: Node) -> int:
    _, pieces, rich = _note_parts(topic)
    image = topic.get("image")
    shown = isinstance(image, dict) and not image.get("isMathJaxImage")
    in_note = [string(piece, "image") for piece in pieces if isinstance(piece, dict)]
    if not in_note:
        in_note = markup(rich).pictures
    return _pictures(opened.raw, [*([string(image, "src")] if shown else []), *in_note])


def _json_relationships(opened: RawMap[Node]) -> list[Node]:
    ids = {topic.get("id") for topic in opened.topics} - {None, ""}
    found = [part for sheet in _sheets(opened) for part in objects(sheet.get("relationships"))]
    return [part for part in found if len({part.get("end1Id"), part.get("end2Id")} & ids) == 2]


def _json_extension(topic: Node, *providers: str) -> list[Node]:
    found = objects(topic.get("extensions"))
    return [part for part in found if part.get("provider") in providers]


def _json_attachments(opened: RawMap[Node], topic: Node) -> int:
    audio = [
        reference
        for part in _json_extension(topic, _AUDIO)
        for reference in strings(part.get("resourceRefs"))
    ]
    return sum(_inside(opened.raw, target) for target in (string(topic, "href"), *audio))


def _json_boundaries(topic: Node) -> int:
    children = len(_of_kind(topic, "attached"))
    found = objects(topic.get("boundaries"))
    return sum(_encloses(string(boundary, "range"), children) for boundary in found)


def _json_summaries(topic: Node) -> int:
    ids = {summary.get("id") for summary in _of_kind(topic, "summary")}
    return sum(summary.get("topicId") in ids for summary in objects(topic.get("summaries")))


def _json_is_coloured(topic: Node) -> bool:
    style = topic.get("style")
    properties = style.get("properties") if isinstance(style, dict) else None
    return any(string(properties, name).startswith("#") for name in _COLOURS)


XMIND_JSON: Final = Format(
    "XMind JSON",
    _open_json,
    (
        Rule("topics", "rootTopic and all lists in children", number_of_topics),
        Rule("notes", "notes.plain, .ops or .realHTML with words", each(_json_has_note)),
        Rule(
            "markers",
            "markers[].markerId",
            each(lambda t: sum(bool(m.get("markerId")) for m in objects(t.get("markers")))),
        ),
        Rule(
            "tags",
            "labels[] (empty lists in one file)",
            each(lambda t: different(strings(t.get("labels")))),
        ),
        Rule(
            "links",
            "href that is not xap:",
            each(
                lambda t: (
                    bool(string(t, "href").strip()) and not string(t, "href").startswith(_INSIDE)
                )
            ),
        ),
        Rule(
            "images",
            "image.src xap:resources/.. whose member exists (not if isMathJaxImage), pictures in"
            " notes.ops or .realHTML; image {} is none",
            each_in(_json_images),
        ),
        Rule("attachments", "href xap:, resourceRefs of audio notes", each_in(_json_attachments)),
        Rule(
            "relationships",
            "relationships[] whose end1Id and end2Id are two topics, not boundaries; '' is no id",
            lambda opened: len(_json_relationships(opened)),
        ),
        Rule(
            "relationship_labels",
            "relationships[].title",
            lambda opened: sum(has_words(p.get("title")) for p in _json_relationships(opened)),
        ),
        Rule("boundaries", "boundaries[] by range, or 'master'", each(_json_boundaries)),
        Rule("summaries", "summaries[] whose topicId is a summary topic", each(_json_summaries)),
        Rule("floating", "children.detached", each(lambda t: len(_of_kind(t, "detached")))),
        Rule("callouts", "children.callout", each(lambda t: len(_of_kind(t, "callout")))),
        Rule(
            "task",
            "extension task or taskInfo with content",
            each(lambda t: any(part.get("content") for part in _json_extension(t, *_TASKS))),
        ),
        Rule("formulas", "extension mathJax", each(lambda t: bool(_json_extension(t, _FORMULA)))),
        Rule(
            "folded",
            "branch 'folded' with topics below",
            each(lambda t: t.get("branch") == "folded" and any(True for _ in _children(t))),
        ),
        Rule(
            "colours",
            "style.properties svg:fill, fo:color, line-color, border-line-color #..; not class,"
            " not theme",
            each(_json_is_coloured),
        ),
        Rule("sheets", "sheets with a rootTopic", lambda opened: len(_sheets(opened))),
    ),
)
