"""Map files of any format to outlines: the table of readers, and ``read``.

This package exists so that nothing else in Mapshelf needs to know that formats differ. A format
is one module and one row of ``READERS``. What a file is, its content decides: extensions lie.

Everything here is free of files and processes; ``mapshelf.readers.sandboxed_reader`` adds those.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final

from mapshelf.errors import BrokenFile, TooLarge
from mapshelf.model import Outline
from mapshelf.readers import pictures
from mapshelf.readers.formats import (
    edrawmind,
    freemind,
    imindmap,
    ithoughts,
    kityminder,
    markdown,
    mermaid,
    mindmanager,
    mindmeister,
    mindmup,
    mindnode,
    mindomo,
    netbeans,
    novamind,
    opml,
    plantuml,
    simplemind,
    vym,
    wisemapping,
    xmind,
)
from mapshelf.readers.parsing.content import Content
from mapshelf.readers.parsing.limits import MIB, Limits
from mapshelf.readers.parsing.text_cleaning import clean, one_line
from mapshelf.readers.unsupported import refusal

__all__ = ["READERS", "Limits", "Reader", "carried_picture", "read"]


@dataclass(frozen=True, slots=True)
class Reader:
    """A format that can be read.

    Attributes:
        name: what people call the format.
        suffixes: extensions its files bear, in small letters: what is looked at in a folder.
        sniff: tells whether a file is of this format, at little cost.
        read: makes an outline of a file for which ``sniff`` said yes. Raises only
            ``UnreadableFile`` and its kinds.
        shared: extensions, in small letters, that its files share with many others. Of these a
            folder offers only files whose beginning ``sniff`` recognises.
        main: name of the file with the map in it, in small letters, where a document may be a
            folder that bears one of ``suffixes`` (on a Mac such a folder looks like a file).
        pictures: where in its archives there may be a picture of the map, the best place first.
    """

    name: str
    suffixes: tuple[str, ...]
    sniff: Callable[[Content], bool]
    read: Callable[[Content], Outline]
    shared: tuple[str, ...] = ()
    main: str = ""
    pictures: tuple[str, ...] = ()


READERS: Final = (
    Reader("Mindomo", (".mom",), mindomo.sniff, mindomo.read),
    Reader("WiseMapping", (".wxml",), wisemapping.sniff, wisemapping.read),
    Reader("FreeMind, Freeplane", (".mm",), freemind.sniff, freemind.read),
    Reader(
        "XMind",
        (".xmind", ".xmt"),
        xmind.sniff,
        xmind.read,
        pictures=("Thumbnails/thumbnail.png", "Thumbnails/thumbnail.jpg"),
    ),
    Reader("MindMeister", (".mind",), mindmeister.sniff, mindmeister.read),
    Reader("iMindMap", (".imx",), imindmap.sniff, imindmap.read, pictures=("thumbnail.png",)),
    Reader(
        "EdrawMind",
        (".emmx",),
        edrawmind.sniff,
        edrawmind.read,
        pictures=("thumbnail.jpeg", "thumbnail.png"),
    ),
    Reader("NB MindMap, SciaReto", (), netbeans.sniff, netbeans.read, (".mmd",)),
    Reader(
        "Markmap, Markdown",
        (".mm.md", ".markmap.md"),
        markdown.sniff,
        markdown.read,
        (".md", ".markdown"),
    ),
    Reader("PlantUML", (), plantuml.sniff, plantuml.read, (".puml", ".plantuml", ".pu")),
    Reader("Mermaid", (), mermaid.sniff, mermaid.read, (".mmd", ".mermaid")),
    Reader(
        "MindManager",
        (".mmap", ".mmat", ".xmmap"),
        mindmanager.sniff,
        mindmanager.read,
        pictures=("Preview.png",),
    ),
    Reader("OPML", (".opml",), opml.sniff, opml.read),
    Reader("SimpleMind", (".smmx",), simplemind.sniff, simplemind.read),
    Reader("iThoughts", (".itmz",), ithoughts.sniff, ithoughts.read, pictures=("preview.png",)),
    Reader(
        "MindNode",
        (".mindnode",),
        mindnode.sniff,
        mindnode.read,
        main=mindnode.MAIN,
        pictures=("QuickLook/Preview.jpg", "QuickLook/Preview.png", "Preview.jpg"),
    ),
    Reader("VYM", (".vym",), vym.sniff, vym.read),
    Reader("NovaMind", (".nm5",), novamind.sniff, novamind.read),
    Reader("MindMup", (".mup",), mindmup.sniff, mindmup.read),
    Reader("KityMinder, Naotu", (".km",), kityminder.sniff, kityminder.read),
)
"""Asked in this order; the first that recognises a file reads it.

Mindomo comes before FreeMind, whose root element has the same name; texts come last.
"""


def read(
    data: bytes, limits: Limits, readers: tuple[Reader, ...] = READERS, name: str = ""
) -> Outline:
    """Return the outline of the map file whose content is ``data`` and that is called ``name``.

    Text in it is clean (see ``readers.parsing.text_cleaning.clean``); the outline has at least one
    root.

    Raises:
        NotAMap: it is something else; the message says what, where that can be seen.
        BrokenFile: it is a map, but damaged.
        TooLarge: it exceeds one of ``limits``.
        UnreadableFile: it is a map of a format for which there is no reader.
    """
    if len(data) > limits.file:
        raise TooLarge(f"the file is larger than {limits.file / MIB:g} MiB")
    try:
        return _read(Content(data, limits, name), readers)
    except MemoryError:
        raise TooLarge("reading it takes more memory than is allowed") from None


def _read(content: Content, readers: tuple[Reader, ...]) -> Outline:
    for reader in readers:
        if reader.sniff(content):
            outline = reader.read(content)
            return replace(
                outline,
                software=_label(outline.software),
                software_version=_label(outline.software_version),
                author=_label(outline.author),
                copyright=_label(outline.copyright),
                picture=pictures.digest_of(content.archive, reader.pictures, content.limits),
            )
    raise refusal(content)


def carried_picture(
    data: bytes,
    digest: str,
    limits: Limits,
    size: tuple[int, int],
    name: str = "",
) -> bytes:
    """Return the picture that a map file carries as a PNG of at most ``size`` (width, height).

    Raises:
        FileReplaced: it is another than that with ``digest`` (``Outline.picture``).
        UnreadableFile: it carries none, or none that is sound; or the file is no map.
    """
    content = Content(data, limits, name)
    reader = next((reader for reader in READERS if reader.sniff(content)), None)
    found = pictures.carried(content.archive, reader.pictures) if reader else None
    if found is None:
        raise BrokenFile("it carries no picture")
    return pictures.fitted(found, digest, limits, *size)


def _label(text: str) -> str:
    return one_line(clean(text))[:200]
