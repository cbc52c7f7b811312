-- What people search for again and again, under a name, as in sqlite_0014.sql.

CREATE TABLE saved_searches (
    id         text COLLATE "C" PRIMARY KEY,
    owner_id   bigint NOT NULL REFERENCES users (id),
    name       text COLLATE "C" NOT NULL,
    parameters text COLLATE "C" NOT NULL,
    created    bigint NOT NULL,
    changed    bigint NOT NULL
);
CREATE INDEX saved_searches_owner ON saved_searches (owner_id);
