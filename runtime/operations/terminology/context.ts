import type { OperationParameterRow } from '../../contract/index.js';
import type { Call } from '../../core/call.js';
import type { Services } from '../../core/services.js';
import { OPEN_ACCESS } from '../../auth/scopes/principal.js';
import { searchAccess } from '../../auth/access/search-access.js';
import { withinReach } from '../../auth/scopes/reach.js';
import { checkConstraintIndexes, recordConstraints } from '../../core/access/constraint-index-status.js';
import { readStored } from '../../core/read-stored.js';
import { FhirError } from '../../fhir/errors.js';
import type { JsonObject, Resource } from '../../fhir/resource.js';
import type { Condition } from '../../search/query/query.js';
import { createResolver, type FindStored, type Resolver, type VersionRules } from '../../terminology/resolver.js';
import { isVersion, type TerminologyType } from '../../terminology/version.js';
import type { ValueSetContext } from '../../terminology/value-set.js';
import { readArguments, valueOf, valuesOf, type Arguments } from '../arguments.js';
import { readNamed } from '../read-argument.js';

/** What terminology operations take besides the parameters of their definition: names of R4, and resources for one request. */
const MORE: readonly OperationParameterRow[] = [
  more('tx-resource', 'Resource', '*'),
  more('cache-id', 'id'),
  more('inferSystem', 'boolean'),
  more('lenient-display-validation', 'boolean'),
  more('valueset-membership-only', 'boolean'),
  more('default-to-latest-version', 'boolean'),
  more('includeHierarchy', 'boolean'),
  more('incomplete-ok', 'boolean'),
  more('valueSetVersion', 'string'),
  more('system-version', 'canonical', '*'),
  more('check-system-version', 'canonical', '*'),
  more('force-system-version', 'canonical', '*'),
];

/** A row of a parameter that the operation's definition lacks. */
export function more(name: string, type: string, max: number | '*' = 1): OperationParameterRow {
  return { name, use: 'in', min: 0, max, type } as OperationParameterRow;
}

/** What a terminology operation works with. */
export interface TerminologyCall {
  readonly found: Arguments;
  readonly resolver: Resolver;
  readonly context: ValueSetContext;
  text(name: string): string | undefined;
  isSet(name: string): boolean;
}

/**
 * Reads the arguments of a terminology operation and opens what it looks things up with.
 *
 * @param own rows of further parameters
 */
export function openTerminology(
  call: Call,
  services: Services,
  own: readonly OperationParameterRow[] = [],
): TerminologyCall {
  const found = readArguments(call, services, [...own, ...MORE]);
  const resources = valuesOf(found, 'tx-resource') as readonly Resource[];
  const resolver = createResolver(
    storedFinder(call, services),
    resources,
    valuesOf(found, 'useSupplement').map(String),
  );
  const rules = (name: string): ReadonlyMap<string, string> =>
    new Map(valuesOf(found, name).map((each) => String(each).split('|') as [string, string]));
  const versions: VersionRules = {
    system: rules('system-version'),
    force: rules('force-system-version'),
    check: rules('check-system-version'),
  };
  const context = {
    resolver,
    versions,
    signal: call.signal,
    used: { systems: new Set<string>(), valueSets: new Set<string>() },
  };
  return {
    found,
    resolver,
    context,
    text: (name) => valueOf(found, name) as string | undefined,
    isSet: (name) => valueOf(found, name) === true,
  };
}

/** What value sets are looked up with outside of a terminology operation: what is stored and what is shipped. */
export function openContext(call: Call, services: Services): ValueSetContext {
  const none: ReadonlyMap<string, string> = new Map();
  return {
    resolver: createResolver(storedFinder(call, services), []),
    versions: { system: none, force: none, check: none },
    signal: call.signal,
    used: { systems: new Set(), valueSets: new Set() },
  };
}

/** The resource that the URL, a canonical or a parameter gives. @throws FhirError `parameter-invalid`, `terminology-not-found` */
export async function resourceOf(
  type: TerminologyType,
  names: { readonly url: string; readonly version: string; readonly resource: string },
  { found, resolver, text }: TerminologyCall,
  call: Call,
  services: Services,
): Promise<Resource> {
  if (call.id !== undefined) return (await readNamed({ type, id: call.id }, call, services)).resource;
  const given = valueOf(found, names.resource);
  if (given !== undefined) return given as Resource;
  const url = text(names.url);
  if (url === undefined) {
    throw new FhirError(
      'parameter-invalid',
      `Name the ${type}: as "${names.url}", as "${names.resource}", or by its id in the URL`,
    );
  }
  const version = text(names.version);
  const resource =
    type === 'ValueSet' ? await resolver.valueSet(url, version) : type === 'ConceptMap' ? await resolver.conceptMap(url, version) : (await resolver.codeSystem(url, version))?.resource; // prettier-ignore
  if (resource !== undefined) return resource;
  throw new FhirError('terminology-not-found', `The server does not know the ${type} ${JSON.stringify(url)}`);
}

/** How long what was found in the store is believed, in milliseconds: all processes see a change within two seconds. */
const BELIEVED = 1000;

interface Known {
  readonly at: number;
  readonly resource: Resource | undefined;
}

/** What tokens without constraints have found in a store. */
const known = new WeakMap<object, Map<string, Known>>();

/** Resources that are kept parsed, by type, id and version. */
const parsed = new WeakMap<object, Map<string, Resource>>();
const KEPT = 200;

/** Finds stored resources within what the token may read or search: another one is as good as missing. */
function storedFinder(call: Call, services: Services): FindStored {
  const { store, tables } = services;
  const { access } = call.principal;
  const recorded = recordConstraints(access === OPEN_ACCESS ? access : searchAccess(access, tables.resourceTypes));
  return async (type, url, version) => {
    const reach = recorded.onAny(type, ['r', 's']);
    if (reach === 'nothing') return undefined;
    const key = `${type} ${url}|${version ?? ''}`;
    const answers = known.get(store) ?? new Map<string, Known>();
    known.set(store, answers);
    const answer = reach === 'everything' ? answers.get(key) : undefined;
    if (answer !== undefined && performance.now() - answer.at < BELIEVED) return answer.resource;
    await checkConstraintIndexes(recorded.constraints, services);
    const byUrl: Condition = { param: 'url', any: [{ is: 'uri-equals', value: url }] };
    const { versions } = await store.find(
      { type, where: withinReach({ all: [byUrl] }, reach), sort: [], count: 50, total: 'none' },
      call.signal,
    );
    const all: Resource[] = [];
    for (const each of versions) {
      const texts = parsed.get(store) ?? new Map<string, Resource>();
      parsed.set(store, texts);
      const name = `${type}/${each.id}/${each.version}`;
      const resource = texts.get(name) ?? (await readStored(each.json ?? '{}', services));
      texts.delete(name);
      texts.set(name, resource);
      if (texts.size > KEPT) texts.delete(texts.keys().next().value!);
      all.push(resource);
    }
    const resource = latest(all.filter((each) => version === undefined || isVersion(each['version'], version)));
    if (reach === 'everything') {
      if (answers.size > 5 * KEPT) answers.clear();
      answers.set(key, { at: performance.now(), resource });
    }
    return resource;
  };
}

/** The greatest version; numbers in it compare as numbers. */
function latest(resources: readonly Resource[]): Resource | undefined {
  const of = (resource: Resource): string => String(resource['version'] ?? '');
  return [...resources].sort((a, b) => of(b).localeCompare(of(a), 'en', { numeric: true }))[0];
}

/** A Parameters resource; parameters whose value is undefined are left out. */
export function parametersOf(...rows: readonly (readonly [name: string, kind: string, value: unknown])[]): {
  readonly status: 200;
  readonly resource: JsonObject;
} {
  const parameter = rows
    .filter(([, , value]) => value !== undefined)
    .map(([name, kind, value]) => ({ name, [kind]: value }));
  return { status: 200, resource: { resourceType: 'Parameters', parameter } as JsonObject };
}

/** The languages of a call, the best first: `displayLanguage`, else `Accept-Language` is not read. */
export function languagesOf({ text }: TerminologyCall): readonly string[] {
  const asked = text('displayLanguage');
  return asked === undefined ? [] : asked.split(',').map((each) => each.split(';')[0]!.trim()).filter((each) => each !== '' && each !== '*'); // prettier-ignore
}
