"""Handle the page of imports, where administrators see refused files and dismiss them.

The page shows why each file was refused. It also lists skipped files, which may be no maps at all,
and the progress of a running import.
"""

from dataclasses import dataclass
from typing import Final

from mapshelf.api.browser_sessions import Session
from mapshelf.api.forms import Form
from mapshelf.api.http import Request, Response
from mapshelf.clock import milliseconds
from mapshelf.errors import InvalidParameter
from mapshelf.model import LARGEST_ID, NotedRefusal, RefusalKind
from mapshelf.query import read_parameters
from mapshelf.site.account_rows import Moment, moment
from mapshelf.site.import_banner import ImportBanner
from mapshelf.site.personal import Page, Paths, Personal
from mapshelf.site.responses import see_other
from mapshelf.store import Store

FILES_SHOWN: Final = 200
"""Maximum number of files of each kind (refused, skipped) on the page."""

DONE: Final = ("one", "all")
"""Actions that the next page confirms, as named in its URL."""


@dataclass(frozen=True, slots=True)
class RefusalRow:
    """A file on the page; ``id`` identifies it in forms (the digest in hexadecimal)."""

    id: str
    path: str
    reason: str
    noted: Moment


class RefusedFilePages:
    """Handlers of the page of imports."""

    def __init__(self, personal: Personal, banner: ImportBanner) -> None:
        """Create the handlers on top of ``personal``."""
        self._personal = personal
        self._importing = banner
        self._address = personal.addresses.people.account("imports")

    def paths(self) -> Paths:
        """Return the handlers of the page by path."""
        operation = "see and dismiss refused files"
        return {
            "/account/imports": (
                self._personal.page_for(operation, self._show),
                self._personal.form_for(operation, self._dismiss, self._address),
            )
        }

    async def _show(self, request: Request, session: Session) -> Response:
        shown = milliseconds()
        refused, skipped, counts = await self._personal.ask(
            request,
            lambda store: (
                store.open_refusals(RefusalKind.REFUSED, FILES_SHOWN),
                store.open_refusals(RefusalKind.SKIPPED, FILES_SHOWN),
                store.count_open_refusals(),
            ),
        )
        done = read_parameters(request.query_string, ("done",)).get("done", "")
        values = {
            "refused": list(map(_row, refused)),
            "refused_count": counts[RefusalKind.REFUSED],
            "skipped": list(map(_row, skipped)),
            "skipped_count": counts[RefusalKind.SKIPPED],
            "shown": shown,
            "importing": self._importing.status(),
            "done": f"imports.{done}" if done in DONE else "",
        }
        return await self._personal.page(Page("imports.html", values), session)

    async def _dismiss(self, request: Request, session: Session, form: Form) -> Response:
        digest, until, kind = form.text("dismiss"), form.text("until"), form.text("kind")
        if digest:
            done = "one"
            await self._personal.ask(request, lambda store: _dismiss_one(store, digest))
        else:
            done = "all"
            await self._personal.ask(request, lambda store: _dismiss_all(store, kind, until))
        return see_other(f"{self._address}?done={done}")


def _dismiss_one(store: Store, digest: str) -> None:
    try:
        store.dismiss_refusal(bytes.fromhex(digest))
    except ValueError as error:
        raise InvalidParameter("There is no such file.") from error


def _dismiss_all(store: Store, kind: str, until: str) -> None:
    is_time = until.isascii() and until.isdigit() and len(until) <= len(str(LARGEST_ID))
    if kind not in list(RefusalKind) or not is_time:
        raise InvalidParameter("There are no such files.")
    store.dismiss_refusals(RefusalKind(kind), min(int(until), LARGEST_ID))


def _row(one: NotedRefusal) -> RefusalRow:
    return RefusalRow(one.digest.hex(), one.path, one.reason, moment(one.noted))
