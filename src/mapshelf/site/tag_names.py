"""Handle the page on which administrators rename tags, and merge a tag into another one."""

from typing import Final

from mapshelf.api.browser_sessions import Session
from mapshelf.api.forms import Form
from mapshelf.api.http import Request, Response
from mapshelf.errors import InvalidParameter
from mapshelf.model import AuditEvent, parse_tags
from mapshelf.query import read_parameters
from mapshelf.readers.parsing.text_cleaning import clean
from mapshelf.site.choices import Choice
from mapshelf.site.form_errors import FORM_ERRORS
from mapshelf.site.personal import Page, Paths, Personal
from mapshelf.site.responses import see_other
from mapshelf.store import Store

TAGS_SHOWN: Final = 500
"""Maximum number of tags on the page; the most frequent ones are shown."""


class TagNamesPage:
    """The page of tags for administrators."""

    def __init__(self, personal: Personal) -> None:
        """Create the handlers on top of ``personal``."""
        self._personal = personal
        self._address = personal.addresses.people.account("tags")

    def paths(self) -> Paths:
        """Return the handlers of the page by path."""
        return {
            "/account/tags": (
                self._personal.page_for("rename tags", self._show),
                self._personal.form_for("rename tags", self._rename, self._address),
            )
        }

    async def _show(self, request: Request, session: Session) -> Response:
        return await self._page(request, session, {"tag": "", "name": ""})

    async def _page(
        self,
        request: Request,
        session: Session,
        said: dict[str, str],
        error: Exception | None = None,
    ) -> Response:
        tags = self._personal.context.snapshot.get().snapshot.tags()
        done = read_parameters(request.query_string, ("done",)).get("done", "")
        values = {
            "tags": [
                Choice(tag.name, self._personal.addresses.library({"tag": tag.name}), tag.count)
                for tag in tags[:TAGS_SHOWN]
            ],
            "said": said,
            "done": "tags.renamed" if done == "renamed" else "",
        }
        page = Page("tag_names.html", values, error, invalid="failure.tag")
        return await self._personal.page(page, session)

    async def _rename(self, request: Request, session: Session, form: Form) -> Response:
        said = {name: form.text(name) for name in ("tag", "name")}
        try:
            await self._renamed(request, session, _tag(said["tag"]), _tag(said["name"]))
        except FORM_ERRORS as error:
            return await self._page(request, session, said, error)
        return see_other(f"{self._address}?done=renamed")

    async def _renamed(self, request: Request, session: Session, old: str, new: str) -> None:

        def rename(store: Store) -> None:
            after = store.rename_tag(old, new)
            while after is not None:
                after = store.rename_tag(old, new, after)

        await self._personal.change(
            request, session, AuditEvent.TAG_RENAMED, rename, f"tag {old}: {new}"
        )


def _tag(text: str) -> str:
    """Parse a text that must be exactly one tag.

    Raises:
        InvalidParameter: it contains no tag, or several.
    """
    try:
        (tag,) = parse_tags(clean(text))
    except ValueError as error:
        raise InvalidParameter("A tag is one word or several without commas.") from error
    return tag
