import { readdirSync, readFileSync } from 'node:fs';

import { readJson } from '../../../runtime/format/read-json.js';
import type { JsonObject, JsonValue, Resource } from '../../../runtime/fhir/resource.js';

/** A case of the language suite of SQL on FHIR. */
export interface SuiteCase {
  readonly title: string;
  readonly view: JsonObject;
  /** Absent: an error is expected. */
  readonly expect?: readonly JsonObject[];
  readonly expectColumns?: readonly string[];
}

/** File of the suite: resources, and views of them. */
export interface SuiteFile {
  readonly name: string;
  readonly resources: readonly Resource[];
  readonly cases: readonly SuiteCase[];
}

const FOLDER = new URL('suite/', import.meta.url);

/** The public language suite, as suite/README.md says where it is from. */
export function readSuite(): readonly SuiteFile[] {
  return readdirSync(FOLDER)
    .filter((name) => name.endsWith('.json'))
    .map((name) => {
      const file = readJson(readFileSync(new URL(name, FOLDER), 'utf8')) as JsonObject;
      const resources = file['resources'] as unknown as readonly Resource[];
      return { name, resources, cases: file['tests'] as unknown as readonly SuiteCase[] };
    });
}

/** Rows of a table in no order, as texts: the order of rows is not promised. Decimals are compared by value. */
export function unordered(rows: readonly JsonObject[]): readonly string[] {
  return rows.map((row) => JSON.stringify(sorted(row))).sort();
}

function sorted(row: JsonObject): readonly (readonly [string, JsonValue])[] {
  return Object.keys(row)
    .sort()
    .map((name) => [name, plain(row[name] ?? null)] as const);
}

function plain(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map(plain);
  return typeof value === 'object' && value !== null && 'text' in value ? Number(value) : value;
}
