"""Serve the web pages: the library, map pages, feeds, accounts, and embeds for other sites.

They use the query, the snapshot and the errors of the API. The API does not depend on them.
"""

from mapshelf.site.routes import site_routes

__all__ = ["site_routes"]
