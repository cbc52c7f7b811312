"""What all pages of an application share: URLs, static files, templates and error pages."""

from mapshelf.site.addresses import Addresses
from mapshelf.site.assets import load_assets
from mapshelf.site.error_pages import ErrorPages
from mapshelf.site.responses import Templates


class PageResources:
    """What the pages of one application share.

    Attributes:
        addresses: builds URLs.
        assets: the static files that pages load.
        common: the variables of all templates.
        templates: the templates.
        errors: the error pages.
    """

    def __init__(self, base_url: str) -> None:
        """Create all of it; each template is loaded when it is first used."""
        self.addresses = Addresses(base_url)
        self.assets = load_assets()
        root = self.addresses.root
        self.common = {"root": root, "static": f"{root}/static/{self.assets.edition}"}
        self.templates = Templates(self.common)
        self.errors = ErrorPages(self.templates)
