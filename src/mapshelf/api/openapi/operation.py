"""An operation of the OpenAPI document, and its conversion to JSON."""

from dataclasses import dataclass, replace
from typing import Any, Final

from mapshelf.api.openapi.responses import ERRORS, reference
from mapshelf.tokens import MAPS

Json = dict[str, Any]

SCHEMES: Final = ("bearer", "oauth")
"""The security schemes. Tokens are sent the same way, however they were obtained."""

OF_BODIES: Final = {"RequestTimeout", "LengthRequired", "UnsupportedMediaType"}
"""The error responses that only operations with a body have."""

OTHERS_TOO_MANY: Final = {"TooManyUploads", "TooManyReports"}
"""The error responses with the status of a rate limit that concern other limits, too."""


@dataclass(frozen=True, slots=True)
class Operation:
    """An operation: a method of a path.

    Attributes:
        id: its name in clients.
        summary: what it does, in a few words.
        description: what it does, in detail.
        answer: the response if it succeeds.
        parameters: names of its parameters.
        not_modified: name of the response with status 304, empty if it has none.
        errors: names of the error responses that not every operation has.
        tag: name of one of ``TAGS``.
        scope: the scope that a token needs; ``None`` if it needs no token.
        is_picture: whether it needs a token with the scope ``MAPS`` in a private catalogue only.
        status: the status of ``answer``.
        repeated: the response to a repeated request, with status 200, if it differs.
        body: the body that it accepts, by media type, if any.
    """

    id: str
    summary: str
    description: str
    answer: Json
    parameters: tuple[str, ...] = ()
    not_modified: str = ""
    errors: tuple[str, ...] = ("Unavailable",)
    tag: str = "maps"
    scope: str | None = MAPS
    is_picture: bool = False
    status: int = 200
    repeated: Json | None = None
    body: Json | None = None

    def in_private_catalogue(self) -> "Operation":
        """Return the operation as it is in a private catalogue."""
        return replace(self, scope=MAPS) if self.is_picture else self

    def as_json(self) -> Json:
        """Return the operation as it appears in the document."""
        names = (*self.parameters, *(("If-None-Match",) if self.not_modified else ()))
        return {
            "operationId": self.id,
            "tags": [self.tag],
            "summary": self.summary,
            "description": self.description,
            **({"parameters": [reference("parameters", name) for name in names]} if names else {}),
            **({"requestBody": {"required": True, "content": self.body}} if self.body else {}),
            "security": [{scheme: [self.scope]} for scheme in SCHEMES] if self.scope else [],
            "responses": {str(status): found for status, found in self._responses()},
        }

    def _responses(self) -> list[tuple[int, Json]]:
        named = {"BadRequest", "ContentTooLarge", "UriTooLong", "ServerError", *self.errors}
        if self.scope:
            scope = set() if "Forbidden" in named else {"InsufficientScope"}
            named |= {"Unauthorized", *scope}
        if self.body:
            named |= OF_BODIES
        if not named & OTHERS_TOO_MANY:
            named |= {"TooManyRequests"}
        return [
            *([(200, self.repeated)] if self.repeated else []),
            (self.status, self.answer),
            *([(304, reference("responses", self.not_modified))] if self.not_modified else []),
            *(
                (status, reference("responses", name))
                for name, (status, _, _) in ERRORS.items()
                if name in named
            ),
        ]
