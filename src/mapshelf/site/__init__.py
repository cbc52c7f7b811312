"""What people see: the library, the page of each map, feeds, and what embeds a map elsewhere.

It stands on the API: the same query, the same snapshot, the same errors, with pages around them.
The API knows nothing of it, and is whole without.
"""

from mapshelf.site.pages import private_routes, site_routes

__all__ = ["private_routes", "site_routes"]
