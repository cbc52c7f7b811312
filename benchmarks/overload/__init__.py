"""Response times of normal clients during attacks and overload."""
