"""Show and read the form for reporting a map or a collection."""

from mapshelf.api.forms import Form
from mapshelf.api.http import Request
from mapshelf.model import NOTE_LENGTH, Reason
from mapshelf.query import read_parameters
from mapshelf.site.personal import Page

Said = dict[str, str]
"""The values of the report form."""


def read(form: Form) -> Said:
    """Return the values of a submitted form."""
    return {"reason": form.text("reason"), "note": form.text("note")}


def page(
    request: Request, about: dict[str, object], said: Said | None, error: Exception | None
) -> Page:
    """Return the page with the form.

    Args:
        request: the request.
        about: the template variables that describe the reported map or collection.
        said: the submitted values if the form was refused, otherwise ``None``.
        error: the reason why it was refused.
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
    """Return the name of the action that the page confirms, from its URL; empty if none."""
    return read_parameters(request.query_string, ("done",)).get("done", "")
