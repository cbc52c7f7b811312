"""Handle the page of all subfolders of a folder; lists show only those with the most maps."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Final

from mapshelf.api.context import Context
from mapshelf.api.http import Request, Response
from mapshelf.model import clean_path, paths_to
from mapshelf.query import MAXIMUM_OFFSET, read_parameters
from mapshelf.site.addresses import Addresses
from mapshelf.site.choices import Choice
from mapshelf.site.list_navigation import numbered
from mapshelf.site.page_resources import PageResources
from mapshelf.snapshot.read import Snapshot

PAGE_SIZE: Final = 500
"""Number of folders on a page."""


@dataclass(frozen=True, slots=True)
class FolderList:
    """The variables of the template.

    Attributes:
        steps: the ancestors of the current folder and the folder itself, the outermost first.
        folders: the subfolders on this page, each with the URL and number of its maps.
        total: the number of subfolders on all pages.
        page: the number of this page, from 1.
        pages: the number of pages.
        previous: the URL of the previous page, empty on the first.
        following: the URL of the next page, empty on the last.
        numbers: links to pages by number.
    """

    steps: list[Choice]
    folders: list[Choice]
    total: int
    page: int
    pages: int
    previous: str
    following: str
    numbers: list[Choice]


class FolderPages:
    """Handler of the page of subfolders."""

    def __init__(self, context: Context, resources: PageResources) -> None:
        """Create the handlers; ``resources`` are those of all pages."""
        self._context = context
        self._addresses = resources.addresses
        self._templates = resources.templates

    async def page(self, request: Request) -> Response:
        """Answer the direct subfolders of a folder, or the top-level folders."""
        given = read_parameters(request.query_string, ("below", "offset"))
        current = self._context.snapshot.get()
        make = partial(self._page, current.snapshot, given)
        return await current.response(request, self._context.queues.pages, make)

    def _page(self, snapshot: Snapshot, given: Mapping[str, str]) -> Response:
        below = clean_path(given.get("below", ""))
        values = {"list": _folders(snapshot, below, _offset(given), self._addresses)}
        return self._templates.page("folders.html", values)


def _folders(snapshot: Snapshot, below: str, offset: int, addresses: Addresses) -> FolderList:
    found = snapshot.folders(below)
    pages = max(1, -(-len(found) // PAGE_SIZE))
    page = min(pages, offset // PAGE_SIZE + 1)
    shown = found[(page - 1) * PAGE_SIZE : page * PAGE_SIZE]

    def address(number: int) -> str:
        return addresses.folders(below, (number - 1) * PAGE_SIZE)

    return FolderList(
        steps=[
            Choice(step.rpartition("/")[2], addresses.folders(step), chosen=step == below)
            for step in paths_to(below)
        ],
        folders=[
            Choice(one.name, addresses.library({"folder": one.path}), one.count) for one in shown
        ],
        total=len(found),
        page=page,
        pages=pages,
        previous=address(page - 1) if page > 1 else "",
        following=address(page + 1) if page < pages else "",
        numbers=numbered(page, pages, address),
    )


def _offset(given: Mapping[str, str]) -> int:
    """Return the requested offset, limited to ``MAXIMUM_OFFSET``; 0 if it is not a number."""
    text = given.get("offset", "")
    digits = text if text.isascii() and text.isdigit() and len(text) < 16 else "0"
    return min(int(digits), MAXIMUM_OFFSET)
