import type { Interaction, Method, RouteRow } from '../contract/index.js';
import { NO_GUIDES, type GuideClaims } from '../core/definitions/guide-claims.js';
import { findGuideOperation, type OperationPlace } from '../core/definitions/guide-operation.js';
import { FhirError } from '../fhir/errors.js';
import { isId, whyNoId } from '../fhir/id.js';
import { nearest } from '../fhir/nearest.js';

/** Where a request goes. */
export interface Destination {
  readonly row: RouteRow;
  /** Absent on system level. */
  readonly type?: string;
  readonly id?: string;
  readonly versionId?: string;
  /** Of a search in a compartment: the type that is searched, or `*`. */
  readonly member?: string;
}

/** Finds the interaction behind a request. */
export interface Router {
  /**
   * The interaction for a method and a path (relative to the base, percent-encoded, without query).
   *
   * @throws FhirError `unknown-type`, `unknown-operation`, `unknown-path`, `not-wired`, `operation-unsupported`,
   *   `method-not-allowed`
   */
  find(method: string, path: string): Destination;
  /** Methods that a path takes, as `Allow` lists them; empty: none. */
  allowed(path: string): readonly string[];
}

/** Places of an operation that a refusal names. */
const MOST_PLACES = 3;

const METHODS: readonly Method[] = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'];

/** A path cut up: the templates that route rows are found by, and what stood in its places. */
interface Location {
  /** As rows of one type write it: `Patient/[id]`; absent where no row can be meant. */
  readonly own?: string;
  /** As rows of every type write it: `[type]/[id]`; absent where the path does not begin with a type. */
  readonly general?: string;
  readonly segments: readonly string[];
  readonly type?: string;
  readonly id?: string;
  readonly versionId?: string;
}

/**
 * A router over route rows: a Map lookup for each request.
 *
 * @param isWired whether there is anything behind a row; others are treated as absent, but a failure says what they are
 * @param isOff whether the configuration has switched a row off: a request finds it, and is refused once its scopes are checked
 * @param guides installed packages, which may define operations
 */
export function createRouter(
  rows: readonly RouteRow[],
  resourceTypes: readonly string[],
  isWired: (row: RouteRow) => boolean,
  isOff: (row: RouteRow) => boolean = () => false,
  guides: () => GuideClaims = () => NO_GUIDES,
): Router {
  const routes = new Map(rows.map((row) => [`${row.method} ${row.path}`, row]));
  const types = new Set(resourceTypes);
  const compartments = findCompartments(rows);

  function look(method: string, { own, general }: Location): RouteRow | undefined {
    if (own === undefined) return undefined;
    return (general === undefined ? undefined : routes.get(`${method} ${general}`)) ?? routes.get(`${method} ${own}`);
  }

  /**
   * Where a path leads for a method. A search that is posted to `_search` can also be asked for there by GET, as the `self` link of
   * its Bundle is. https://hl7.org/fhir/R5/search.html#selflink
   */
  function locateFor(method: string, path: string): Location {
    const location = locate(path, types);
    if ((method !== 'GET' && method !== 'HEAD') || location.segments.at(-1) !== SEARCH) return location;
    const row = look('POST', location);
    if (row === undefined) return location;
    const isOfAll = row.interaction === 'search-compartment' && location.segments.length === MEMBER + 1;
    // Cut off the path as it was sent, so that nothing is decoded twice.
    const above = path.replace(/\/?[^/]*\/?$/, '');
    return locate(isOfAll ? `${above}/*` : above, types);
  }

  function allowed(path: string): string[] {
    return METHODS.filter((method) => {
      const row = look(method, locateFor(method, path));
      return row !== undefined && isWired(row) && !isOff(row);
    }).flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method]));
  }

  /** Where an operation of this name is called, or which name is near. */
  function hintAt(operation: string): string {
    const places = new Map<string, string[]>();
    for (const row of rows) {
      const name = row.path.slice(row.path.lastIndexOf('/') + 1);
      if (name.startsWith('$') && isWired(row)) places.set(name, [...(places.get(name) ?? []), row.path]);
    }
    const own = places.get(operation);
    if (own !== undefined) return `; it is at ${[...new Set(own)].slice(0, MOST_PLACES).join(', ')}`;
    const near = nearest(operation, places.keys());
    return near === undefined ? '' : `; did you mean ${near}?`;
  }

  /** Why nothing is found: asked only after the lookup failed. */
  function explain(method: string, path: string, location: Location): FhirError {
    const { segments, type } = location;
    const allow = allowed(path).join(', ');
    const own = look(method === 'HEAD' ? 'GET' : method, location);
    if (own === undefined && allow !== '') {
      // The guide has it so: https://sql-on-fhir.org/ig/latest/OperationDefinition-SQLExport.html
      if ((method === 'GET' || method === 'HEAD') && look('POST', location)?.operation === 'sql-export') {
        const text = 'Tables are exported by POST, with the header Prefer: respond-async';
        return new FhirError('async-only', text, { issue: 'required', headers: { Allow: allow } });
      }
      return new FhirError('method-not-allowed', `${method} is not supported here, but ${allow}`, {
        headers: { Allow: allow },
      });
    }
    const operation = segments.find((segment) => segment.startsWith('$'));
    const known = own ?? METHODS.map((each) => look(each, location)).find((row) => row !== undefined);
    if (known !== undefined) {
      const { interaction } = known;
      const [name = `the interaction ${interaction}`, hint] = WORDS[interaction] ?? [];
      if (operation !== undefined) {
        return new FhirError('operation-unsupported', `This server does not support the operation ${operation}`);
      }
      const text = `This server does not support ${name} yet${hint === undefined ? '' : `; ${hint}`}`;
      return new FhirError('not-wired', text);
    }
    const [first = ''] = segments;
    if (type === undefined && first !== '' && !PROTOCOL_NAME.test(first)) {
      return unknownType(first, types);
    }
    if (operation !== undefined) {
      const defined = findGuideOperation(placeOf(operation, location), guides(), types);
      if (defined !== undefined) {
        const text = `This server has no implementation of ${operation}, which ${defined.url} defines`;
        return new FhirError('operation-unsupported', text);
      }
      const hint = hintAt(operation);
      return new FhirError(
        'unknown-operation',
        `Unknown operation ${JSON.stringify(operation.slice(0, 64))} here${hint}`,
      );
    }
    return whyNoCompartment(location, compartments, types) ?? new FhirError('unknown-path');
  }

  return {
    find(method, path) {
      const location = locateFor(method, path);
      const row = look(method === 'HEAD' ? 'GET' : method, location);
      if (row === undefined || !isWired(row)) throw explain(method, path, location);
      const { type, id, versionId, segments } = location;
      const member = row.interaction === 'search-compartment' ? memberOf(segments) : undefined;
      return {
        row,
        ...(type === undefined ? {} : { type }),
        ...(id === undefined ? {} : { id }),
        ...(versionId === undefined ? {} : { versionId }),
        ...(member === undefined ? {} : { member }),
      };
    },
    allowed,
  };
}

/** What is said of interactions whose names say too little: other words for them, and what can be done instead. */
const WORDS: Readonly<Partial<Record<Interaction, readonly [string | undefined, string?]>>> = {
  'conditional-delete': ['deletion over all types', 'a deletion by criteria names the type: [base]/[type]?…'],
};

/** The segment of a search in a compartment that names what is searched. */
const MEMBER = 2;

/** The last segment of a search that is posted. */
const SEARCH = '_search';

/** Who posts a search may leave out what stands for all types. https://hl7.org/fhir/R5/http.html#vsearch */
function memberOf(segments: readonly string[]): string | undefined {
  return segments[MEMBER] === SEARCH ? '*' : segments[MEMBER];
}

/** By the type of the compartment, the types that can be searched in it. */
type Compartments = ReadonlyMap<string, ReadonlySet<string>>;

function findCompartments(rows: readonly RouteRow[]): Compartments {
  const found = new Map<string, Set<string>>();
  for (const { interaction, path } of rows) {
    if (interaction !== 'search-compartment') continue;
    const [type = '', , member = ''] = path.split('/');
    const members = found.get(type) ?? new Set();
    found.set(type, members.add(member));
  }
  return found;
}

/** Why a path that has the form of a search in a compartment is none; undefined: it has another form. */
function whyNoCompartment(
  { type, id, segments }: Location,
  compartments: Compartments,
  types: ReadonlySet<string>,
): FhirError | undefined {
  const member = segments[MEMBER];
  const rest = segments.slice(MEMBER + 1).join('/');
  if (type === undefined || id === undefined || member === undefined || (rest !== '' && rest !== SEARCH))
    return undefined;
  if (compartments.size === 0 || (PROTOCOL_NAME.test(member) && member !== '*')) return undefined;
  // Names of types begin with a capital.
  if (member !== '*' && !types.has(member)) return /^[A-Z]/.test(member) ? unknownType(member, types) : undefined;
  if (!compartments.has(type)) {
    const others = [...compartments.keys()].join(', ');
    return new FhirError('unknown-path', `There is no compartment of ${type}; there is one of ${others}`);
  }
  const text = `${member} is not in the compartment of ${type}; search it by itself: [base]/${member}?…`;
  return new FhirError('unknown-path', text);
}

function unknownType(name: string, types: ReadonlySet<string>): FhirError {
  const near = name.length > 64 ? undefined : nearest(name, types);
  const hint = near === undefined ? '' : `; did you mean ${near}?`;
  return new FhirError('unknown-type', `Unknown resource type ${JSON.stringify(name.slice(0, 64))}${hint}`);
}

/** Where an operation is called. */
function placeOf(operation: string, { type, id }: Location): OperationPlace {
  const level = type === undefined ? 'system' : id === undefined ? 'type' : 'instance';
  return { name: operation.slice(1), level, ...(type !== undefined && { type }) };
}

/** Ids never begin with `_` or `$`, names of the protocol (`_history`, `$meta`) always do. */
const PROTOCOL_NAME = /^[_$*]/;

function locate(path: string, types: ReadonlySet<string>): Location {
  const segments = path.replace(/^\//, '').replace(/\/$/, '').split('/').map(decode);
  const [type = '', id, history, versionId] = segments;
  if (!types.has(type)) return segments.some(isNoName) ? { segments } : { own: segments.join('/'), segments };
  const hasId = id !== undefined && id !== '' && !PROTOCOL_NAME.test(id);
  const hasVersion =
    hasId && history === '_history' && versionId !== undefined && versionId !== '' && !PROTOCOL_NAME.test(versionId);
  const isPlace = (at: number): boolean => (hasId && at === 1) || (hasVersion && at === 3);
  if (segments.some((segment, at) => isNoName(segment) && !isPlace(at))) return { segments, type };
  const template = [...segments];
  if (hasId) template[1] = '[id]';
  if (hasVersion) template[3] = '[vid]';
  return {
    own: template.join('/'),
    general: ['[type]', ...template.slice(1)].join('/'),
    segments,
    type,
    ...(hasId ? { id } : {}),
    ...(hasVersion ? { versionId } : {}),
  };
}

/**
 * Whether a segment cannot stand for itself in a template: who writes `[type]` in a URL means no place, and a slash that
 * came in percent-encoded parts no segments.
 */
function isNoName(segment: string): boolean {
  return segment.includes('[') || segment.includes('/');
}

function decode(segment: string): string {
  try {
    return segment.includes('%') ? decodeURIComponent(segment) : segment;
  } catch {
    throw new FhirError('url-invalid', 'The URL has a wrong percent-encoding');
  }
}

/**
 * Whether an id of the URL can be one at all. Reading what cannot exist is `not-found`, writing it a fault of the URL.
 *
 * @throws FhirError
 */
export function checkUrlId(interaction: Interaction, id: string | undefined): void {
  if (id === undefined || isId(id) || interaction === 'delete') return;
  if (interaction === 'update' || interaction === 'patch') throw new FhirError('id-invalid', whyNoId(id));
  const rule = whyNoId(id) ?? 'an id is 1 to 64 letters, digits, "-" and "."';
  throw new FhirError('not-found', `There is no such resource: ${rule}`);
}
