"""Passwords, sessions, links and permissions."""
