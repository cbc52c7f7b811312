-- What names look like was computed in another way by former versions (``text/skeleton.py``). The
-- next registration fills it in again.
UPDATE users SET skeleton = NULL;
