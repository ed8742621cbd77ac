-- The first schema. Times are microseconds since 1970 in UTC, NULL for never; lists of small numbers are JSON arrays;
-- states and kinds are the words that the program prints. A migration that has been published is never changed.

-- +goose Up

CREATE TABLE tournaments (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    request_id TEXT UNIQUE,           -- of the call that created it
    league     TEXT    NOT NULL,
    state      TEXT    NOT NULL,
    why        TEXT    NOT NULL,      -- of held and cancelled
    rated      INTEGER NOT NULL,      -- 1: counts in its league once it is finished
    settings   TEXT    NOT NULL,      -- JSON object
    excluded   TEXT    NOT NULL,      -- JSON array of what was taken out of the rating
    secret     BLOB    NOT NULL,
    start_at   INTEGER,
    created_at INTEGER,
    started_at INTEGER,
    ended_at   INTEGER
) STRICT;

CREATE INDEX tournaments_by_league ON tournaments (league, rated, state);
-- The few that a server goes on with when it starts.
CREATE INDEX tournaments_live ON tournaments (id) WHERE state IN ('open', 'running', 'paused', 'held');

CREATE TABLE entries (
    tournament    INTEGER NOT NULL REFERENCES tournaments (id),
    number        INTEGER NOT NULL,
    name          TEXT    NOT NULL,
    player        TEXT    NOT NULL,
    owner         TEXT    NOT NULL,
    build         TEXT    NOT NULL,
    contribution  BLOB    NOT NULL,
    from_round    INTEGER NOT NULL,
    state         TEXT    NOT NULL,
    anchor        INTEGER NOT NULL,
    fill_in       INTEGER NOT NULL,
    absent_tables INTEGER NOT NULL,
    PRIMARY KEY (tournament, number),
    UNIQUE (tournament, name)
) STRICT, WITHOUT ROWID;

CREATE TABLE rounds (
    tournament INTEGER NOT NULL REFERENCES tournaments (id),
    number     INTEGER NOT NULL,
    missing    TEXT    NOT NULL,      -- entry numbers
    cost       INTEGER NOT NULL,
    shares     INTEGER NOT NULL,
    spread     TEXT    NOT NULL,      -- an integer that may be larger than 64 bits
    repeats    INTEGER NOT NULL,
    PRIMARY KEY (tournament, number)
) STRICT, WITHOUT ROWID;

CREATE TABLE tables (
    tournament INTEGER NOT NULL,
    round      INTEGER NOT NULL,
    number     INTEGER NOT NULL,
    bots       TEXT    NOT NULL,      -- entry numbers as paired
    state      TEXT    NOT NULL,
    why        TEXT    NOT NULL,      -- of void
    void_from  INTEGER NOT NULL,
    lost       INTEGER NOT NULL,
    PRIMARY KEY (tournament, round, number),
    FOREIGN KEY (tournament, round) REFERENCES rounds (tournament, number)
) STRICT, WITHOUT ROWID;

-- "table" is a word of SQL, so the number of a table within its round is called seating here.
CREATE TABLE games (
    tournament INTEGER NOT NULL,
    round      INTEGER NOT NULL,
    seating    INTEGER NOT NULL,
    number     INTEGER NOT NULL,
    attempt    INTEGER NOT NULL,
    seats      TEXT    NOT NULL,      -- entry numbers by seat
    rounds     INTEGER NOT NULL,      -- rounds of the game
    totals     TEXT    NOT NULL,      -- by seat, like the rest
    places     TEXT    NOT NULL,
    faults     TEXT    NOT NULL,
    slips      TEXT    NOT NULL,
    PRIMARY KEY (tournament, round, seating, number),
    FOREIGN KEY (tournament, round, seating) REFERENCES tables (tournament, round, number)
) STRICT, WITHOUT ROWID;

-- What replays a game is in a table of its own, so that reading how games ended does not read past it.
CREATE TABLE records (
    tournament INTEGER NOT NULL,
    round      INTEGER NOT NULL,
    seating    INTEGER NOT NULL,
    number     INTEGER NOT NULL,
    record     BLOB    NOT NULL,      -- JSON, raw DEFLATE
    timings    BLOB    NOT NULL,      -- JSON, raw DEFLATE
    PRIMARY KEY (tournament, round, seating, number),
    FOREIGN KEY (tournament, round, seating, number) REFERENCES games (tournament, round, seating, number)
) STRICT;

CREATE TABLE acts (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    tournament INTEGER NOT NULL REFERENCES tournaments (id),
    at         INTEGER NOT NULL,
    who        TEXT    NOT NULL,
    what       TEXT    NOT NULL,
    why        TEXT    NOT NULL
) STRICT;

CREATE INDEX acts_by_tournament ON acts (tournament, id);

CREATE TABLE owners (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    name       TEXT    NOT NULL,
    folded     TEXT    NOT NULL UNIQUE, -- the name as it is compared
    token      BLOB    UNIQUE,          -- SHA-256; NULL once retired
    invitation INTEGER REFERENCES invitations (id),
    created_at INTEGER NOT NULL,
    rotated_at INTEGER,
    retired_at INTEGER
) STRICT;

CREATE INDEX owners_by_invitation ON owners (invitation) WHERE invitation IS NOT NULL;

CREATE TABLE invitations (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    code       BLOB    NOT NULL UNIQUE, -- SHA-256
    uses       INTEGER NOT NULL,        -- how many owners it may make
    remark     TEXT    NOT NULL,
    created_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    revoked_at INTEGER
) STRICT;

CREATE TABLE bots (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    name       TEXT    NOT NULL,
    folded     TEXT    NOT NULL UNIQUE, -- the name as it is compared
    owner      INTEGER REFERENCES owners (id), -- NULL: the organiser
    token      BLOB    UNIQUE,          -- SHA-256; NULL once retired
    lines      INTEGER NOT NULL DEFAULT 0, -- log lines so far, also those that are gone
    created_at INTEGER NOT NULL,
    rotated_at INTEGER,
    retired_at INTEGER
) STRICT;

CREATE INDEX bots_by_owner ON bots (owner, folded);

CREATE TABLE log_lines (
    bot        INTEGER NOT NULL REFERENCES bots (id),
    number     INTEGER NOT NULL,      -- from 1 for each bot
    at         INTEGER NOT NULL,
    tournament INTEGER NOT NULL,      -- 0: practice
    round      INTEGER NOT NULL,      -- 0 here, and below, where the line concerns none
    seating    INTEGER NOT NULL,
    game       INTEGER NOT NULL,
    attempt    INTEGER NOT NULL,
    request    INTEGER NOT NULL,
    session    TEXT    NOT NULL,
    kind       TEXT    NOT NULL,
    trouble    INTEGER NOT NULL,
    text       TEXT    NOT NULL,
    PRIMARY KEY (bot, number)
) STRICT, WITHOUT ROWID;
