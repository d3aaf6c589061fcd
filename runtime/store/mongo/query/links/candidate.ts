import { BSON, type Document } from 'mongodb';

import { linksOf, type Plan, type PlannedLink } from '../plan/plan.js';
import { fieldsOf, readValue, type Raw } from '../../bson/bson.js';
import type { ReferenceRow, TokenRow, UriRow } from '../../bson/documents.js';
import type { ResourceKey } from '../../../store.js';
import { referenceParam } from '../../bson/index-rows.js';

/** The parts of a resource that links compare. */
export interface Candidate {
  /** `Patient/1`. */
  readonly key: string;
  readonly references: readonly ReferenceRow[];
  /** What canonicals name it by. */
  readonly urls: readonly string[];
  readonly versions: readonly string[];
}

/** Parameters whose values canonicals name. https://hl7.org/fhir/R5/references.html#canonical */
export const [URL_PARAM, VERSION_PARAM] = ['url', 'version'] as const;

/** The parts of a candidate that are needed. */
export interface Need {
  /** Parameters of references. */
  readonly params: readonly string[];
  readonly names: boolean;
}

/** Returns the parts of candidates that the links of a plan need. */
export function needOf(plan: Plan): Need {
  const links: readonly PlannedLink[] = linksOf(plan);
  const params = links.flatMap((link) => ('chain' in link ? [link.param] : []));
  return { params: [...new Set(params)], names: links.some((link) => 'has' in link) };
}

/** Returns what one or the other needs. */
export function bothNeeds(one: Need, other: Need): Need {
  return { params: [...one.params, ...other.params], names: one.names || other.names };
}

/** Asks for what is needed, and the `_id`. */
export function projectionOf({ params, names }: Need): Document {
  const rows = (array: string, values: readonly string[]): Document => ({
    [array]: { $filter: { input: `$${array}`, as: 'row', cond: { $in: ['$$row.p', { $literal: [...values] }] } } },
  });
  const all = params.flatMap((param) => [param, referenceParam(param, 'url')]);
  return {
    _id: 1,
    ...(params.length > 0 && rows('reference', all)),
    ...(names && { ...rows('uri', [URL_PARAM]), ...rows('token', [VERSION_PARAM]) }),
  };
}

/** Asks for what is needed, and all that a walk through the pages goes by. */
export function candidateProjection({ params, names }: Need): Document {
  return {
    string: 0,
    date: 0,
    number: 0,
    words: 0,
    covered: 0,
    resource: 0,
    numbers: 0,
    ...(params.length === 0 && { reference: 0 }),
    ...(!names && { uri: 0, token: 0 }),
  };
}

/** Reads a candidate from a document, as far as the document has its parts. */
export function toCandidate(bytes: Raw): Candidate {
  const { _id, reference, uri, token } = BSON.deserialize(bytes) as {
    _id: string;
    reference?: ReferenceRow[] | null;
    uri?: UriRow[] | null;
    token?: TokenRow[] | null;
  };
  return {
    key: _id,
    references: reference ?? [],
    urls: (uri ?? []).flatMap(({ p, value }) => (p === URL_PARAM ? [value] : [])),
    versions: (token ?? []).flatMap(({ p, code }) => (p === VERSION_PARAM && code !== undefined ? [code] : [])),
  };
}

/** The references that a document holds, whatever else it does. */
export function referencesIn(bytes: Raw): readonly ReferenceRow[] {
  const field = fieldsOf(bytes).get('reference');
  if (field === undefined) return [];
  const rows = readValue(bytes, field) as readonly ReadonlyMap<string, unknown>[];
  return rows.map((row) => Object.fromEntries(row) as unknown as ReferenceRow);
}

/** A place that a row names. */
export interface LinkPlace {
  readonly type: string;
  readonly id: string;
  /** That of another server. */
  readonly base?: string;
}

/** The place that a row names, wherever it is; undefined: it names none. */
export function placeIn({ to, id, by }: ReferenceRow): LinkPlace | undefined {
  if (to === undefined || id === undefined || by !== undefined) return undefined;
  const end = to.length - id.length - 1;
  const at = to.lastIndexOf('/', end - 1);
  return at < 0 ? { type: to.slice(0, end), id } : { type: to.slice(at + 1, end), id, base: to.slice(0, at) };
}

/** The type of the place that a row names; undefined: it names none on this server. */
export function typeOfPlace(row: ReferenceRow): string | undefined {
  const place = placeIn(row);
  return place?.base === undefined ? place?.type : undefined;
}

/** Whether a row is a canonical that names a resource, if its URL does. */
export function isCanonicalOf(
  { type: named, version }: ReferenceRow,
  type: string,
  versions: readonly string[],
): boolean {
  return (named === undefined || named === type) && (version === undefined || versions.includes(version));
}

/** Reads the type and id of a resource from its key. */
export function toKey(key: string): ResourceKey {
  const at = key.indexOf('/');
  return { type: key.slice(0, at), id: key.slice(at + 1) };
}
