"""The OAuth 2 discovery documents: ``/.well-known/…`` (RFC 8414, RFC 9728)."""

from collections.abc import Mapping
from typing import Any, Final

import orjson

from mapshelf.accounts.dynamic_registration import AUTHENTICATION_METHODS
from mapshelf.accounts.oauth_tokens import GRANT_TYPES
from mapshelf.api.http import Response, etag, json_response
from mapshelf.tokens import SCOPES

AUTHORIZE: Final = "/oauth/authorize"
TOKEN: Final = "/oauth/token"  # noqa: S105 - a path
REVOKE: Final = "/oauth/revoke"
DEVICE_AUTHORIZATION: Final = "/oauth/device_authorization"
REGISTER: Final = "/oauth/register"
DEVICE_PAGE: Final = "/oauth/device"
"""The paths of the OAuth 2 endpoints and pages."""

SERVER: Final = "/.well-known/oauth-authorization-server"
RESOURCE: Final = "/.well-known/oauth-protected-resource"


def server_metadata(base_url: str, *, registration: bool = False) -> Mapping[str, Any]:
    """Return the authorization server metadata (RFC 8414).

    Args:
        base_url: the public address of the service.
        registration: whether programs may register themselves.
    """
    own = {"registration_endpoint": base_url + REGISTER} if registration else {}
    return {
        "issuer": base_url,
        "authorization_endpoint": base_url + AUTHORIZE,
        "token_endpoint": base_url + TOKEN,
        "revocation_endpoint": base_url + REVOKE,
        "device_authorization_endpoint": base_url + DEVICE_AUTHORIZATION,
        **own,
        "scopes_supported": SCOPES,
        "response_types_supported": ["code"],
        "response_modes_supported": ["query"],
        "grant_types_supported": list(GRANT_TYPES),
        "token_endpoint_auth_methods_supported": AUTHENTICATION_METHODS,
        "revocation_endpoint_auth_methods_supported": AUTHENTICATION_METHODS,
        "code_challenge_methods_supported": ["S256"],
        "authorization_response_iss_parameter_supported": True,
        "service_documentation": f"{base_url}/docs",
    }


def resource_metadata(base_url: str) -> Mapping[str, Any]:
    """Return the protected resource metadata of the API (RFC 9728)."""
    return {
        "resource": base_url,
        "authorization_servers": [base_url],
        "scopes_supported": SCOPES,
        "bearer_methods_supported": ["header"],
        "resource_name": "Mapshelf",
        "resource_documentation": f"{base_url}/docs",
    }


def metadata_response(metadata: Mapping[str, Any]) -> Response:
    """Return a response with metadata, which only changes with the settings of the service."""
    body = orjson.dumps(metadata)
    return json_response(200, body, [(b"cache-control", b"public, no-cache"), etag(body)])
