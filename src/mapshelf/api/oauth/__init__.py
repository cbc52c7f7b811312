"""What programs ask to be let in (OAuth 2); the pages that people see meanwhile are in ``site``."""

from mapshelf.api.oauth.endpoints import oauth_routes
from mapshelf.api.oauth.metadata import AUTHORIZE, DEVICE_PAGE

__all__ = ["AUTHORIZE", "DEVICE_PAGE", "oauth_routes"]
