"""Pages, as programs and as people see them."""
