"""Render everything attached to a topic (icons, images, notes, links) as accessible HTML.

Icons become words, and images have alternative texts. Notes were sanitised when the file was
parsed, and are sanitised again here, because the store is not trusted.
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
"""Elements kept in notes. Headings are removed: those of the page must stay in order."""

_PICTURE_WIDTH: Final = 640  # pixels that are asked for

_MOST_PICTURES: Final = 20  # of a topic
_ALT: Final = 300  # characters of what a picture shows

_SHORT_FORMULA: Final = 16  # characters of LaTeX that fit the narrowest screen

_NAME: Final = 80  # characters of a topic by which others refer to it


def anchor(topic: Topic) -> str:
    """Return the id of a topic's element, as HTML."""
    return escaped(f"t={topic.id}")


def named(topic: Topic) -> str:
    """Return a topic's text as others refer to it."""
    text = " ".join((topic.text or topic.formula).split())
    return text if len(text) <= _NAME else text[: _NAME - 1].rstrip() + "…"


def topic_link(topic: Topic) -> str:
    """Return a link to a topic on the same page."""
    name = named(topic) or say("map.untitled")
    return f'<a href="#t={quote(topic.id)}" dir="auto">{escape(name)}</a>'


class PageLink(NamedTuple):
    """A link to a page of ours: the address, and the title of what is there."""

    address: str
    title: str


class Details:
    """Writes what there is to each topic of a map."""

    def __init__(
        self,
        known: Mapping[str, Topic],
        images: str,
        maps: Mapping[str, PageLink],
        formulas: Mathml,
        *,
        apart: bool,
    ) -> None:
        """Prepare for a map.

        Args:
            known: its topics by their ids.
            images: address of its pictures, without their digests.
            maps: where its links to other maps lead.
            formulas: its formulas as MathML, by their LaTeX.
            apart: whether those are opened in a window of their own.
        """
        self._known = known
        self._images = images
        self._maps = maps
        self._formulas = formulas
        self._apart = apart

    def text(self, topic: Topic) -> str:
        """Return the text of a topic, with its icons and tags in words after it."""
        text = topic.text.strip()
        if is_formula(topic):
            shown = f'<span class="t" dir="auto">{self._formula(topic.formula)}</span>'
        elif text:
            shown = f'<span class="t" dir="auto">{escaped(text)}</span>'
        elif topic.images:
            shown = f'<span class="t" dir="auto">{escape(_instead(topic))}</span>'
        else:
            shown = f'<span class="t none">{escape(say("map.untitled"))}</span>'
        if not (topic.markers or topic.tags):
            return shown
        icons = "".join(f' <span class="icon">{escape(said(one))}</span>' for one in topic.markers)
        tags = "".join(f' <span class="tag" dir="auto">{escape(tag)}</span>' for tag in topic.tags)
        return shown + icons + tags

    def beside(self, topic: Topic) -> str:
        """Return the pictures, the note, the links and all other facts of a topic."""
        if not _has_more(topic):  # most
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
        """Return a formula, as its LaTeX if there is no MathML of it."""
        written = self._formulas.get(formula)
        if not written:
            return f"<code>{escape(formula)}</code>"
        # A wide one scrolls; those without a mouse need to reach it. A short one is not wide.
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
        """Return a picture; ``text`` is right before it, and need not be read twice."""
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
    """Return whether a topic has anything that is written beside its text."""
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
    """Return what stands for the text of a topic that has none."""
    shown = (image.alt[:_ALT].strip() for image in topic.images)
    return next(filter(None, shown), "") or say("picture.unnamed")


def _list(name: str, label: str, items: Iterable[str]) -> str:
    inside = "".join(f"<li>{item}</li>" for item in items)
    return f'<ul class="more {name}" aria-label="{escape(label)}">{inside}</ul>' if inside else ""


def _task(task: Task) -> Iterable[str]:
    """Yield what is planned, in words."""
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
            # A wide table scrolls; those without a mouse need to reach it.
            set_tag_attribute_values={"table": {"tabindex": "0"}},
            url_schemes=set(SAFE_SCHEMES),
            link_rel=RELATION,
            attribute_filter=_followed,
        )
    elif topic.note.strip():
        inside, kind = f"<p>{escape(topic.note.strip())}</p>", " plain"
    else:
        return ""
    return f'<div class="note{kind}" dir="auto">{inside}</div>'


def _followed(element: str, attribute: str, value: str) -> str | None:
    """Return the value of an attribute in a note, ``None`` if it is a relative link.

    Relative links refer to the author's disk; here they would lead to our own addresses.
    """
    return safe_link(value) if attribute == "href" else value
