"""Read map files of any format as outlines: the table of readers, and ``read``.

No other package needs to know the formats. Each format is one module in ``formats/`` and one row
of ``READERS``. The format is detected from the content of a file, because extensions are
unreliable.

This module opens no files and starts no processes; ``readers.sandboxed_reader`` does.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final

from mapshelf.errors import BrokenFile, TooLarge
from mapshelf.model import Outline
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
from mapshelf.readers.parsing import pictures
from mapshelf.readers.parsing.content import Content
from mapshelf.readers.parsing.limits import MIB, Limits
from mapshelf.readers.parsing.text_cleaning import clean, one_line
from mapshelf.readers.unsupported import unsupported_error

__all__ = ["READERS", "Limits", "Reader", "preview_png", "read", "read_content"]


@dataclass(frozen=True, slots=True)
class Reader:
    """A format that can be read.

    Attributes:
        name: the usual name of the format.
        suffixes: its file extensions, in lower case: such files are imported from folders.
        sniff: returns whether a file has this format; fast.
        read: reads a file that ``sniff`` accepted. Raises only ``UnreadableFile`` and its
            subclasses.
        shared: extensions, in lower case, that many other files have, too. Such files are imported
            from folders only if ``sniff`` accepts their beginning.
        main: the name of the file with the map, in lower case, if a document may be a folder with
            one of ``suffixes`` (macOS shows such a folder as a file).
        pictures: names of members of its archives that may be a preview, the best first.
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
"""In this order; the first whose ``sniff`` accepts a file reads it.

Mindomo is before FreeMind, because their root elements have the same name.
"""


def read(
    data: bytes,
    limits: Limits,
    readers: tuple[Reader, ...] = READERS,
    name: str = "",
) -> Outline:
    """Return the outline of a map file.

    It has at least one root, and its texts are clean (``readers.parsing.text_cleaning.clean``).

    Args:
        data: the content of the file.
        limits: how much reading it may cost.
        readers: the formats to try.
        name: the name of the file, for formats that cannot be detected without it.

    Raises:
        NotAMap: it is something else; the message says what, if that is known.
        BrokenFile: it is a map, but damaged.
        TooLarge: it exceeds one of ``limits``.
        UnreadableFile: it is a map of a format for which there is no reader.
    """
    return read_content(Content(data, limits, name), readers)


def read_content(content: Content, readers: tuple[Reader, ...] = READERS) -> Outline:
    """Return the outline of a map file; its pictures are in ``content.images`` afterwards.

    Raises:
        UnreadableFile: as ``read``.
    """
    if len(content.data) > content.limits.file:
        raise TooLarge(f"the file is larger than {content.limits.file / MIB:g} MiB")
    try:
        return _read(content, readers)
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
                picture=pictures.preview_digest(content.archive, reader.pictures, content.limits),
            )
    raise unsupported_error(content)


def preview_png(
    data: bytes,
    digest: str,
    limits: Limits,
    size: tuple[int, int],
    name: str = "",
) -> bytes:
    """Return the preview in a map file as a PNG of at most ``size`` (width, height) in pixels.

    Raises:
        PreviewChanged: its digest is not ``digest`` (``Outline.picture``).
        UnreadableFile: the file has no usable preview, or is no map.
    """
    content = Content(data, limits, name)
    reader = next((reader for reader in READERS if reader.sniff(content)), None)
    found = pictures.find_preview(content.archive, reader.pictures) if reader else None
    if found is None:
        raise BrokenFile("it carries no picture")
    return pictures.fit_preview(found, digest, limits, *size)


def _label(text: str) -> str:
    return one_line(clean(text))[:200]
