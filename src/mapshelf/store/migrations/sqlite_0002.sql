-- What it takes to count visits once. All of it is fleeting: keys and salts are forgotten within
-- hours, and a tally becomes part of its map within minutes.

-- The visits that count already. A key is a salted hash of visitor, map, kind and hour together,
-- so that no two rows can be told to be of the same visitor, or of the same map.
CREATE TABLE visits (
    hour INTEGER NOT NULL,
    key  BLOB NOT NULL,
    PRIMARY KEY (hour, key)
) STRICT, WITHOUT ROWID;

CREATE TABLE salts (
    day  INTEGER PRIMARY KEY,
    salt BLOB NOT NULL
) STRICT;

-- What has been counted and is not part of the map yet; since is when the first of it was. Refers
-- to a map without a constraint: one that is deleted meanwhile is found missing later.
CREATE TABLE tallies (
    file_id   INTEGER PRIMARY KEY,
    views     INTEGER NOT NULL,
    downloads INTEGER NOT NULL,
    since     INTEGER NOT NULL
) STRICT;
CREATE INDEX tallies_since ON tallies (since);
