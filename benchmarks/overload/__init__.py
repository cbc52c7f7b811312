"""What strangers can do to others: how clients are answered while the service is attacked."""
