import type { Interaction } from '../../contract/index.js';
import { FhirError } from '../../fhir/errors.js';
import { isObject, type JsonObject, type JsonValue, type Resource } from '../../fhir/resource.js';
import type { Conditions } from '../../core/call.js';
import type { EntryRoute } from '../../core/services.js';
import type { Services } from '../../core/services.js';
import { entryPath, inEntry } from './entry-error.js';
import type { OwnBases } from '../../path/own-bases.js';
import { quote } from '../../fhir/quote.js';

/** When an entry is executed: those of a lower phase before those of a higher. https://hl7.org/fhir/R5/http.html#trules */
export enum Phase {
  Delete,
  Create,
  Update,
  Read,
}

/** An entry of a batch or transaction, read as far as that can be done without the others. */
export interface Entry {
  /** Its place in the Bundle, from 0. */
  readonly index: number;
  readonly phase: Phase;
  readonly method: string;
  readonly route: EntryRoute;
  readonly fullUrl?: string;
  readonly resource?: Resource;
  readonly conditions: Conditions;
}

/** Services that entries are read with. */
export type EntryServices = Pick<Services, 'entries' | 'limits' | 'own'>;

const METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE']);

const PHASES: Readonly<Partial<Record<Interaction, Phase>>> = {
  delete: Phase.Delete,
  'conditional-delete': Phase.Delete,
  create: Phase.Create,
  update: Phase.Update,
  'conditional-update': Phase.Update,
  patch: Phase.Update,
  'conditional-patch': Phase.Update,
};

/**
 * Reads an entry. A URL below a base of this server is as good as a relative one, others are refused.
 * https://hl7.org/fhir/R5/bundle-definitions.html#Bundle.entry.request
 *
 * @throws FhirError with the place in the Bundle
 */
export function readEntry(value: JsonValue, index: number, { entries, limits, own }: EntryServices): Entry {
  const at = entryPath(index);
  const request = isObject(value) ? value['request'] : undefined;
  if (!isObject(value) || !isObject(request)) {
    throw new FhirError('bundle-entry', 'The entry has no request', { expression: `${at}.request` });
  }
  const { method, url } = request;
  if (typeof method !== 'string' || !METHODS.has(method)) {
    const text = `The method has to be one of ${[...METHODS].join(', ')}`;
    throw new FhirError('bundle-entry', text, { expression: `${at}.request.method` });
  }
  const expression = `${at}.request.url`;
  if (typeof url !== 'string') throw new FhirError('bundle-entry', 'The request has no URL', { expression });
  if (url.length > limits.url) {
    throw new FhirError('url-too-long', `A URL may have ${limits.url} characters`, { expression });
  }
  const path = relativeUrl(url, own);
  if (path === undefined) {
    const shown = quote(url);
    const text = `The URL ${shown} lies under another base than that of this server; name it relative to the base, such as Patient/1`;
    throw new FhirError('bundle-entry', text, { expression });
  }
  const route = findAt(expression, index, () => entries.route(method, path));
  if (route.interaction === 'bundle') {
    const text = 'A Bundle cannot be executed within a Bundle; to store one its URL is Bundle';
    throw new FhirError('bundle-entry', text, { expression });
  }
  checkConditions(request, method, at, limits.url);
  const { resource, fullUrl } = value;
  return {
    index,
    phase: PHASES[route.interaction] ?? Phase.Read,
    method,
    route,
    ...(typeof fullUrl === 'string' ? { fullUrl } : {}),
    ...(isObject(resource) ? { resource: resource as Resource } : {}),
    conditions: readConditions(request),
  };
}

/** The path and query of a URL, with a slash before; undefined: it lies under another base. */
export function relativeUrl(url: string, own: OwnBases): string | undefined {
  const [path, ...query] = url.split('?');
  const local = own.below(`${path}/`);
  if (local !== undefined) return `/${[local.slice(0, -1), ...query].join('?')}`;
  if (/^[a-z][a-z0-9+.-]*:|^\/\//i.test(url)) return undefined;
  return url.startsWith('/') ? url : `/${url}`;
}

function findAt(expression: string, index: number, find: () => EntryRoute): EntryRoute {
  try {
    return find();
  } catch (error) {
    if (!(error instanceof FhirError)) throw error;
    const [first, ...others] = error.issues;
    throw inEntry(index, FhirError.of([{ ...first, expression }, ...others]));
  }
}

/** Methods that conditions of writes are about. A condition that has no effect would be worse than none. */
const CONDITIONED: Readonly<Record<string, readonly string[]>> = {
  ifNoneExist: ['POST'],
  ifMatch: ['PUT', 'PATCH', 'DELETE'],
};

/** @param longest criteria, in characters: as long as a URL */
function checkConditions(request: JsonObject, method: string, at: string, longest: number): void {
  for (const [name, methods] of Object.entries(CONDITIONED)) {
    if (request[name] === undefined || methods.includes(method)) continue;
    const hint = name === 'ifNoneExist' && method === 'PUT' ? '; ifNoneMatch "*" only creates' : '';
    const text = `${name} goes with ${methods.join(', ')}, not with ${method}${hint}`;
    throw new FhirError('bundle-entry', text, { expression: `${at}.request.${name}` });
  }
  const { ifNoneExist } = request;
  if (typeof ifNoneExist === 'string' && ifNoneExist.length > longest) {
    const text = `ifNoneExist may have ${longest} characters, as a URL`;
    throw new FhirError('parameter-invalid', text, { expression: `${at}.request.ifNoneExist` });
  }
}

function readConditions(request: JsonObject): Conditions {
  const text = (name: string): string | undefined => {
    const value = request[name];
    return typeof value === 'string' ? value : undefined;
  };
  const [ifMatch, ifNoneMatch, ifNoneExist] = [text('ifMatch'), text('ifNoneMatch'), text('ifNoneExist')];
  const since = Date.parse(text('ifModifiedSince') ?? '');
  return {
    ...(ifMatch === undefined ? {} : { ifMatch }),
    ...(ifNoneMatch === undefined ? {} : { ifNoneMatch }),
    ...(ifNoneExist === undefined ? {} : { ifNoneExist }),
    ...(Number.isNaN(since) ? {} : { ifModifiedSince: since, isSinceExact: true as const }),
  };
}
