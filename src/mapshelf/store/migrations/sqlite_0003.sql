-- The mark of the tokens: another one whenever a token, or its user, may speak with less force than
-- before. Whoever remembers what was said of tokens need ask for no more than this.

CREATE TABLE token_mark (
    only INTEGER PRIMARY KEY CHECK (only = 1),
    mark TEXT NOT NULL
) STRICT;
INSERT INTO token_mark VALUES (1, lower(hex(randomblob(16))));

CREATE TRIGGER tokens_changed AFTER UPDATE OF user_id, digest, scopes, expires, revoked ON tokens
BEGIN UPDATE token_mark SET mark = lower(hex(randomblob(16))); END;

CREATE TRIGGER tokens_removed AFTER DELETE ON tokens
BEGIN UPDATE token_mark SET mark = lower(hex(randomblob(16))); END;

CREATE TRIGGER users_changed AFTER UPDATE OF name, disabled ON users
BEGIN UPDATE token_mark SET mark = lower(hex(randomblob(16))); END;
