"""The form with which somebody reports a map or a collection."""

from mapshelf.api.forms import Form
from mapshelf.api.http import Request
from mapshelf.model import NOTE_LENGTH, Reason
from mapshelf.query import read_parameters
from mapshelf.site.personal import Page

Said = dict[str, str]
"""What somebody says in the form."""


def read(form: Form) -> Said:
    """Return what a form says."""
    return {"reason": form.text("reason"), "note": form.text("note")}


def page(
    request: Request, about: dict[str, object], said: Said | None, error: Exception | None
) -> Page:
    """Return the page with the form.

    Args:
        request: the request for it.
        about: the values of the template that say what is reported.
        said: what was typed before, if anything was.
        error: why that was refused.
    """
    values = {
        **about,
        "said": said or {"reason": "", "note": ""},
        "reasons": [str(reason) for reason in Reason],
        "longest": NOTE_LENGTH,
        "done": "reported" if done_before(request) == "reported" else "",
    }
    return Page("report.html", values, error, invalid="failure.report")


def done_before(request: Request) -> str:
    """Return what has been done, as the address of the page says."""
    return read_parameters(request.query_string, ("done",)).get("done", "")
