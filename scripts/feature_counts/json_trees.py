"""Formats of nested objects: MindMup, KityMinder, MindMeister (JSON), MindNode (a plist)."""

import plistlib
import re
from collections.abc import Iterator
from typing import Final
from xml.parsers.expat import ExpatError

from feature_counts.json_parts import Node, nodes_in, objects, part, string, strings
from feature_counts.raw_files import RawFile
from feature_counts.rich_text import PICTURE, different, has_words, local, markup
from feature_counts.table import Format, RawMap, Rule, each, each_in, number_of_topics

# --- MindMup -----------------------------------------------------------------------------------

_URL: Final = re.compile(r"https?://[^\s<>\"]+")
_NO_COLOURS: Final = frozenset({"", "transparent", "none"})


def _open_mindmup(raw: RawFile) -> RawMap[Node] | None:
    document = raw.json_of() if not raw.members else None
    if not isinstance(document, dict) or not isinstance(document.get("ideas"), dict):
        return None
    roots = list(_ideas(document)) if _is_frame(document) else [document]
    return RawMap(raw, document, tuple(nodes_in(roots, _ideas)))


def _is_frame(document: Node) -> bool:
    return document.get("id") == "root" or document.get("formatVersion") in (3, "3")


def _ideas(idea: Node) -> Iterator[Node]:
    ideas = idea.get("ideas")
    for child in ideas.values() if isinstance(ideas, dict) else ():
        if isinstance(child, dict):
            yield child


def _attachment(idea: Node) -> str:
    return string(idea, "attr", "attachment", "content")


def _mindmup_relationships(opened: RawMap[Node]) -> int:
    ids = {str(idea["id"]) for idea in opened.topics if idea.get("id") not in (None, "")}
    links = objects(opened.document.get("links"))
    ends = [{str(link.get("ideaIdFrom")), str(link.get("ideaIdTo"))} for link in links]
    return sum(len(pair & ids) == 2 for pair in ends)


def _mindmup_is_coloured(idea: Node) -> bool:
    style = part(idea, "attr", "style")
    paths = (("background",), ("backgroundColor",), ("color",), ("text", "color"))
    return any(string(style, *path) not in _NO_COLOURS for path in paths)


MINDMUP: Final = Format(
    "MindMup",
    _open_mindmup,
    (
        Rule("topics", "ideas; the root too, unless formatVersion is 3", number_of_topics),
        Rule(
            "notes",
            "attr.attachment.content (HTML) or attr.note with words",
            each(
                lambda i: (
                    has_words(_attachment(i))
                    or has_words(string(i, "attr", "note"))
                    or has_words(string(i, "attr", "note", "text"))
                )
            ),
        ),
        Rule(
            "links",
            "different http addresses inside title: the program makes a link of them",
            each(lambda i: different(_URL.findall(string(i, "title")))),
        ),
        Rule(
            "images",
            "attr.icon.url (data or relative); img in attr.attachment.content",
            each(
                lambda i: local(
                    [string(i, "attr", "icon", "url"), *markup(_attachment(i)).pictures]
                )
            ),
        ),
        Rule("relationships", "links[].ideaIdFrom/ideaIdTo (always empty)", _mindmup_relationships),
        Rule(
            "floating",
            "ideas of a root of formatVersion 3, beyond the first",
            lambda o: (
                max(0, sum(1 for _ in _ideas(o.document)) - 1) if _is_frame(o.document) else 0
            ),
        ),
        Rule(
            "folded",
            "attr.collapsed true with ideas",
            each(lambda i: part(i, "attr", "collapsed") is True and bool(i.get("ideas"))),
        ),
        Rule(
            "colours",
            "attr.style.background, backgroundColor, color, text.color",
            each(_mindmup_is_coloured),
        ),
    ),
)

# --- KityMinder --------------------------------------------------------------------------------

_FIELDS: Final = ("priority", "progress")


def _open_kityminder(raw: RawFile) -> RawMap[Node] | None:
    document = raw.json_of() if not raw.members else None
    root = part(document, "root") if isinstance(part(document, "root"), dict) else document
    if not isinstance(root, dict) or not isinstance(part(root, "data", "text"), str):
        return None
    return RawMap(raw, root, tuple(nodes_in([root], lambda n: objects(n.get("children")))))


def _signs(node: Node) -> int:
    values = [part(node, "data", name) for name in _FIELDS]
    return sum(isinstance(value, int) and value > 0 for value in values)


KITYMINDER: Final = Format(
    "KityMinder",
    _open_kityminder,
    (
        Rule("topics", "root and children with data", number_of_topics),
        Rule("notes", "data.note", each(lambda n: has_words(string(n, "data", "note")))),
        Rule(
            "markers",
            "data.priority, data.progress above 0: its only signs, task facts at the same time",
            each(_signs),
        ),
        Rule(
            "tags",
            "data.resource[]",
            each(lambda n: different(strings(part(n, "data", "resource")))),
        ),
        Rule(
            "links",
            "data.hyperlink, a string or its url",
            each(
                lambda n: different(
                    [part(n, "data", "hyperlink"), part(n, "data", "hyperlink", "url")]
                )
            ),
        ),
        Rule("images", "data.image", each(lambda n: local([part(n, "data", "image")]))),
        Rule("task", "data.priority or data.progress above 0", each(lambda n: _signs(n) > 0)),
        Rule(
            "folded",
            "data.expandState 'collapse' with children",
            each(
                lambda n: string(n, "data", "expandState") == "collapse" and bool(n.get("children"))
            ),
        ),
        Rule(
            "colours",
            "data.color, data.background",
            each(lambda n: bool(string(n, "data", "color") or string(n, "data", "background"))),
        ),
    ),
)

# --- MindMeister -------------------------------------------------------------------------------

_MEISTER_COLOURS: Final = ("color", "backgroundColor", "borderColor", "line_color")
_MEISTER_TASK: Final = ("from", "until", "resource", "effort", "priority", "completion")


def _open_mindmeister(raw: RawFile) -> RawMap[Node] | None:
    document = raw.json_of("map.json") if "map.json" in raw.members else None
    root = part(document, "root")
    if not isinstance(document, dict) or not isinstance(root, dict):
        return None
    return RawMap(raw, document, tuple(nodes_in([root], _meister_children)))


def _meister_children(node: Node) -> list[Node]:
    children = node.get("children")
    return objects(list(children.values()) if isinstance(children, dict) else children)


def _icons(node: Node) -> int:
    icons = node.get("icon")
    return different(icons.split(",")) if isinstance(icons, str) else len(strings(icons))


def _is_floating(node: Node) -> bool:
    return node.get("floating") is True or part(node, "property", "floating") is True


def _meister_relationships(opened: RawMap[Node]) -> list[Node]:
    ids = {node.get("id") for node in opened.topics} - {None}
    found = objects(opened.document.get("connections"))
    return [line for line in found if len({line.get("from_id"), line.get("to_id")} & ids) == 2]


MINDMEISTER: Final = Format(
    "MindMeister",
    _open_mindmeister,
    (
        Rule("topics", "root and children", number_of_topics),
        Rule("notes", "note, text or HTML", each(lambda n: has_words(n.get("note")))),
        Rule("markers", "icon: a list, or a string with commas; often [] or null", each(_icons)),
        Rule(
            "links",
            "link or link.url, often ''",
            each(lambda n: different([n.get("link"), part(n, "link", "url")])),
        ),
        Rule("images", "image, if not null", each(lambda n: bool(n.get("image")))),
        Rule("attachments", "attachments[]", each(lambda n: len(objects(n.get("attachments"))))),
        Rule(
            "relationships",
            "connections[].from_id/to_id (from converters; not seen)",
            lambda opened: len(_meister_relationships(opened)),
        ),
        Rule(
            "relationship_labels",
            "connections[].label (from converters; not seen)",
            lambda o: sum(has_words(line.get("label")) for line in _meister_relationships(o)),
        ),
        Rule(
            "boundaries",
            "boundary, if not null; theme.boundary_styles are defaults",
            each(lambda n: isinstance(n.get("boundary"), dict)),
        ),
        Rule("floating", "floating (2.6) or property.floating (3.0) true", each(_is_floating)),
        Rule(
            "task",
            "task.from, until, resource, effort, if not null: every topic has a task with notify 1",
            each(lambda n: any(part(n, "task", name) for name in _MEISTER_TASK)),
        ),
        Rule(
            "colours",
            "style.color, backgroundColor, borderColor, line_color; theme.styles are defaults",
            each(lambda n: any(string(n, "style", name) for name in _MEISTER_COLOURS)),
        ),
    ),
)

# --- MindNode ----------------------------------------------------------------------------------

_IN_FOLDER: Final = re.compile(r"[^/]+\.mindnode/contents\.xml")
_DISPLAYED: Final = re.compile(r"\$\$.+?\$\$", re.DOTALL)
_INLINE: Final = re.compile(r"(?<![\\$\w])\$(?=[^\s$])[^$\n]*[\\^_{}=][^$\n]*(?<=\S)\$(?![\d$])")


def _open_mindnode(raw: RawFile) -> RawMap[Node] | None:
    inside = [name for name in raw.members if _IN_FOLDER.fullmatch(name)]
    name = "contents.xml" if "contents.xml" in raw.members else "".join(inside[:1])
    try:
        document = plistlib.loads(raw.member(name) if raw.members else raw.data)
    except (plistlib.InvalidFileException, ExpatError, ValueError, RecursionError, OverflowError):
        return None
    if not isinstance(document, dict):
        return None
    return RawMap(raw, document, tuple(nodes_in(_mains(document), _subnodes)))


def _subnodes(node: Node) -> list[Node]:
    return objects(node.get("subnodes"))


def _mains(document: Node) -> list[Node]:
    maps = objects(part(document, "canvas", "mindMaps"))
    newer = [main for tree in maps if isinstance(main := tree.get("mainNode"), dict)]
    return [*newer, *objects(part(document, "mindMap", "mainNodes"))]


def _written(node: Node, name: str) -> str:
    return string(node, name, "htmlText") or string(node, name, "text") or string(node, name)


def _mindnode_links(node: Node) -> int:
    own = [
        part(node, "link"),
        part(node, "link", "url"),
        part(node, "fileLink", "relativeFilePath"),
    ]
    return different([*own, *markup(_written(node, "title")).links])


def _attached(opened: RawMap[Node], node: Node) -> str:
    name = string(node, "attachment", "fileName")
    held = any(member.endswith(f"resources/{name}") for member in opened.raw.members)
    return name if name and held else ""


def _connections(opened: RawMap[Node]) -> list[Node]:
    ids = {string(node, "nodeID") for node in opened.topics} - {""}
    places = [part(opened.document, name) for name in ("canvas", "mindMap")]
    places += objects(part(opened.document, "canvas", "mindMaps"))
    found = [line for place in places for line in objects(part(place, "crossConnections"))]
    return [line for line in found if len(_ends(line) & ids) == 2]


def _ends(line: Node) -> set[str]:
    points = part(line, "endPoints")
    return {
        string(each_, name) for each_ in (line, points) for name in ("startNodeID", "endNodeID")
    }


def _mindnode_is_formula(node: Node) -> bool:
    title = "".join(markup(_written(node, "title")).words)
    note = "".join(markup(_written(node, "note")).words)
    return bool(_DISPLAYED.search(title) or _INLINE.search(title) or _DISPLAYED.search(note))


def _mindnode_is_coloured(node: Node) -> bool:
    filled = string(node, "fillColor") and node.get("isDrawingFill") is True
    paths = (
        ("shapeStyle", "fillColor"),
        ("shapeStyle", "strokeColor"),
        ("pathStyle", "strokeColor"),
    )
    return bool(filled or node.get("strokeColor")) or any(part(node, *path) for path in paths)


MINDNODE: Final = Format(
    "MindNode",
    _open_mindnode,
    (
        Rule("topics", "main nodes and subnodes", number_of_topics),
        Rule(
            "notes",
            "note.text, HTML or RTF, with words",
            each(lambda n: has_words(_written(n, "note"))),
        ),
        Rule("tags", "tags[] (not seen)", each(lambda n: different(strings(n.get("tags"))))),
        Rule("links", "a href in title, link, fileLink.relativeFilePath", each(_mindnode_links)),
        Rule(
            "images",
            "attachment.fileName with a picture's ending, in resources/",
            each_in(lambda opened, n: bool(PICTURE.search(_attached(opened, n)))),
        ),
        Rule(
            "attachments",
            "attachment.fileName with another ending",
            each_in(lambda o, n: bool(_attached(o, n)) and not PICTURE.search(_attached(o, n))),
        ),
        Rule(
            "relationships",
            "crossConnections of canvas or mindMap: startNodeID/endNodeID, or within endPoints",
            lambda opened: len(_connections(opened)),
        ),
        Rule(
            "relationship_labels",
            "crossConnections[].title",
            lambda opened: sum(has_words(_written(line, "title")) for line in _connections(opened)),
        ),
        Rule(
            "floating",
            "main nodes beyond the first",
            lambda opened: len(_mains(opened.document)) - 1,
        ),
        Rule(
            "formulas",
            "$$..$$ in title or note; $..$ in title if it has one of \\ ^ _ { } = inside",
            each(_mindnode_is_formula),
        ),
        Rule(
            "folded",
            "hasFoldedSubnodes true with subnodes",
            each(lambda n: n.get("hasFoldedSubnodes") is True and bool(_subnodes(n))),
        ),
        Rule(
            "colours",
            "shapeStyle.fillColor/strokeColor, pathStyle.strokeColor; version 4: strokeColor (on"
            " every node), fillColor if isDrawingFill",
            each(_mindnode_is_coloured),
        ),
    ),
)
