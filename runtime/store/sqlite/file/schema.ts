/** Marks a SQLite file as ours, in its header: "KILN". https://www.sqlite.org/pragma.html#pragma_application_id */
export const APPLICATION_ID = 0x4b494c4e;

/**
 * The schema as a list of steps: the first makes it, each further one takes it from one version to the next. A file
 * remembers how many it has had (`user_version`). Steps that have shipped never change.
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
 * entries): tokens and numbers of it are in no index by value. `n` only makes rows distinct; a quantity that has a canonical value has a second row of the
 * same `n`, under a parameter that names the canonical unit (`value-quantity{g}`), so that ranges hold one unit only. Absent
 * systems, codes and types are 0 or ''. `target` of a reference is what it is sorted by. `irregular` lists resources that have
 * several dates or numbers of a parameter, or one that is a wide interval: of all others two bounds are one range. `number_by_high` has
 * intervals alone, for both ends of a point are in `number_by_low`.
 * `words` is the full text: an index of words alone, whose rowid is the key of a resource. A `beginning` is that of one value
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
export const SCHEMA_STEPS: readonly string[] = [
  `
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
  CREATE TABLE resource (
    key INTEGER PRIMARY KEY,
    type INTEGER NOT NULL,
    id TEXT NOT NULL,
    seq INTEGER NOT NULL,
    version INTEGER NOT NULL,
    updated INTEGER NOT NULL,
    deleted INTEGER NOT NULL
  );
  CREATE UNIQUE INDEX resource_by_id ON resource (type, id);
  CREATE INDEX resource_by_time ON resource (type, updated);

  CREATE TABLE token (
    resource INTEGER NOT NULL, param INTEGER NOT NULL, part_group INTEGER NOT NULL, n INTEGER NOT NULL,
    system INTEGER NOT NULL, code TEXT NOT NULL,
    PRIMARY KEY (resource, param, part_group, n)
  ) WITHOUT ROWID;
  CREATE INDEX token_by_value ON token (param, code, system, resource);
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
  CREATE INDEX number_by_low ON number (param, low, high, resource);
  CREATE INDEX number_by_high ON number (param, high, low, resource);

  CREATE TABLE reference (
    resource INTEGER NOT NULL, param INTEGER NOT NULL, part_group INTEGER NOT NULL, n INTEGER NOT NULL,
    target_type INTEGER NOT NULL, target_id TEXT NOT NULL, target_version TEXT NOT NULL, base INTEGER NOT NULL,
    url TEXT NOT NULL, fragment TEXT NOT NULL, identifier_system INTEGER NOT NULL, identifier TEXT NOT NULL,
    PRIMARY KEY (resource, param, part_group, n)
  ) WITHOUT ROWID;
  CREATE INDEX reference_by_target ON reference (target_id, target_type, param, resource) WHERE target_id <> '';
  CREATE INDEX reference_by_url ON reference (url, param, resource) WHERE url <> '';
  CREATE INDEX reference_by_identifier ON reference (identifier, identifier_system, param, resource)
    WHERE identifier <> '';

  CREATE TABLE uri (
    resource INTEGER NOT NULL, param INTEGER NOT NULL, part_group INTEGER NOT NULL, n INTEGER NOT NULL,
    value TEXT NOT NULL,
    PRIMARY KEY (resource, param, part_group, n)
  ) WITHOUT ROWID;
  CREATE INDEX uri_by_value ON uri (param, value, resource);
  `,
  `
  CREATE TABLE clock (id INTEGER PRIMARY KEY CHECK (id = 1), seq INTEGER NOT NULL, updated INTEGER NOT NULL);
  INSERT INTO clock SELECT 1, coalesce(max(seq), 0), coalesce(max(updated), 0) FROM version;

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
  `,
  `
  ALTER TABLE reference ADD COLUMN target TEXT NOT NULL DEFAULT '';
  UPDATE reference SET target = CASE
    WHEN target_type <> 0 AND target_id <> '' THEN
      CASE base WHEN 0 THEN '' ELSE (SELECT text FROM term WHERE id = base) || '/' END
      || (SELECT text FROM term WHERE id = target_type) || '/' || target_id
    WHEN url <> '' THEN url
    ELSE identifier
  END;
  DROP INDEX reference_by_target;
  DROP INDEX reference_by_identifier;
  CREATE INDEX reference_by_target ON reference (target_id, param, resource, target_type, base) WHERE target_id <> '';
  CREATE INDEX reference_by_identifier ON reference (identifier, param, resource, identifier_system)
    WHERE identifier <> '';
  CREATE INDEX string_by_text ON string (param, text, resource);
  CREATE INDEX reference_by_text ON reference (param, target, resource);

  DROP INDEX resource_by_time;
  CREATE INDEX resource_by_time ON resource (type, updated) WHERE deleted = 0;
  CREATE TABLE unordered_type (type INTEGER PRIMARY KEY);
  CREATE TABLE new_key (old INTEGER PRIMARY KEY, key INTEGER NOT NULL);
  INSERT INTO new_key
    SELECT key, 2251799813685248
      + row_number() OVER (ORDER BY type, id) * (4503599627370496 / ((SELECT count(*) FROM resource) + 1))
    FROM resource;
  UPDATE version SET resource = (SELECT key FROM new_key WHERE old = resource);
  UPDATE token SET resource = (SELECT key FROM new_key WHERE old = resource);
  UPDATE token_of_type SET resource = (SELECT key FROM new_key WHERE old = resource);
  UPDATE string SET resource = (SELECT key FROM new_key WHERE old = resource);
  UPDATE date SET resource = (SELECT key FROM new_key WHERE old = resource);
  UPDATE number SET resource = (SELECT key FROM new_key WHERE old = resource);
  UPDATE reference SET resource = (SELECT key FROM new_key WHERE old = resource);
  UPDATE uri SET resource = (SELECT key FROM new_key WHERE old = resource);
  UPDATE resource SET key = (SELECT n.key FROM new_key n WHERE n.old = resource.key);
  DROP TABLE new_key;

  CREATE TABLE irregular (
    resource INTEGER NOT NULL, param INTEGER NOT NULL,
    PRIMARY KEY (resource, param)
  ) WITHOUT ROWID;
  CREATE INDEX irregular_by_param ON irregular (param, resource);
  INSERT INTO irregular SELECT resource, param FROM date WHERE part_group = 0
    GROUP BY 1, 2 HAVING count(*) > 1 OR max(high - low) > 86400000;
  INSERT INTO irregular SELECT resource, param FROM number WHERE part_group = 0
    GROUP BY 1, 2 HAVING count(*) > 1 OR max(high <> low);
  `,
  `
  DROP INDEX resource_by_id;
  CREATE UNIQUE INDEX resource_by_id ON resource (type, id, deleted);
  `,
  `
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
  `,
  // Spaces alone part tokens: the words are made before, and each has its parameter in front (`words.ts`). A leaf fits on a page.
  `
  CREATE VIRTUAL TABLE words USING fts5(
    text, content = '', contentless_delete = 1, tokenize = "ascii tokenchars '=_.,;'"
  );
  INSERT INTO words (words, rank) VALUES ('pgsz', 1900);
  CREATE TABLE beginning (
    resource INTEGER NOT NULL, param INTEGER NOT NULL, n INTEGER NOT NULL, text TEXT NOT NULL,
    PRIMARY KEY (resource, param, n)
  ) WITHOUT ROWID;
  CREATE INDEX beginning_by_text ON beginning (param, text, resource);
  `,
  `
  CREATE TABLE member (
    container INTEGER NOT NULL, resource INTEGER NOT NULL,
    PRIMARY KEY (container, resource)
  ) WITHOUT ROWID;
  `,
  `
  ALTER TABLE clock ADD COLUMN removals INTEGER NOT NULL DEFAULT 0;
  `,
  // The high end of a point is its low end: most numbers need no place in a second index.
  `
  DROP INDEX number_by_high;
  CREATE INDEX number_by_high ON number (param, high, low, resource) WHERE high <> low;
  `,
  // Parts of composites that are found by other parameters were two fifths of what a create of an Observation writes.
  `
  DROP INDEX token_by_value;
  CREATE INDEX token_by_value ON token (param, code, system, resource) WHERE part_group >= 0;
  DROP INDEX number_by_low;
  CREATE INDEX number_by_low ON number (param, low, high, resource) WHERE part_group >= 0;
  DROP INDEX number_by_high;
  CREATE INDEX number_by_high ON number (param, high, low, resource) WHERE high <> low AND part_group >= 0;
  `,
  // A text is found by what it is folded to. This index was a quarter of what a create of a Patient wrote.
  `
  DROP INDEX string_by_text;
  `,
  `
  CREATE TABLE amended (seq INTEGER PRIMARY KEY, times INTEGER NOT NULL);
  `,
  `
  DROP TABLE unordered_type;
  CREATE INDEX resource_by_type ON resource (type) WHERE deleted = 0;
  `,
];

const PLACE = ['param', 'part_group', 'n'] as const;

/** Tables that hold index entries. The first column of each is `resource`, with which the primary key begins. */
export const INDEX_TABLES = [
  { name: 'token', key: PLACE, values: ['system', 'code'] },
  { name: 'token_of_type', key: [...PLACE, 'system', 'code'], values: [], repeats: true },
  { name: 'string', key: PLACE, values: ['folded', 'text'] },
  { name: 'date', key: PLACE, values: ['low', 'high'] },
  { name: 'number', key: PLACE, values: ['value', 'low', 'high', 'system', 'code', 'unit'] },
  {
    name: 'reference',
    key: PLACE,
    values: [
      ...['target_type', 'target_id', 'target_version', 'base', 'url', 'fragment'],
      ...['identifier_system', 'identifier', 'target'],
    ],
  },
  { name: 'uri', key: PLACE, values: ['value'] },
  { name: 'position', key: PLACE, values: ['cell', 'x', 'y', 'z'] },
  { name: 'region', key: PLACE, values: ['cell', 'south', 'west', 'north', 'east', 'lines'] },
  { name: 'beginning', key: ['param', 'n'], values: ['text'] },
  { name: 'irregular', key: ['param'], values: [] },
] as const;

/** Name of a table that holds index entries. */
export type IndexTableName = (typeof INDEX_TABLES)[number]['name'];
