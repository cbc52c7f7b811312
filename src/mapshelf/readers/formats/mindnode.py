"""Read MindNode: an archive with ``contents.xml``, a property list that is usually binary.

* On a Mac, a document is a folder unless it was saved as a file. The Finder or a download may have
  compressed the folder to a zip archive, which is read, too, as is the property list alone.
* Versions 4 and 5 have one ``mindMap`` with several main nodes. Later versions have a ``canvas``
  with several ``mindMaps`` of one main node each. Both are read as one sheet: the first main node
  is the central topic, the others are floating topics.
* Positions are absolute. Below main nodes they come from automatic layout and are used only for the
  sides of main topics.
* The file contains the version of its format, but not of the program.
"""

import re
from collections.abc import Iterable
from typing import Final

from mapshelf.errors import BrokenFile
from mapshelf.model import Outline, Relationship, Sheet, Topic
from mapshelf.readers.formats.mindnode_nodes import Nodes, colour_of, place_of, words_of
from mapshelf.readers.parsing.content import Content
from mapshelf.readers.parsing.dates import milliseconds
from mapshelf.readers.parsing.json_files import as_list, as_object, as_text
from mapshelf.readers.parsing.notes import Note
from mapshelf.readers.parsing.places import moved, side_of
from mapshelf.readers.parsing.plist_files import MAGIC, parse_plist
from mapshelf.readers.parsing.topic_tree import grow, reference
from mapshelf.readers.parsing.zip_files import Archive

Node = dict[str, object]

MAIN: Final = "contents.xml"
"""Name of the property list in the archive or folder."""

_IN_FOLDER: Final = re.compile(r"[^/]+\.mindnode/contents\.xml")
_CONNECTIONS: Final = ("crossConnections", "associations")


def sniff(content: Content) -> bool:
    """Return whether ``content`` is a MindNode map: a file, a zipped folder or a property list."""
    if content.archive is None:
        is_list = content.data.startswith(MAGIC) or content.root_name == "plist"
        return is_list and b"mainNode" in content.data
    return _member(content.archive) is not None


def read(content: Content) -> Outline:
    """Return the outline of a MindNode document, which has one sheet.

    Raises:
        BrokenFile: it is damaged or has no node.
        TooLarge: it exceeds a limit.
    """
    archive = content.archive
    member = _member(archive) if archive else None
    data = archive.read(member or MAIN) if archive else content.data
    document = as_object(parse_plist(data, content.limits))
    canvas = as_object(document.get("canvas")) or as_object(document.get("mindMap"))
    if not canvas:
        raise BrokenFile("its property list holds no mind map")
    nodes = Nodes(content, (member or MAIN).removesuffix(MAIN), _tags(document, canvas))
    return Outline(
        (_sheet(document, canvas, nodes, content),),
        software="MindNode",
        author=as_text(document.get("author")),
        copyright=as_text(document.get("copyright")),
        created=milliseconds(document.get("creationDate")),
        modified=milliseconds(document.get("modificationDate")),
    )


def _member(archive: Archive) -> str | None:
    if MAIN in archive.names:
        return MAIN
    inside = [name for name in archive.names if _IN_FOLDER.fullmatch(name)]
    return inside[0] if len(inside) == 1 else None


def _sheet(document: Node, canvas: Node, nodes: Nodes, content: Content) -> Sheet:
    mains = _objects(canvas.get("mainNodes"))
    for tree in _objects(canvas.get("mindMaps")):
        main = tree.get("mainNode")
        if isinstance(main, dict):
            mains.append(main)
    beside_main = {id(node): main for main in mains for node in _children(main)}
    main_ids = frozenset(map(id, mains))

    def topic_of(node: Node) -> Topic:
        topic = nodes.topic(node, is_main=id(node) in main_ids)
        if node is mains[0]:
            _describe(topic, document)
        if main := beside_main.get(id(node)):
            topic.side = _side(node, main)
        return topic

    root, *floating = grow(mains, topic_of, _children, content.limits)
    for topic, main in zip(floating, mains[1:], strict=True):
        at, centre = place_of(main), place_of(mains[0])
        topic.position = moved(at, centre, -1) if at and centre else None
    return Sheet(
        root,
        floating=tuple(floating),
        relationships=tuple(_relationships(canvas)),
        background=colour_of(canvas.get("color")),
    )


def _children(node: Node) -> list[Node]:
    return _objects(node.get("subnodes"))


def _objects(value: object) -> list[Node]:
    return [item for item in as_list(value) if isinstance(item, dict)]


def _side(node: Node, main: Node) -> str:
    left = node.get("isLeftAligned")
    if isinstance(left, bool):
        return "left" if left else "right"
    at, centre = place_of(node), place_of(main)
    return side_of(at[0] - centre[0]) if at and centre else ""


def _describe(root: Topic, document: Node) -> None:
    """Add the metadata of the document to the central topic: comments as note, keywords as tags."""
    note = Note()
    note.add_text(as_text(document.get("comments")))
    root.tags = (*root.tags, *re.split("[,;]", as_text(document.get("keywords"))))
    if note.plain:
        own = Note()
        if root.note_html:
            own.add_both(root.note, root.note_html)
        else:
            own.add_text(root.note)
        own.add_text(note.plain)
        root.note, root.note_html = own.plain, own.html


def _relationships(canvas: Node) -> Iterable[Relationship]:
    for found in (each for name in _CONNECTIONS for each in _objects(canvas.get(name))):
        ends = as_object(found.get("endPoints")) or found
        stroke = as_object(as_object(found.get("pathStyle")).get("strokeStyle"))
        yield Relationship(
            reference(as_text(ends.get("startNodeID"))),
            reference(as_text(ends.get("endNodeID"))),
            words_of(found.get("title")),
            colour_of(stroke.get("color")),
        )


def _tags(document: Node, canvas: Node) -> dict[str, str]:
    """Return the names of tags by their ids."""
    return {
        as_text(tag.get("tagID")): as_text(tag.get("name")) or as_text(tag.get("title"))
        for part in (document, canvas)
        for tag in _objects(part.get("tags"))
    }
