"""Handle the pages for exporting a user's data and for deleting the account."""

from functools import partial
from time import perf_counter
from typing import Final

from mapshelf.accounts.audit import done_by
from mapshelf.accounts.data_export import MOST_BYTES, export_data
from mapshelf.accounts.own_account import delete_account
from mapshelf.api.browser_sessions import Session, is_late
from mapshelf.api.content_disposition import attachment
from mapshelf.api.forms import Form
from mapshelf.api.http import Request, Response
from mapshelf.cached_file import CachedFile
from mapshelf.clock import milliseconds
from mapshelf.errors import InvalidParameter, Overloaded, SessionTooOld
from mapshelf.model import AuditEntry, AuditEvent, MapsOfClosedAccount
from mapshelf.site.form_errors import FORM_ERRORS
from mapshelf.site.personal import Page, Paths, Personal
from mapshelf.site.responses import PERSONAL
from mapshelf.store import Store

CHOICES: Final = tuple(str(one) for one in MapsOfClosedAccount)
"""The choices for a user's maps when the account is deleted."""


class DataExportPages:
    """The pages for data export and account deletion."""

    def __init__(self, personal: Personal) -> None:
        """Create the handlers on top of ``personal``."""
        self._personal = personal
        self._addresses = personal.addresses

    def paths(self) -> Paths:
        """Return the handlers of these pages by path."""
        page_for, form_for = self._personal.page_for, self._personal.form_for
        export = "export one's own data"
        delete, page = "delete one's own account", self._addresses.people.account("delete")
        return {
            "/account/export": (
                page_for(export, self._show_export),
                form_for(export, self._export, self._addresses.people.account("export")),
            ),
            "/account/delete": (
                page_for(delete, self._show_deletion),
                form_for(delete, self._delete, page),
            ),
        }

    # -- exporting data -------------------------------------------------------------------

    async def _show_export(self, request: Request, session: Session) -> Response:
        return await self._personal.page(Page("export.html", {"user": session.user}), session)

    async def _export(self, request: Request, session: Session, form: Form) -> Response:
        context, user, began = self._personal.context, session.user, perf_counter()
        entry = done_by(user, self._personal.client(request).address, AuditEvent.DATA_EXPORTED)
        make = partial(self._made, session, entry, context.store_for(request))
        file = await context.queues.exports.result(
            session.token.id, make, request.disconnection, owner=request.owner
        )
        if is_late(began) and request.check_again is not None:
            await request.check_again()
        if file is None:
            raise Overloaded("the export cannot be written")
        headers = (
            (b"content-type", b"application/zip"),
            (b"content-length", str(file.size).encode()),
            (b"content-disposition", attachment(f"mapshelf-{user.name}", "zip")),
            *PERSONAL,
        )
        return Response(200, headers, file=file)

    def _made(self, session: Session, entry: AuditEntry, store: Store) -> CachedFile | None:
        """Write a zip with all data of a user and return it, ``None`` if it cannot be written."""
        user = session.user
        store.add_audit_entry(entry)
        pieces = export_data(store, user, milliseconds())
        size = min(MOST_BYTES, store.usage(user.id).size)
        return self._personal.context.exports.account(user.id, pieces, size)

    # -- deleting the account ---------------------------------------------------------------

    async def _show_deletion(self, request: Request, session: Session) -> Response:
        return await self._deletion_page(request, session)

    async def _delete(self, request: Request, session: Session, form: Form) -> Response:
        password, chosen = form.text("present"), form.text("maps")
        client = self._personal.client(request)
        try:
            maps = _choice(chosen)
            delete = partial(
                delete_account,
                session=session.token,
                password=password,
                maps=maps,
                client=client,
            )
            await self._personal.hash(request, delete)
        except (*FORM_ERRORS, SessionTooOld) as error:
            return await self._deletion_page(request, session, chosen, error)
        cleared = self._personal.context.sessions.session_cookie.clear()
        page = Page("account_deleted.html", {}, headers=(*PERSONAL, cleared))
        return await self._personal.open_page(page, request)

    async def _deletion_page(
        self,
        request: Request,
        session: Session,
        chosen: str = "",
        error: Exception | None = None,
    ) -> Response:
        values = {
            "user": session.user,
            "choices": CHOICES,
            "chosen": chosen,
            "has_password": await self._personal.has_password(request, session.user.name),
        }
        page = Page("delete_account.html", values, error, invalid="failure.choice")
        return await self._personal.page(page, session)


def _choice(text: str) -> MapsOfClosedAccount:
    """Return the choice in a form.

    Raises:
        InvalidParameter: there is no valid choice.
    """
    if text not in CHOICES:
        raise InvalidParameter("Choose what becomes of your maps.")
    return MapsOfClosedAccount(text)
