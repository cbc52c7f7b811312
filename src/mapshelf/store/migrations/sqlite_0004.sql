-- The pictures in the topics of maps, as they are in the files; digest is the SHA-256 of content.
CREATE TABLE images (
    file_id INTEGER NOT NULL REFERENCES maps (file_id) ON DELETE CASCADE,
    digest  BLOB NOT NULL,
    content BLOB NOT NULL,
    PRIMARY KEY (file_id, digest)
) STRICT;

-- The maps whose outlines an older version made, which found less in their files than this one
-- does: they are read anew, one after the other. At first these are all that were read from files.
CREATE TABLE outdated (
    file_id INTEGER PRIMARY KEY REFERENCES maps (file_id) ON DELETE CASCADE
) STRICT;
INSERT INTO outdated SELECT DISTINCT file_id FROM sources;

-- The links in the outlines of maps to files that may be maps, in order. name is that of the file,
-- in one spelling, by which a map finds the links that lead to it.
CREATE TABLE links (
    file_id INTEGER NOT NULL REFERENCES maps (file_id) ON DELETE CASCADE,
    number  INTEGER NOT NULL,
    topic   TEXT NOT NULL,
    target  TEXT NOT NULL,
    name    TEXT NOT NULL,
    PRIMARY KEY (file_id, number)
) STRICT, WITHOUT ROWID;
CREATE INDEX links_name ON links (name);

-- Files by their names without folders. It looks at the end of the path only: a file system has no
-- longer names, and the time this takes grows with the square of the length.
CREATE INDEX sources_file ON sources (lower(substr(substr(name, -255),
    length(rtrim(substr(name, -255), replace(substr(name, -255), '/', ''))) + 1)));
