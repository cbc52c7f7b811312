"""Recognises panics of libraries in Rust, for instance because no thread can be started."""


def is_panic(error: BaseException) -> bool:
    """Return whether an exception is a panic.

    It does not derive from ``Exception``, and can be recognised only by its name.
    """
    return type(error).__name__ == "PanicException"
