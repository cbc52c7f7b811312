"""Pages about accounts, over HTTP and in a real browser."""
