"""Write OPML 2.0 (opml.org), the exchange format of outliners.

* Formatted text is HTML, as the specification allows; line breaks in it are ``<br>``.
* Tags are categories. The state of a task is in ``_status``, as in OmniOutliner.
* Notes are plain text in ``_note``, where every outliner expects them. Attributes, other task
  properties, file names and formulas are lines of the note.
* A link is ``url``, with the type from the specification; a second link is ``htmlUrl``, a third
  ``xmlUrl``. Further links are omitted.
* Every sheet is a separate outline in the body. Floating topics become branches of the central
  topic, and summaries follow the topics they summarise. ``collapse`` folds a topic.
* Dates have no fractions of a second. The format has no field for program and template.
  ``copyright`` is not in the specification, but harmless.
"""

from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Final

from mapshelf.formats.inline_html import is_inline_html
from mapshelf.model import Outline, Topic
from mapshelf.writers.facts import beside_text, with_lines
from mapshelf.writers.markup import attribute, escaped
from mapshelf.writers.nesting import gathered, steps, title
from mapshelf.writers.plain import safe_links, sound

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_LINKS: Final = ("url", "htmlUrl", "xmlUrl")


def write(outline: Outline) -> bytes:
    """Return ``outline`` as OPML in UTF-8."""
    pieces = ['<?xml version="1.0" encoding="UTF-8"?>\n<opml version="2.0">\n', _head(outline)]
    pieces.append("<body>\n")
    for beginning, topic in steps(gathered(sheet).root for sheet in outline.sheets):
        pieces.append(f"<outline{_attributes(topic)}>\n" if beginning else "</outline>\n")
    pieces.append("</body>\n</opml>\n")
    return "".join(pieces).encode()


def _head(outline: Outline) -> str:
    facts = {
        "title": title(outline),
        "dateCreated": _date(outline.created),
        "dateModified": _date(outline.modified),
        "ownerName": outline.author,
        "copyright": outline.copyright,
    }
    told = (f"<{name}>{escaped(text)}</{name}>\n" for name, text in facts.items() if text)
    return f"<head>\n{''.join(told)}</head>\n"


def _attributes(topic: Topic) -> str:
    attributes = attribute("text", _text(topic))
    if topic.id:
        attributes += attribute("id", topic.id)
    if note := with_lines(topic.note, beside_text(topic, checkbox=True)):
        attributes += attribute("_note", note)
    if topic.tags:
        attributes += attribute("category", ",".join(topic.tags))
    if topic.task and topic.task.state:
        attributes += attribute("_status", "checked" if topic.task.state == "done" else "unchecked")
    if topic.folded and topic.children:
        attributes += attribute("collapse", "true")
    links = safe_links(topic.links)
    if links:
        attributes += attribute("type", "link")
    return attributes + "".join(map(attribute, _LINKS, links))


def _text(topic: Topic) -> str:
    """Return the text, as HTML if it is formatted or would be mistaken for HTML."""
    if topic.text_html:
        return topic.text_html
    if not is_inline_html(topic.text):
        return topic.text or topic.formula
    return f"<span>{escaped(sound(topic.text).strip())}</span>".replace("\n", "<br>")


def _date(milliseconds: int | None) -> str:
    """Return a time in RFC 822 format, empty if ``None``."""
    if milliseconds is None:
        return ""
    moment = _EPOCH + timedelta(milliseconds=milliseconds)
    return format_datetime(moment, usegmt=True)
