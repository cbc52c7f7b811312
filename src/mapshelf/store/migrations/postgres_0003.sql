-- The mark of the tokens, as in sqlite_0003.sql. It is random and no count, for a server that takes
-- over may lack what was counted last. It changes as a transaction ends, so that who holds rows of
-- tokens never waits for it.

CREATE TABLE token_mark (
    single integer PRIMARY KEY CHECK (single = 1),
    mark   text NOT NULL
);
INSERT INTO token_mark VALUES (1, gen_random_uuid()::text);

CREATE FUNCTION change_token_mark() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT
AS $$ BEGIN UPDATE token_mark SET mark = gen_random_uuid()::text; RETURN NULL; END $$;

CREATE CONSTRAINT TRIGGER tokens_changed
    AFTER UPDATE OF user_id, digest, scopes, expires, revoked ON tokens
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW
    WHEN ((old.user_id, old.digest, old.scopes, old.expires, old.revoked)
        IS DISTINCT FROM (new.user_id, new.digest, new.scopes, new.expires, new.revoked))
    EXECUTE FUNCTION change_token_mark();

CREATE CONSTRAINT TRIGGER tokens_removed AFTER DELETE ON tokens
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION change_token_mark();

CREATE CONSTRAINT TRIGGER users_changed AFTER UPDATE OF name, disabled ON users
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW
    WHEN ((old.name, old.disabled) IS DISTINCT FROM (new.name, new.disabled))
    EXECUTE FUNCTION change_token_mark();
