"""FreeMind and Freeplane: ``map/node`` within ``node``.

Style sheets (``hook NAME="MapStyle"``) contain icons, clouds, arrows and notes, too. They do not
count, because only direct children of a ``node`` do.
"""

import re
from typing import Final
from xml.etree.ElementTree import Element

from feature_counts.raw_files import RawFile
from feature_counts.rich_text import (
    different,
    is_html,
    links_in,
    local,
    markup,
    pictures_in,
    words_in,
)
from feature_counts.table import Format, RawMap, Rule, each, each_in, number_of_topics

_NODES: Final = frozenset({"node", "x-coggle-rootnode"})
_BRACKETS: Final = frozenset({"SummaryNode", "FirstGroupNode"})
_OLD_NOTE: Final = "accessories/plugins/NodeNote.properties"
_LATEX_HOOK: Final = "plugins/latex/LatexNodeHook.properties"
_LATEX_TEXT: Final = re.compile(r"\\(?:unparsed)?latex\s", re.IGNORECASE)
_LATEX_FORMATS: Final = frozenset({"latexPatternFormat", "unparsedLatexPatternFormat"})
_COLOURS: Final = ("COLOR", "BACKGROUND_COLOR", "BORDER_COLOR")
_LABELS: Final = ("SOURCE_LABEL", "MIDDLE_LABEL", "TARGET_LABEL")
_BY_LEVEL: Final = "AutomaticLayout."


def _open(raw: RawFile) -> RawMap[Element] | None:
    root = raw.root
    if root is None or root.tag != "map" or root.find("node") is None:
        return None
    nodes = [node for node in root.iter() if node.tag in _NODES]
    return RawMap(raw, root, tuple(node for node in nodes if not _is_bracket(node)))


def _hooks(node: Element) -> dict[str, Element]:
    return {hook.get("NAME", ""): hook for hook in node.findall("hook")}


def _rich(node: Element, *kinds: str) -> list[Element]:
    parts = node.findall("richcontent")
    return [part for part in parts if part.get("TYPE", "NODE").upper() in kinds]


def _is_bracket(node: Element) -> bool:
    text = node.get("TEXT") or node.get("LOCALIZED_TEXT") or ""
    says = text.strip() or _rich(node, "NODE", "DETAILS", "NOTE")
    return bool(_BRACKETS & set(_hooks(node))) and not says


def _content(opened: RawMap[Element], node: Element) -> Element:
    """Return the node that has the content: for a clone, the original."""
    name = node.get("CONTENT_ID") or node.get("TREE_ID")
    if name is None or "TEXT" in node.attrib:
        return node
    return next((other for other in opened.topics if other.get("ID") == name), node)


def _has_note(opened: RawMap[Element], node: Element) -> bool:
    content = _content(opened, node)
    old = _hooks(content).get(_OLD_NOTE)
    parts = _rich(content, "NOTE", "DETAILS")
    return any(words_in(part) for part in parts) or bool(words_in(old))


def _links(opened: RawMap[Element], node: Element) -> int:
    content = _content(opened, node)
    text = content.get("TEXT", "")
    targets = [content.get("LINK", ""), *(markup(text).links if is_html(text) else [])]
    return different(targets + [link for part in _rich(content, "NODE") for link in links_in(part)])


def _images(opened: RawMap[Element], node: Element) -> int:
    content = _content(opened, node)
    text = content.get("TEXT", "")
    objects = [hook.get("URI", "") for hook in content.findall("hook[@NAME='ExternalObject']")]
    rich = [source for part in content.findall("richcontent") for source in pictures_in(part)]
    return local([*objects, *rich, *(markup(text).pictures if is_html(text) else [])])


def _arrows(opened: RawMap[Element]) -> list[Element]:
    ids = {node.get("ID") for node in opened.topics}
    return [
        arrow
        for node in opened.topics
        for arrow in node.findall("arrowlink")
        if arrow.get("DESTINATION") in ids and arrow.get("DESTINATION") != node.get("ID")
    ]


def _summaries(opened: RawMap[Element]) -> int:
    nodes = (node for node in opened.document.iter("node") if "SummaryNode" in _hooks(node))
    return sum(not _is_bracket(node) or node.find("node") is not None for node in nodes)


def _free(opened: RawMap[Element]) -> int:
    return sum(node.tag != "node" or "FreeNode" in _hooks(node) for node in opened.topics)


def _floating(opened: RawMap[Element]) -> int:
    beside = [node for node in opened.topics if node.tag != "node"]
    return len(beside) + sum(
        "FreeNode" in _hooks(node) for node in opened.document.findall("node/node")
    )


def _is_formula(opened: RawMap[Element], node: Element) -> bool:
    content = _content(opened, node)
    text = content.get("TEXT", "")
    by_format = content.get("FORMAT") in _LATEX_FORMATS
    return by_format or _LATEX_HOOK in _hooks(content) or bool(_LATEX_TEXT.match(text))


def _is_coloured(part: Element) -> bool:
    edge = part.find("edge")
    own = any(part.get(name) for name in _COLOURS)
    return own or (edge is not None and bool(edge.get("COLOR")))


def _colours(opened: RawMap[Element]) -> int:
    styles = [style for style in opened.document.iter("stylenode") if _is_coloured(style)]
    named = {style.get("TEXT") for style in styles} - {None}
    shipped = {style.get("LOCALIZED_TEXT") for style in styles} - {None}

    def shows(node: Element) -> bool:
        if _is_coloured(node) or node.get("STYLE_REF") in named:
            return True
        style = node.get("LOCALIZED_STYLE_REF", "")
        return style in shipped and not style.startswith(_BY_LEVEL)

    return sum(map(shows, opened.topics))


FREEMIND: Final = Format(
    "FreeMind, Freeplane",
    _open,
    (
        Rule(
            "topics",
            "node; x-coggle-rootnode (Coggle's further roots); without SummaryNode and"
            " FirstGroupNode hooks that have neither text nor details; a clone is a topic",
            number_of_topics,
        ),
        Rule(
            "notes",
            "richcontent NOTE or DETAILS, the text of the old NodeNote hook; a clone has its"
            " original's note, links, pictures, icons, attributes, tags and formula",
            each_in(_has_note),
        ),
        Rule(
            "markers",
            "icon",
            each_in(lambda opened, node: len(_content(opened, node).findall("icon"))),
        ),
        Rule(
            "tags",
            "TAGS, one a line",
            each_in(
                lambda opened, node: different(_content(opened, node).get("TAGS", "").splitlines())
            ),
        ),
        Rule(
            "links",
            "LINK (menuitem:, file: and #ID too), a href in richcontent NODE or in HTML in TEXT",
            each_in(_links),
        ),
        Rule(
            "images",
            "hook ExternalObject URI; img in any richcontent or in HTML in TEXT",
            each_in(_images),
        ),
        Rule(
            "relationships",
            "arrowlink whose DESTINATION is another topic; linktarget is its other end; an arrow"
            " of a topic to itself is none",
            lambda opened: len(_arrows(opened)),
        ),
        Rule(
            "relationship_labels",
            "arrowlink with SOURCE_, MIDDLE_ or TARGET_LABEL: one for the arrow",
            lambda opened: sum(
                any(arrow.get(name, "").strip() for name in _LABELS) for arrow in _arrows(opened)
            ),
        ),
        Rule("boundaries", "cloud", each(lambda node: node.find("cloud") is not None)),
        Rule(
            "summaries",
            "hook SummaryNode on a node with text or children, which are the summary then",
            _summaries,
        ),
        Rule(
            "floating",
            "hook FreeNode right below the central node; x-coggle-rootnode",
            _floating,
        ),
        Rule(
            "callouts",
            "hook FreeNode further down: Freeplane keeps it beside the topic that it belongs to,"
            " and moves, folds and deletes it together with that",
            lambda opened: _free(opened) - _floating(opened),
        ),
        Rule(
            "task",
            "reminder: Parameters@REMINDUSERAT in a hook",
            each(lambda node: node.find("hook/Parameters[@REMINDUSERAT]") is not None),
        ),
        Rule(
            "attributes",
            "attribute with a NAME",
            each_in(lambda opened, node: len(_content(opened, node).findall("attribute[@NAME]"))),
        ),
        Rule(
            "formulas",
            "hook LatexNodeHook, text after \\latex, FORMAT latexPatternFormat; neither $ alone nor"
            " a text that begins with = (a script)",
            each_in(_is_formula),
        ),
        Rule(
            "folded",
            'FOLDED="true" with nodes below',
            each(lambda node: node.get("FOLDED") == "true" and node.find("node") is not None),
        ),
        Rule(
            "colours",
            "COLOR, BACKGROUND_COLOR, BORDER_COLOR, edge@COLOR; STYLE_REF or LOCALIZED_STYLE_REF"
            " (not AutomaticLayout.*, given by level) to a stylenode with one of these; no"
            " conditional styles; colours that the program wrote to each node by itself do count",
            _colours,
        ),
    ),
)
