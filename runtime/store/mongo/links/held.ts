import { BSON, type Document } from 'mongodb';

import { linksOf, type Plan, type PlannedLink } from '../find/plan.js';
import type { Raw } from '../bson.js';
import type { ReferenceRow, TokenRow, UriRow } from '../documents.js';
import { referenceParam } from '../index-rows.js';

/** What of a resource links go by. */
export interface Held {
  /** `Patient/1`. */
  readonly key: string;
  readonly references: readonly ReferenceRow[];
  /** What canonicals name it by. */
  readonly urls: readonly string[];
  readonly versions: readonly string[];
}

/** Parameters whose values canonicals name. https://hl7.org/fhir/R5/references.html#canonical */
export const [URL_PARAM, VERSION_PARAM] = ['url', 'version'] as const;

/** What of it is needed. */
export interface Need {
  /** Parameters of references. */
  readonly params: readonly string[];
  readonly names: boolean;
}

/** What the links of a plan need. */
export function needOf(plan: Plan): Need {
  const links: readonly PlannedLink[] = linksOf(plan);
  const params = links.flatMap((link) => ('chain' in link ? [link.param] : []));
  return { params: [...new Set(params)], names: links.some((link) => 'has' in link) };
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
    resource: 0,
    numbers: 0,
    ...(params.length === 0 && { reference: 0 }),
    ...(!names && { uri: 0, token: 0 }),
  };
}

/** What a document holds of it. */
export function toHeld(bytes: Raw): Held {
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

/** The type of the place that a row names; undefined: it names none on this server. */
export function typeOfPlace({ to, id, by }: ReferenceRow): string | undefined {
  if (to === undefined || id === undefined || by !== undefined) return undefined;
  const type = to.slice(0, -id.length - 1);
  return type.includes('/') ? undefined : type;
}

/** Whether a row is a canonical that names a resource, if its URL does. */
export function isCanonicalOf(
  { type: named, version }: ReferenceRow,
  type: string,
  versions: readonly string[],
): boolean {
  return (named === undefined || named === type) && (version === undefined || versions.includes(version));
}
