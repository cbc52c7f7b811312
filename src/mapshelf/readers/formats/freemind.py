"""Read FreeMind 0.8-1.1 and Freeplane 1.x: XML with nested ``node`` elements.

Both programs, and the many that export for them, write variants of the same format. The rules below
come from real files, not from a specification.

* A topic's text is in ``TEXT``, as HTML in ``richcontent``, as escaped HTML in ``TEXT``, or it is a
  message of Freeplane, whose key is in ``LOCALIZED_TEXT``.
* A ``stylenode`` has text, icons and notes too, but belongs to the style sheet, not to the map
  (``freemind_styles``).
* Details, the note, and the note of old FreeMind plug-ins form the note of a topic
  (``freemind_topics``).
* A clone repeats another topic by its id. It is shown with the content of that topic except its
  arrows; the branch below is not repeated, because clones of clones could grow without limit.
* Free topics and summaries are ordinary nodes with a hook (``freemind_groups``).
* Numbers before texts are not in the file (``freemind_numbers``). Attributes are shown in topics
  unless the map says otherwise (``freemind_attributes``).
* Coggle exports further central topics as separate elements; they become floating topics.
* An arrow is stored at both ends, as ``arrowlink`` and ``linktarget``. Only the first is read
  (``freemind_arrows``).
* The content of an encrypted node is not read; the node itself is an ordinary topic, with a note
  that it is encrypted.
* The format has no author and no template flag. Every node has its own times: the map was
  created when its central topic was, and modified when any topic was last modified.
"""

import re
from typing import Final
from xml.etree.ElementTree import Element

from mapshelf.errors import BrokenFile
from mapshelf.model import Outline, Sheet, Summary, TopicKind
from mapshelf.readers.formats.freemind_arrows import mirrored
from mapshelf.readers.formats.freemind_groups import Groups
from mapshelf.readers.formats.freemind_numbers import numbers_of
from mapshelf.readers.formats.freemind_places import place
from mapshelf.readers.formats.freemind_styles import Styles, hide_lines
from mapshelf.readers.formats.freemind_topics import Topics, side_of
from mapshelf.readers.parsing.content import Content
from mapshelf.readers.parsing.dates import milliseconds
from mapshelf.readers.parsing.topic_tree import grow
from mapshelf.readers.parsing.xml_files import parse_xml

_VERSION: Final = re.compile(r"""\sversion\s*=\s*["'](?:([A-Za-z]+)\s+)?(\d[^"']*)["']""")
_COMMENT: Final = re.compile(r"<!--(.{0,400}?)-->", re.DOTALL)
_COGGLE: Final = "x-coggle-rootnode"
_PROGRAMS: Final = {"freeplane": "Freeplane", "docear": "Docear", "freemind": "FreeMind"}


def sniff(content: Content) -> bool:
    """Return whether ``content`` is a map of FreeMind or Freeplane.

    WiseMapping's root element is ``map`` as well, with other versions and elements.
    """
    if content.root_name != "map":
        return False
    return bool(_VERSION.search(content.root_tag)) or "<node" in content.text


def read(content: Content) -> Outline:
    """Return the outline of a FreeMind or Freeplane map.

    Raises:
        BrokenFile: it is not well-formed or has no topic.
        TooLarge: it exceeds a limit.
    """
    document = parse_xml(content.text, content.limits)
    centres = document.findall("node")
    if not centres:
        raise BrokenFile("it has no topics")
    software, version = _software(content)
    return Outline(
        sheets=_sheets(document, centres, content),
        software=software,
        software_version=version,
        created=milliseconds(centres[0].get("CREATED")),
        modified=_last_edit(document),
    )


def _last_edit(document: Element) -> int | None:
    written = {node.get("MODIFIED", "") for node in document.iter("node")}
    # Nearly all are 13-digit milliseconds, which sort as text: only the largest is parsed.
    usual = {time for time in written if len(time) == 13 and time.isascii() and time.isdigit()}
    last = next(filter(None, map(milliseconds, sorted(usual, reverse=True))), None)
    others = map(milliseconds, written - usual)
    return max((time for time in (last, *others) if time is not None), default=None)


def _sheets(document: Element, centres: list[Element], content: Content) -> tuple[Sheet, ...]:
    styles = Styles(document)
    topics = Topics(document, styles, content)
    groups = Groups(centres, content)
    groups.floating.extend(document.findall(_COGGLE))
    beside = [*groups.floating, *(groups.shown(brace) for _, brace in groups.summaries)]
    roots = grow([*centres, *beside], topics.create_topic, groups.children, content.limits)
    for node, (parent, left) in groups.callouts.items():
        topic = topics.topic_of_node(node)
        topic.kind = TopicKind.CALLOUT
        topic.position = place(node, topic, topics.topic_of_node(groups.shown(parent)), left=left)
    floating = roots[len(centres) : len(centres) + len(groups.floating)]
    for node, topic in zip(groups.floating, floating, strict=True):
        topic.kind = TopicKind.FLOATING
        topic.position = place(node, topic, roots[0], left=topic.side == "left")
    if 'NUMBERED="true"' in content.text:
        for node, number in numbers_of(centres, styles).items():
            if numbered := topics.find(node):
                numbered.number = number
    if '"hide_edge"' in content.text:
        hide_lines(centres, styles, topics.find)
    first = Sheet(
        root=roots[0],
        floating=floating,
        relationships=tuple(mirrored(topics.relationships, centres)),
        boundaries=tuple(topics.boundaries),
        summaries=tuple(_summary(*found, groups, topics) for found in groups.summaries),
        background=styles.background,
    )
    # FreeMind and Freeplane write one central topic. Programs that write more have no floating
    # topics, arrows or summaries, so the first sheet gets them all.
    return (first, *map(Sheet, roots[1 : len(centres)]))


def _summary(group: list[Element], brace: Element, groups: Groups, topics: Topics) -> Summary:
    topic = topics.topic_of_node(groups.shown(brace))
    topic.kind = TopicKind.SUMMARY
    topic.side = topic.side or side_of(brace)
    return Summary(tuple(topics.id_of_node(groups.shown(node)) for node in group), topic)


def _software(content: Content) -> tuple[str, str]:
    version = _VERSION.search(content.root_tag)
    name, number = version.groups("") if version else ("", "")
    if name:
        return _PROGRAMS.get(name.lower(), name), number.strip()
    head = content.text[: content.text.find("<node")]
    if any("freeplane" in comment.lower() for comment in _COMMENT.findall(head)):
        # Early versions of Freeplane wrote the version of FreeMind's format, not their own.
        return "Freeplane", ""
    return "FreeMind", number.strip()
