import type { OperationParameterRow } from '../../contract/index.js';
import type { Call } from '../../core/call.js';
import type { LookupServices, Services } from '../../core/services.js';
import { FhirError } from '../../fhir/errors.js';
import { type JsonObject, objectsOf, type Resource } from '../../fhir/resource.js';
import { dateInterval } from '../../indexing/values/date-interval.js';
import type { CodeSystemIndex } from '../concepts.js';
import { Effort } from '../effort.js';
import { ANY_LANGUAGE, parseLanguages, type Languages } from '../systems/languages.js';
import { createResolver, indexOf, splitCanonical, type Resolver, type VersionRules } from '../resolver.js';
import { storedFinder } from '../stored.js';
import type { TerminologyType } from '../version.js';
import type { ValueSetContext } from '../value-set.js';
import { readArguments, valueOf, valuesOf, type Arguments } from '../../operations/common/arguments.js';
import { findFirst } from '../../operations/common/find-matches.js';
import { readNamed } from '../../operations/common/read-argument.js';
import { boundValueSet } from './bound-value-set.js';

/**
 * What terminology operations take besides the parameters of their definition: names of R4 and of later releases, and what clients of the
 * terminology services of HL7 send. https://hl7.org/fhir/uv/tx-ecosystem/requirements.html
 */
const MORE: readonly OperationParameterRow[] = [
  more('tx-resource', 'Resource', '*'),
  more('inferSystem', 'boolean'),
  more('lenient-display-validation', 'boolean'),
  more('valueset-membership-only', 'boolean'),
  more('mode', 'code'),
  more('valueSetMode', 'code'),
  more('activeOnly', 'boolean'),
  more('displayLanguage', 'string'),
  more('includeHierarchy', 'boolean'),
  more('incomplete-ok', 'boolean'),
  more('valueSetVersion', 'string'),
  more('useSupplement', 'canonical', '*', ['uri', 'string']),
  ...['system-version', 'check-system-version', 'force-system-version'].map((name) => more(name, 'canonical', '*', ['uri', 'string'])), // prettier-ignore
  ...['default-valueset-version', 'check-valueset-version', 'force-valueset-version'].map((name) => more(name, 'canonical', '*', ['uri', 'string'])), // prettier-ignore
  // These change nothing here: there is no cache for clients to name, no code is post-coordinated, and diagnostics are in the log.
  ...['cache-id', 'x-system-cache-id', 'uuid', 'profile-url'].map((name) => more(name, 'string', 1, ['id', 'code', 'uri', 'uuid'])), // prettier-ignore
  ...['default-to-latest-version', 'no-cache', 'diagnostics', 'includeAlternateCodes', 'includeDefinition'].map((name) => more(name, 'boolean')), // prettier-ignore
];

/** A row of a parameter that the operation's definition lacks. */
export function more(
  name: string,
  type: string,
  max: number | '*' = 1,
  others: readonly string[] = [],
): OperationParameterRow {
  const row = { name, use: 'in', min: 0, max, type } as OperationParameterRow;
  return others.length === 0 ? row : ({ ...row, allowedTypes: [type, ...others] } as OperationParameterRow);
}

/** Arguments, resolver and context of a terminology operation. */
export interface TerminologyCall {
  readonly found: Arguments;
  readonly resolver: Resolver;
  readonly context: ValueSetContext & { readonly effort: Effort };
  text(name: string): string | undefined;
  isSet(name: string): boolean;
}

/**
 * Reads the arguments of a terminology operation and opens what it looks things up with.
 *
 * @param own rows of further parameters
 * @throws FhirError `parameter-invalid`
 */
export function openTerminology(
  call: Call,
  services: Services,
  own: readonly OperationParameterRow[] = [],
): TerminologyCall {
  const found = readArguments(call, services, [
    ...own,
    ...MORE.filter(({ name }) => !own.some((each) => each.name === name)),
  ]);
  const sent = ['tx-resource', 'valueSet', 'codeSystem', 'conceptMap'].flatMap((name) => valuesOf(found, name)) as unknown as readonly Resource[]; // prettier-ignore
  const resources = sent.flatMap((each) => [each, ...(objectsOf(each['contained']) as readonly Resource[])]);
  const rules = (name: string): ReadonlyMap<string, string> =>
    new Map(
      valuesOf(found, name).map((each) => {
        const [url, version] = splitCanonical(String(each));
        if (version === undefined) throw new FhirError('parameter-invalid', `The parameter "${name}" is a URL and a version: url|version`); // prettier-ignore
        return [url, version];
      }),
    );
  const versions: VersionRules = {
    system: rules('system-version'),
    force: rules('force-system-version'),
    check: rules('check-system-version'),
  };
  const valueSets: VersionRules = {
    system: rules('default-valueset-version'),
    force: rules('force-valueset-version'),
    check: rules('check-valueset-version'),
  };
  const date = valueOf(found, 'date');
  const until = typeof date === 'string' ? dateInterval(date, services.zone)?.high : undefined;
  const reader = { access: call.principal.access, signal: call.signal, ...(until !== undefined && { date: until }) };
  const supplements = valuesOf(found, 'useSupplement').map(String);
  const effort = new Effort(call.signal);
  const resolver = createResolver(storedFinder(reader, services), { own: resources, supplements, valueSets, effort });
  const used = { systems: new Set<string>(), valueSets: new Set<string>() };
  return {
    found,
    resolver,
    context: { resolver, versions, signal: call.signal, used, effort },
    text: (name) => valueOf(found, name) as string | undefined,
    isSet: (name) => valueOf(found, name) === true,
  };
}

/** Makes the context for looking up value sets outside of a terminology operation, among stored and shipped definitions. */
export function openContext(call: Pick<Call, 'principal' | 'signal'>, services: LookupServices): ValueSetContext {
  const none: ReadonlyMap<string, string> = new Map();
  const reader = { access: call.principal.access, signal: call.signal };
  const versions = { system: none, force: none, check: none };
  return {
    resolver: createResolver(storedFinder(reader, services), { own: [], supplements: [], valueSets: versions }),
    versions,
    signal: call.signal,
    used: { systems: new Set(), valueSets: new Set() },
    effort: new Effort(call.signal),
  };
}

/** Names of the parameters that say which resource is meant. */
export interface ResourceNames {
  readonly url: string;
  readonly version: string;
  readonly resource: string;
}

/** The resource that the URL, a canonical or a parameter gives. @throws FhirError `parameter-invalid`, `terminology-not-found` */
export async function resourceOf(
  type: TerminologyType,
  names: ResourceNames,
  opened: TerminologyCall,
  call: Call,
  services: Services,
): Promise<Resource> {
  const { found, text } = opened;
  if (call.id !== undefined) return resourceAt(type, call.id, call, services);
  const given = valueOf(found, names.resource);
  if (given !== undefined) return given as Resource;
  const bound = type === 'ValueSet' ? text('context') : undefined;
  const url = text(names.url) ?? (bound === undefined ? undefined : boundValueSet(bound, services.tables));
  if (url === undefined) {
    throw new FhirError(
      'parameter-invalid',
      `Name the ${type}: as "${names.url}", as "${names.resource}", or by its id in the URL`,
    );
  }
  const version = text(names.version);
  const resource = await findNamed(type, url, version, opened);
  if (resource !== undefined) return resource;
  const canonical = version === undefined ? url : `${url}|${version}`;
  throw new FhirError('terminology-not-found', `The server does not know the ${type} ${JSON.stringify(canonical)}`);
}

/** The resource of an instance: read, or searched for where the token has `s` alone. @throws FhirError `not-found`, `deleted` */
async function resourceAt(type: TerminologyType, id: string, call: Call, services: Services): Promise<Resource> {
  const { access } = call.principal;
  if (access.on(type, 'r') !== 'nothing') return (await readNamed({ type, id }, call, services)).resource;
  const found = await findFirst(type, [['_id', id]], call, services);
  if (found === undefined) throw new FhirError('not-found', `There is no ${type}/${id}`);
  return found;
}

/** A resource by its URL. */
export async function findNamed(
  type: TerminologyType,
  url: string,
  version: string | undefined,
  { resolver }: TerminologyCall,
): Promise<Resource | undefined> {
  if (type === 'ValueSet') return resolver.valueSet(url, version);
  if (type === 'ConceptMap') return resolver.conceptMap(url, version);
  return (await resolver.codeSystem(url, version))?.resource;
}

/** The index of a CodeSystem: with its supplements where the server finds it by its URL too. */
export async function systemAt(resource: Resource, { resolver }: TerminologyCall): Promise<CodeSystemIndex> {
  const { url, version } = resource;
  const known = typeof url === 'string' ? await resolver.codeSystem(url, version as string | undefined) : undefined;
  return known?.resource === resource ? known : indexOf(resource);
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

/**
 * The languages that displays are wanted in: `displayLanguage`, else what the value set says, else the header `Accept-Language`, else the
 * language of the value set. https://hl7.org/fhir/uv/tx-ecosystem/languages.html
 *
 * @throws FhirError `parameter-invalid`
 */
export function languagesOf({ text }: TerminologyCall, call: Call, valueSet?: Resource): Languages {
  const asked = text('displayLanguage') ?? (valueSet === undefined ? undefined : expansionLanguage(valueSet));
  if (asked !== undefined) return parseLanguages(asked);
  try {
    const header = call.languages === undefined ? ANY_LANGUAGE : parseLanguages(call.languages);
    // `*`, which some clients always send, says nothing.
    if (header.tags.length > 0) return header;
  } catch {
    // A header that cannot be read is no reason to refuse the request.
  }
  const own = valueSet?.['language'];
  return typeof own === 'string' ? parseLanguages(own) : ANY_LANGUAGE;
}

/** Ways in which a value set says with what parameters it wants to be expanded. */
const EXPANSION_PARAMETERS: ReadonlySet<unknown> = new Set([
  'http://hl7.org/fhir/StructureDefinition/valueset-expansion-parameter',
  'http://hl7.org/fhir/tools/StructureDefinition/valueset-expansion-parameter',
  'http://hl7.org/fhir/tools/StructureDefinition/valueset-expansion-param',
  // As HL7's test cases for terminology servers spell it.
  'http://hl7.org/fhir/tools/StructureDefinion/valueset-expansion-param',
]);

function expansionLanguage(valueSet: Resource): string | undefined {
  const compose = valueSet['compose'] as JsonObject | undefined;
  for (const { url, extension } of [...objectsOf(compose?.['extension']), ...objectsOf(valueSet['extension'])]) {
    if (!EXPANSION_PARAMETERS.has(url)) continue;
    const parts = objectsOf(extension);
    const part = (name: string): JsonObject | undefined => parts.find((each) => each['url'] === name);
    if (part('name')?.['valueCode'] !== 'displayLanguage' && part('name')?.['valueString'] !== 'displayLanguage') continue; // prettier-ignore
    const value = part('value') ?? {};
    return String(value['valueCode'] ?? value['valueString']);
  }
  return undefined;
}
