-- What the last transfer to or from another database left behind, in JSON, by which the next one
-- notices what has changed since (``store/transfer_notes.py``). There is no row before the first.
CREATE TABLE last_transfer (
    id   INTEGER PRIMARY KEY CHECK (id = 1),
    note TEXT NOT NULL
) STRICT;
