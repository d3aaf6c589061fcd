/** Marks a SQLite file as ours, in its header: "KILN". https://www.sqlite.org/pragma.html#pragma_application_id */
export const APPLICATION_ID = 0x4b494c4e;

/** The version of `SCHEMA`, as a file remembers it (`user_version`). Files of Kilns that were never released may have a lower one. */
export const FIRST_VERSION = 13;

/**
 * The schema of an empty file.
 *
 * `version` holds every version of every resource once, the current one too, and its rowid orders all of them by time. Nothing in it
 * changes but the content of what is amended; `amended` says how often that was. `resource` is small and says which version is current. Its
 * keys have the order in which resources were first written (`resource-keys.ts`): a table or an index that ends in them is written at its end.
 * `resource_by_id` says who is deleted, so that a reference leads to a key without a look at the row.
 *
 * Index entries lie in one table for each way of comparing, clustered by resource (replacing them touches one place, and
 * a candidate that another criterion found is checked by `resource, param`), with an index by value to find resources
 * by. `param` stands for a parameter of a type, or for one part of a composite; parts of one value share `part_group`,
 * which is 0 outside composites. A group below 0 has values of other parameters, too, by which resources are found (`isCovered` of
 * entries): tokens and numbers of it are in no index by value, for they were two fifths of what a create of an Observation writes. `n` only
 * makes rows distinct; a quantity that has a canonical value has a second row of the
 * same `n`, under a parameter that names the canonical unit (`value-quantity{g}`), so that ranges hold one unit only. Absent
 * systems, codes and types are 0 or ''. `target` of a reference is what it is sorted by. `irregular` lists resources that have
 * several dates or numbers of a parameter, or one that is a wide interval: of all others two bounds are one range. `number_by_high` has
 * intervals alone, for both ends of a point are in `number_by_low`. A text is found by what it is folded to.
 * `words` is the full text: an index of words alone, whose rowid is the key of a resource. Spaces alone part its tokens: the words are made
 * before, and each has its parameter in front (`words.ts`). A leaf of it fits on a page. A `beginning` is that of one value
 * of it: an FTS5 index puts all words with a beginning together before it gives the first, and nothing stops it meanwhile.
 * `member` says which rows of `resource` are what is within a resource (`store/contained-resources.ts`): these have no versions, and share the
 * current one of their container.
 *
 * A `position` is a point on a sphere of radius 1, a `region` a strip of one: `lines` are its, doubles of 8 bytes. `cell` is what
 * they are found by.
 *
 * `clock` holds the highest `seq` and `updated` ever given, which an expunge does not turn back, and the number of expunges as
 * `removals`. A `blob` without a key is not whole yet or not wanted any more; `touched` says since when, so that dead uploads are
 * found and live readers of a replaced one can finish.
 */
export const SCHEMA = `
  CREATE TABLE term (id INTEGER PRIMARY KEY, text TEXT NOT NULL UNIQUE);
  CREATE TABLE param (
    id INTEGER PRIMARY KEY,
    type INTEGER NOT NULL,
    code TEXT NOT NULL,
    part INTEGER NOT NULL,
    UNIQUE (type, code, part)
  );

  CREATE TABLE version (
    seq INTEGER PRIMARY KEY,
    type INTEGER NOT NULL,
    resource INTEGER NOT NULL,
    version INTEGER NOT NULL,
    updated INTEGER NOT NULL,
    body TEXT
  );
  CREATE UNIQUE INDEX version_of_resource ON version (resource, version);
  CREATE INDEX version_of_type ON version (type);
  CREATE TABLE amended (seq INTEGER PRIMARY KEY, times INTEGER NOT NULL);
  CREATE TABLE resource (
    key INTEGER PRIMARY KEY,
    type INTEGER NOT NULL,
    id TEXT NOT NULL,
    seq INTEGER NOT NULL,
    version INTEGER NOT NULL,
    updated INTEGER NOT NULL,
    deleted INTEGER NOT NULL
  );
  CREATE UNIQUE INDEX resource_by_id ON resource (type, id, deleted);
  CREATE INDEX resource_by_time ON resource (type, updated) WHERE deleted = 0;
  CREATE INDEX resource_by_type ON resource (type) WHERE deleted = 0;
  CREATE TABLE member (
    container INTEGER NOT NULL, resource INTEGER NOT NULL,
    PRIMARY KEY (container, resource)
  ) WITHOUT ROWID;

  CREATE TABLE token (
    resource INTEGER NOT NULL, param INTEGER NOT NULL, part_group INTEGER NOT NULL, n INTEGER NOT NULL,
    system INTEGER NOT NULL, code TEXT NOT NULL,
    PRIMARY KEY (resource, param, part_group, n)
  ) WITHOUT ROWID;
  CREATE INDEX token_by_value ON token (param, code, system, resource) WHERE part_group >= 0;
  CREATE TABLE token_of_type (
    resource INTEGER NOT NULL, param INTEGER NOT NULL, part_group INTEGER NOT NULL, n INTEGER NOT NULL,
    system INTEGER NOT NULL, code TEXT NOT NULL,
    PRIMARY KEY (resource, param, part_group, n, system, code)
  ) WITHOUT ROWID;

  CREATE TABLE string (
    resource INTEGER NOT NULL, param INTEGER NOT NULL, part_group INTEGER NOT NULL, n INTEGER NOT NULL,
    folded TEXT NOT NULL, text TEXT NOT NULL,
    PRIMARY KEY (resource, param, part_group, n)
  ) WITHOUT ROWID;
  CREATE INDEX string_by_value ON string (param, folded, resource);

  CREATE TABLE date (
    resource INTEGER NOT NULL, param INTEGER NOT NULL, part_group INTEGER NOT NULL, n INTEGER NOT NULL,
    low INTEGER NOT NULL, high INTEGER NOT NULL,
    PRIMARY KEY (resource, param, part_group, n)
  ) WITHOUT ROWID;
  CREATE INDEX date_by_low ON date (param, low, high, resource);
  CREATE INDEX date_by_high ON date (param, high, low, resource);

  CREATE TABLE number (
    resource INTEGER NOT NULL, param INTEGER NOT NULL, part_group INTEGER NOT NULL, n INTEGER NOT NULL,
    value REAL NOT NULL, low REAL NOT NULL, high REAL NOT NULL,
    system INTEGER NOT NULL, code TEXT NOT NULL, unit TEXT NOT NULL,
    PRIMARY KEY (resource, param, part_group, n)
  ) WITHOUT ROWID;
  CREATE INDEX number_by_low ON number (param, low, high, resource) WHERE part_group >= 0;
  CREATE INDEX number_by_high ON number (param, high, low, resource) WHERE high <> low AND part_group >= 0;

  CREATE TABLE reference (
    resource INTEGER NOT NULL, param INTEGER NOT NULL, part_group INTEGER NOT NULL, n INTEGER NOT NULL,
    target_type INTEGER NOT NULL, target_id TEXT NOT NULL, target_version TEXT NOT NULL, base INTEGER NOT NULL,
    url TEXT NOT NULL, fragment TEXT NOT NULL, identifier_system INTEGER NOT NULL, identifier TEXT NOT NULL,
    target TEXT NOT NULL,
    PRIMARY KEY (resource, param, part_group, n)
  ) WITHOUT ROWID;
  CREATE INDEX reference_by_target ON reference (target_id, param, resource, target_type, base) WHERE target_id <> '';
  CREATE INDEX reference_by_url ON reference (url, param, resource) WHERE url <> '';
  CREATE INDEX reference_by_identifier ON reference (identifier, param, resource, identifier_system)
    WHERE identifier <> '';
  CREATE INDEX reference_by_text ON reference (param, target, resource);

  CREATE TABLE uri (
    resource INTEGER NOT NULL, param INTEGER NOT NULL, part_group INTEGER NOT NULL, n INTEGER NOT NULL,
    value TEXT NOT NULL,
    PRIMARY KEY (resource, param, part_group, n)
  ) WITHOUT ROWID;
  CREATE INDEX uri_by_value ON uri (param, value, resource);

  CREATE TABLE position (
    resource INTEGER NOT NULL, param INTEGER NOT NULL, part_group INTEGER NOT NULL, n INTEGER NOT NULL,
    cell TEXT NOT NULL, x REAL NOT NULL, y REAL NOT NULL, z REAL NOT NULL,
    PRIMARY KEY (resource, param, part_group, n)
  ) WITHOUT ROWID;
  CREATE INDEX position_by_cell ON position (param, cell, x, y, z, resource);
  CREATE TABLE region (
    resource INTEGER NOT NULL, param INTEGER NOT NULL, part_group INTEGER NOT NULL, n INTEGER NOT NULL,
    cell TEXT NOT NULL, south REAL NOT NULL, west REAL NOT NULL, north REAL NOT NULL, east REAL NOT NULL,
    lines BLOB NOT NULL,
    PRIMARY KEY (resource, param, part_group, n)
  ) WITHOUT ROWID;
  CREATE INDEX region_by_cell ON region (param, cell, south, north, resource);

  CREATE VIRTUAL TABLE words USING fts5(
    text, content = '', contentless_delete = 1, tokenize = "ascii tokenchars '=_.,;'"
  );
  INSERT INTO words (words, rank) VALUES ('pgsz', 1900);
  CREATE TABLE beginning (
    resource INTEGER NOT NULL, param INTEGER NOT NULL, n INTEGER NOT NULL, text TEXT NOT NULL,
    PRIMARY KEY (resource, param, n)
  ) WITHOUT ROWID;
  CREATE INDEX beginning_by_text ON beginning (param, text, resource);

  CREATE TABLE irregular (
    resource INTEGER NOT NULL, param INTEGER NOT NULL,
    PRIMARY KEY (resource, param)
  ) WITHOUT ROWID;
  CREATE INDEX irregular_by_param ON irregular (param, resource);

  CREATE TABLE clock (
    id INTEGER PRIMARY KEY CHECK (id = 1), seq INTEGER NOT NULL, updated INTEGER NOT NULL, removals INTEGER NOT NULL
  );
  INSERT INTO clock VALUES (1, 0, 0, 0);

  CREATE TABLE blob (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    key TEXT UNIQUE,
    size INTEGER NOT NULL,
    sha256 TEXT NOT NULL,
    put INTEGER NOT NULL,
    touched INTEGER NOT NULL
  );
  CREATE INDEX blob_without_key ON blob (touched) WHERE key IS NULL;
  CREATE TABLE blob_piece (blob INTEGER NOT NULL, n INTEGER NOT NULL, bytes BLOB NOT NULL, UNIQUE (blob, n));

  CREATE TABLE map_entry (
    map TEXT NOT NULL, key TEXT NOT NULL, value TEXT NOT NULL, expires INTEGER,
    PRIMARY KEY (map, key)
  ) WITHOUT ROWID;
  CREATE INDEX map_entry_by_expiry ON map_entry (expires) WHERE expires IS NOT NULL;
`;

/** Steps that take a file from one version to the next, the first one from `FIRST_VERSION` on. Those that have shipped never change. */
export const SCHEMA_STEPS: readonly string[] = [];

/** Tables that hold index entries. The first column of each is `resource`, with which the primary key begins; other values follow it. */
export const INDEX_TABLES = [
  'token',
  'token_of_type',
  'string',
  'date',
  'number',
  'reference',
  'uri',
  'position',
  'region',
  'beginning',
  'irregular',
] as const;

/** Name of a table that holds index entries. */
export type IndexTableName = (typeof INDEX_TABLES)[number];
