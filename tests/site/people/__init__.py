"""People on pages: accounts, forms, and what a browser makes of them."""
