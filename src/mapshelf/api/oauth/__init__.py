"""The OAuth 2 endpoints that programs call; the pages for users are in ``site``."""

from mapshelf.api.oauth.endpoints import oauth_routes
from mapshelf.api.oauth.metadata import AUTHORIZE, DEVICE_PAGE

__all__ = ["AUTHORIZE", "DEVICE_PAGE", "oauth_routes"]
