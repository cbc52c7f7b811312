"""The command line, driven as a process, the way scripts drive it."""
