r"""Write FreeMind's ``.mm`` format, which FreeMind, Freeplane and most other programs open.

* The version is 0.9.0, the only one that Freeplane opens without a warning and FreeMind accepts
  as its own (FreeMind 1.0 offers to convert it, as it does with all maps of 0.9).
* The file is ASCII, with character references, as FreeMind writes it. All versions read that the
  same way; some would otherwise assume the encoding of the user's locale. Emoji are UTF-8, because
  Freeplane 1.7 truncates references to 16 bits.
* Formatted text is XHTML. Notes are always XHTML, because Freeplane 1.7 joins the lines of plain
  ones.
  Minder reads XHTML only in notes, so formatted text is also written as plain text; the other
  programs prefer the XHTML. A text that begins like an HTML document would be read as one, so it is
  written only as XHTML.
* Markers and the state and priority of a task are icons (``formats.freemind_icons``). Other task
  properties, files and further links are attributes, which both programs show.
* Images are embedded as ``data:`` URLs in the details of their topic, in the size that the author
  set. Links to the server would not work for everyone: Freeplane shows an error message for what it
  cannot fetch, and the images of a private catalogue require a token. Freeplane draws ``data:``
  URLs only in HTML, not in its ``ExternalObject``. An image is written again for each topic that
  has it, so their total size is bounded. In the details, the text of the topic stays plain for
  programs that cannot read HTML; VYM and Minder leave details out, and FreeMind has none.
* A formula is the text of its topic, after Freeplane's ``\latex``. If the topic has other text, the
  formula is in the formula hook of both programs.
* A map has one central topic. Several sheets become branches of a topic that names them.
* ``FOLDED`` is written on every branch; without it, Freeplane folds all branches.
* The dates of the map are those of the central topic. The format has no field for author,
  copyright, program or template.
"""

import re
from base64 import b64encode
from collections.abc import Iterator
from typing import Final

from mapshelf.formats.freemind_icons import freemind_icon
from mapshelf.model import Marker, Outline, Task, Topic
from mapshelf.writers.facts import is_formula
from mapshelf.writers.freemind_attributes import ROUND, TASKS, attributes_of
from mapshelf.writers.freemind_groups import Beside, arrow, beside, cloud
from mapshelf.writers.freemind_styles import look_attributes, look_elements
from mapshelf.writers.markup import attribute, escaped, xhtml
from mapshelf.writers.nesting import gathered, one_sheet, steps
from mapshelf.writers.pictures import MOST_PICTURE_BYTES, NONE, Pictures, Shown, shown_in
from mapshelf.writers.plain import one_line, safe_links, sound

# The same as [\x7f-\uffff], which takes each start of a process 5 ms to compile.
_FAR: Final = re.compile("[^\x00-\x7e\U00010000-\U0010ffff]")
_LIKE_HTML: Final = re.compile(r"\s*<html[\s>]", re.IGNORECASE)
_BLOCK: Final = re.compile(r"<(?:p|ul|ol|li|h\d|table|pre|blockquote|dl|hr)\b", re.IGNORECASE)
_BETWEEN_TAGS: Final = re.compile(r"(?<![^>])[^<]+")
_LEADING: Final = re.compile(r"^ +", re.MULTILINE)


def write(outline: Outline, pictures: Pictures = NONE) -> bytes:
    """Return ``outline`` as a FreeMind map; ``pictures`` are PNGs by digest."""
    sheet = one_sheet(outline)
    tree = gathered(sheet)
    around = beside(sheet, tree)
    details = _Details(pictures)
    pieces = ['<map version="0.9.0">\n']
    for beginning, topic in steps((tree.root,)):
        if not beginning:
            pieces.append("</node>\n")
            continue
        central = topic is tree.root
        more = _dates(outline) if central else _place(topic, around)
        pieces.append(f"<node{_attributes(topic)}{more}>\n")
        if central and sheet.background:
            colour = attribute("background", sheet.background)
            pieces.append(f'<hook NAME="MapStyle"{colour}/>\n')
        pieces.extend(_inside(topic))
        if topic.images:
            pieces.extend(details.of_topic(topic))
        pieces.extend(_around(topic, around))
    pieces.append("</map>\n")
    return _encoded("".join(pieces))


def _encoded(text: str) -> bytes:
    text = _FAR.sub(lambda character: f"&#{ord(character[0])};", text)
    return text.encode()


def _dates(outline: Outline) -> str:
    dates = {"CREATED": outline.created, "MODIFIED": outline.modified}
    return "".join(attribute(name, str(when)) for name, when in dates.items() if when is not None)


def _place(topic: Topic, around: Beside) -> str:
    side = around.sides.get(id(topic), "")
    place = f' POSITION="{side}"' if side else ""
    if topic.children:
        place += f' FOLDED="{"true" if topic.folded else "false"}"'
    if gaps := around.places.get(id(topic)):
        place += ' HGAP="{}" VSHIFT="{}"'.format(*gaps)
    return place


def _attributes(topic: Topic) -> str:
    attributes = attribute("ID", topic.id) if topic.id else ""
    if is_formula(topic):
        attributes += attribute("TEXT", f"\\latex ${topic.formula}$")
    elif not _is_like_html(topic):
        attributes += attribute("TEXT", topic.text)
    for link in safe_links(topic.links)[:1]:
        attributes += attribute("LINK", link)
    if topic.number:
        attributes += ' NUMBERED="true"'
    if topic.tags:
        attributes += attribute("TAGS", "\n".join(map(one_line, topic.tags)))
    return attributes + (look_attributes(topic.style) if topic.style else "")


def _is_like_html(topic: Topic) -> bool:
    return _LIKE_HTML.match(sound(topic.text)) is not None


def _inside(topic: Topic) -> Iterator[str]:
    """Yield the child elements for the content attached to a topic."""
    if (topic.text_html or _is_like_html(topic)) and not is_formula(topic):
        yield _rich("NODE", _text_html(topic))
    if topic.note_html:
        yield _rich("NOTE", xhtml(topic.note_html))
    elif topic.note.strip():
        yield _rich("NOTE", _paragraphs(topic.note))
    if topic.formula and not is_formula(topic):
        equation = attribute("EQUATION", topic.formula)
        yield f'<hook NAME="plugins/latex/LatexNodeHook.properties"{equation}/>\n'
    if topic.style:
        yield look_elements(topic.style)
    if topic.markers or topic.task:
        for name in _icons(topic.markers, topic.task):
            yield f"<icon{attribute('BUILTIN', name)}/>\n"
    for name, value in attributes_of(topic):
        yield f"<attribute{attribute('NAME', name)}{attribute('VALUE', value)}/>\n"


def _around(topic: Topic, around: Beside) -> Iterator[str]:
    """Yield the child elements for the braces, arrows and clouds of a topic."""
    for name in around.hooks.get(id(topic), ()):
        yield f'<hook NAME="{name}"/>\n'
    if topic.id in around.clouds:
        yield cloud(around.clouds[topic.id])
    left = id(topic) in around.lefts
    for relationship in around.arrows.get(topic.id, ()):
        yield arrow(relationship, left=left)


def _icons(markers: tuple[Marker, ...], task: Task | None) -> Iterator[str]:
    """Yield the names of the icons for markers and a task, without duplicates."""
    names = list(map(freemind_icon, markers))
    if task:
        names.append(TASKS.get(task.state, ""))
        names.append(f"full-{task.priority}" if task.priority else "")
        names.append(f"{task.progress}%" if task.progress in ROUND else "")
    yield from dict.fromkeys(filter(None, names))


def _text_html(topic: Topic) -> str:
    if not topic.text_html:
        return "".join(f"<p>{escaped(line)}</p>" for line in topic.text.splitlines())
    html = xhtml(topic.text_html)
    if "  " in topic.text:
        html = _BETWEEN_TAGS.sub(lambda words: words[0].replace("  ", "\xa0 "), html)
    return html if _BLOCK.search(html) else f"<p>{html}</p>"


class _Details:
    """Writes the images in topics, up to the maximum total size of a map."""

    def __init__(self, pictures: Pictures) -> None:
        self._pictures = pictures
        self._left = MOST_PICTURE_BYTES

    def of_topic(self, topic: Topic) -> Iterator[str]:
        """Yield the element for the images in a topic, if any is available."""
        images = "".join(map(self._picture, shown_in(topic, self._pictures)))
        if images:
            yield _rich("DETAILS", images)

    def _picture(self, image: Shown) -> str:
        data = self._pictures[image.digest]
        if len(data) > self._left:
            return ""
        self._left -= len(data)
        source = f"data:image/png;base64,{b64encode(data).decode()}"
        # Without alternative text, which other programs would read as part of the details.
        return f'<p><img src="{source}" width="{image.width}" height="{image.height}"/></p>'


def _paragraphs(note: str) -> str:
    """Return plain text as XHTML, preserving indentation."""
    lines = (
        _LEADING.sub(lambda blanks: "\xa0" * len(blanks[0]), line.expandtabs(4))
        for line in sound(note).strip().split("\n")
    )
    return "".join(f"<p>{escaped(line)}</p>" for line in lines)


def _rich(kind: str, body: str) -> str:
    # Added white space would become part of the text.
    return (
        f'<richcontent TYPE="{kind}"><html><head></head><body>{body}</body></html></richcontent>\n'
    )
