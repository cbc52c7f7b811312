"""Render everything attached to a topic (icons, images, notes, links) as accessible HTML.

Icons are written as words, and images have alternative texts. Notes are sanitised when a file is
parsed, and again here, because the store is not trusted.
"""

from collections.abc import Iterable, Mapping
from typing import Final, NamedTuple
from urllib.parse import quote

import nh3
from markupsafe import escape

from mapshelf.model import Attachment, Image, Task, Topic
from mapshelf.render.formulas import Mathml
from mapshelf.render.glyphs import said
from mapshelf.site.addresses import SAFE_SCHEMES, safe_link
from mapshelf.site.escaping import escaped
from mapshelf.site.messages import say
from mapshelf.writers.facts import is_formula

RELATION: Final = "nofollow noopener noreferrer"
"""The ``rel`` of links in untrusted maps."""

_SHOWN: Final = {
    *("a", "b", "blockquote", "br", "code", "dd", "del", "dl", "dt", "em", "hr", "i", "li", "ol"),
    *("p", "pre", "s", "strong", "sub", "sup", "table", "tbody", "td", "th", "thead", "tr"),
    *("u", "ul"),
}
"""Elements kept in notes. Headings are removed, to keep the heading order of the page intact."""

_PICTURE_WIDTH: Final = 640  # width of the images requested, in pixels

_MOST_PICTURES: Final = 20  # maximum number of images shown per topic
_ALT: Final = 300  # maximum length of an alternative text, in characters

_SHORT_FORMULA: Final = 16  # characters of LaTeX that fit the narrowest screen

_NAME: Final = 80  # maximum length of the text of a link to a topic, in characters


def anchor(topic: Topic) -> str:
    """Return the id of a topic's element, as HTML."""
    return escaped(f"t={topic.id}")


def named(topic: Topic) -> str:
    """Return a topic's text (or formula) as one line, truncated for use as a link text."""
    text = " ".join((topic.text or topic.formula).split())
    return text if len(text) <= _NAME else text[: _NAME - 1].rstrip() + "…"


def topic_link(topic: Topic) -> str:
    """Return a link to a topic on the same page."""
    name = named(topic) or say("map.untitled")
    return f'<a href="#t={quote(topic.id)}" dir="auto">{escape(name)}</a>'


class PageLink(NamedTuple):
    """A link to a page of this site: its address, and the title to show."""

    address: str
    title: str


class Details:
    """Renders the content of the topics of one map as HTML."""

    def __init__(
        self,
        known: Mapping[str, Topic],
        images: str,
        maps: Mapping[str, PageLink],
        formulas: Mathml,
        *,
        apart: bool,
    ) -> None:
        """Prepare to render the topics of a map.

        Args:
            known: its topics, by id.
            images: the base URL of its images, to which the digest of an image is appended.
            maps: the page to link to for each link to another map.
            formulas: its formulas as MathML, by their LaTeX.
            apart: whether links to other maps open in a new window.
        """
        self._known = known
        self._images = images
        self._maps = maps
        self._formulas = formulas
        self._apart = apart

    def element(self, topic: Topic) -> str:
        """Return a topic as a list item without its end, followed by everything beside it."""
        text = topic.text.strip()
        if text and not (topic.number or topic.markers or topic.tags or _has_more(topic)):
            # As most topics are: the same as below, with fewer calls.
            return f'<li id="{anchor(topic)}"><span class="t" dir="auto">{escaped(text)}</span>'
        return f'<li id="{anchor(topic)}">{self.text(topic)}{self.beside(topic)}'

    def text(self, topic: Topic) -> str:
        """Return the number and text of a topic, followed by its icons (as words) and its tags."""
        text = topic.text.strip()
        if is_formula(topic):
            shown = f'<span class="t" dir="auto">{self._formula(topic.formula)}</span>'
        elif text:
            shown = f'<span class="t" dir="auto">{escaped(text)}</span>'
        elif topic.images:
            shown = f'<span class="t" dir="auto">{escape(_instead(topic))}</span>'
        else:
            shown = f'<span class="t none">{escape(say("map.untitled"))}</span>'
        if topic.number:
            shown = f'<span class="number">{escaped(topic.number)}</span> {shown}'
        if not (topic.markers or topic.tags):
            return shown
        icons = "".join(f' <span class="icon">{escape(said(one))}</span>' for one in topic.markers)
        tags = "".join(f' <span class="tag" dir="auto">{escape(tag)}</span>' for tag in topic.tags)
        return shown + icons + tags

    def beside(self, topic: Topic) -> str:
        """Return the images, note, formula, links, task, attributes and attachments of a topic."""
        if not _has_more(topic):  # true of most topics
            return ""
        text = topic.text.strip() or _instead(topic)
        pieces = [self._picture(image, text) for image in topic.images[:_MOST_PICTURES]]
        pieces.append(_note(topic))
        if topic.formula and not is_formula(topic):
            pieces.append(f'<p class="formula">{self._formula(topic.formula)}</p>')
        links = [self._link(link) for link in topic.links]
        pieces.append(_list("links", say("links"), links))
        if topic.task:
            pieces.append(_list("task", say("task"), _task(topic.task)))
        if topic.attributes:
            rows = (
                f'<span dir="auto">{escape(name)}: {escape(value)}</span>'
                for name, value in topic.attributes
            )
            pieces.append(_list("attributes", say("attributes"), rows))
        if topic.attachments:
            pieces.append(_list("attachments", say("attachments"), map(_file, topic.attachments)))
        return "".join(pieces)

    def _formula(self, formula: str) -> str:
        """Return a formula as MathML, or as its LaTeX source if no MathML is known for it."""
        written = self._formulas.get(formula)
        if not written:
            return f"<code>{escape(formula)}</code>"
        # A wide formula scrolls, so it must be focusable for keyboard users. A short one fits.
        reach = ""
        if len(formula) > _SHORT_FORMULA:
            reach = f' tabindex="0" role="group" aria-label="{escape(say("formula"))}"'
        return f'<span class="mathematics"{reach}>{written}</span>'

    def _link(self, link: str) -> str:
        if link.startswith("#") and link[1:] in self._known:
            return topic_link(self._known[link[1:]])
        found = self._maps.get(link)
        if found:
            new = ' target="_blank" rel="noopener"' if self._apart else ""
            return (
                f'<a href="{escape(found.address)}" title="{escape(link)}"{new} dir="auto">'
                f"{escape(found.title)}</a>"
            )
        address = safe_link(link)
        if address is None:
            return f'<span dir="auto">{escape(link)}</span>'
        return f'<a href="{escape(address)}" rel="{RELATION}" dir="auto">{escape(link)}</a>'

    def _picture(self, image: Image, text: str) -> str:
        """Return an image.

        Its alternative text is empty if it equals ``text``, which is shown right before the image:
        a screen reader would read it twice.
        """
        alt = image.alt[:_ALT].strip() or say("picture.unnamed")
        if not image.digest or not self._images:
            missing = say("picture.missing", name=alt)
            return f'<p class="lost" dir="auto">{escape(missing)}</p>'
        if alt == text:
            alt = ""
        address = f"{self._images}/{quote(image.digest)}.png?w={_PICTURE_WIDTH}"
        return (
            f'<img class="inside" src="{escape(address)}" alt="{escape(alt)}" loading="lazy"'
            ' decoding="async">'
        )


def _has_more(topic: Topic) -> bool:
    """Return whether a topic has any content that ``Details.beside`` renders."""
    return bool(
        topic.images
        or topic.note
        or topic.note_html
        or topic.formula
        or topic.links
        or topic.task
        or topic.attributes
        or topic.attachments
    )


def _instead(topic: Topic) -> str:
    """Return the text shown for a topic without text: the first alternative text of its images."""
    shown = (image.alt[:_ALT].strip() for image in topic.images)
    return next(filter(None, shown), "") or say("picture.unnamed")


def _list(name: str, label: str, items: Iterable[str]) -> str:
    inside = "".join(f"<li>{item}</li>" for item in items)
    return f'<ul class="more {name}" aria-label="{escape(label)}">{inside}</ul>' if inside else ""


def _task(task: Task) -> Iterable[str]:
    """Yield the facts of a task (state, progress, dates and so on) as HTML."""
    facts = {
        "task.state": task.state and say(f"task.{task.state}"),
        "task.progress": "" if task.progress is None else f"{task.progress} %",
        "task.priority": "" if task.priority is None else str(task.priority),
        "task.start": task.start,
        "task.due": task.due,
        "task.resources": ", ".join(task.resources),
    }
    for name, value in facts.items():
        if value:
            yield f'{escape(say(name))}: <span dir="auto">{escape(value)}</span>'


def _file(attachment: Attachment) -> str:
    size = f" ({attachment.size / 1000:,.0f} KB)" if attachment.size >= 1000 else ""
    return f'<span dir="auto">{escape(attachment.name)}</span>{size}'


def _note(topic: Topic) -> str:
    kind = ""
    if topic.note_html:
        inside = nh3.clean(
            topic.note_html,
            tags=_SHOWN,
            attributes={"a": {"href"}},
            # A wide table scrolls, so it must be focusable for keyboard users.
            set_tag_attribute_values={"table": {"tabindex": "0"}},
            url_schemes=set(SAFE_SCHEMES),
            link_rel=RELATION,
            attribute_filter=_safe_attribute,
        )
    elif topic.note.strip():
        inside, kind = f"<p>{escape(topic.note.strip())}</p>", " plain"
    else:
        return ""
    return f'<div class="note{kind}" dir="auto">{inside}</div>'


def _safe_attribute(element: str, attribute: str, value: str) -> str | None:
    """Return the value of an attribute in a note, ``None`` to drop an unsafe or relative link.

    A relative link refers to the author's disk; here it would lead to a URL of this site.
    """
    return safe_link(value) if attribute == "href" else value
