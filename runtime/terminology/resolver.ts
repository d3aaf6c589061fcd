import { FhirError } from '../fhir/errors.js';
import { type JsonObject, objectsOf, type Resource } from '../fhir/resource.js';
import { indexCodeSystem, type CodeSystemIndex, type Spend } from './concepts.js';
import type { Effort } from './effort.js';
import { GRAMMARS } from './systems/grammar.js';
import { implicitValueSet, systemsBehind } from './implicit.js';
import { listedSystem } from './systems/listed-system.js';
import { shippedResource } from './shipped.js';
import { isVersion, latest, type TerminologyType } from './version.js';

/** Finds a stored resource by its URL and, where one is asked for, its version, as far as the client may see it. */
export type FindStored = (type: TerminologyType, url: string, version?: string) => Promise<Resource | undefined>;

/** Versions that a client asks for, by URL. https://hl7.org/fhir/R5/valueset-operation-expand.html */
export interface VersionRules {
  /** Used where the value set names none. */
  readonly system: ReadonlyMap<string, string>;
  /** Used whatever the value set names. */
  readonly force: ReadonlyMap<string, string>;
  /** What is used has to be this. */
  readonly check: ReadonlyMap<string, string>;
}

/** No version is asked for. */
export const ANY_VERSION: VersionRules = { system: new Map(), force: new Map(), check: new Map() };

/** The version that rules choose. */
export function chosenVersion(rules: VersionRules, url: string, named: string | undefined): string | undefined {
  return rules.force.get(url) ?? named ?? rules.check.get(url) ?? rules.system.get(url);
}

/** Finds what terminology operations work with: what came with the request, what is stored, and what is shipped, in this order. */
export interface Resolver {
  /** A canonical may name its version after a bar. Value sets that are only implied by a code system are found too. */
  valueSet(canonical: string, version?: string): Promise<Resource | undefined>;
  conceptMap(canonical: string, version?: string): Promise<Resource | undefined>;
  /**
   * A code system with the supplements that the request or the value set names.
   *
   * @param supplements canonicals that count beside those of the request
   */
  codeSystem(url: string, version?: string, supplements?: readonly string[]): Promise<CodeSystemIndex | undefined>;
}

/** Options of a resolver. */
export interface ResolverOptions {
  /** Resources that came with the request, for it alone. */
  readonly own?: readonly Resource[];
  /** Canonicals of CodeSystems that supplement others. */
  readonly supplements?: readonly string[];
  /** Versions of value sets that value sets draw from. */
  readonly valueSets?: VersionRules;
  /** Counts the supplements that are looked up, and the concepts of what came with the request. */
  readonly effort?: Effort;
}

/** An index of a code system with its supplements. */
interface Indexed {
  readonly supplements: readonly Resource[];
  readonly index: Promise<CodeSystemIndex>;
}

/** Indexes of code systems, kept as long as the resource they are made of: each with its supplements. */
const indexes = new WeakMap<Resource, readonly Indexed[]>();

/** Indexes that are kept of one resource. */
const KEPT = 4;

/** @param findStored what the client may see of the store */
export function createResolver(
  findStored: FindStored,
  { own = [], supplements: named = [], valueSets, effort }: ResolverOptions = {},
): Resolver {
  const ownByUrl = new Map<string, Resource[]>();
  for (const each of own) {
    const key = `${each.resourceType} ${String(each['url'])}`;
    const others = ownByUrl.get(key);
    if (others === undefined) ownByUrl.set(key, [each]);
    else others.push(each);
  }
  const isOwn = new Set(own);
  const find = async (type: TerminologyType, canonical: string, given?: string): Promise<Resource | undefined> => {
    const [url = '', after] = splitCanonical(canonical);
    const asked = given ?? after;
    const version = type === 'ValueSet' && valueSets !== undefined ? chosenVersion(valueSets, url, asked) : asked;
    const ofUrl = ownByUrl.get(`${type} ${url}`) ?? [];
    effort?.spend(ofUrl.length);
    const sent = ofUrl.filter((each) => version === undefined || isVersion(each['version'], version));
    return latest(sent) ?? (await findStored(type, url, version)) ?? shippedResource(type, url, version);
  };
  const supplementsOf = async (resource: Resource, canonicals: readonly string[]): Promise<readonly Resource[]> => {
    const found = new Set<Resource>();
    for (const canonical of canonicals) {
      effort?.spend(1);
      const supplement = await find('CodeSystem', canonical);
      if (supplement === undefined || supplement['content'] !== 'supplement') {
        throw new FhirError(
          'terminology-not-found',
          `The server does not know the supplement ${JSON.stringify(canonical)}`,
        );
      }
      const [target, version] = splitCanonical(String(supplement['supplements'] ?? ''));
      const isOf = target === resource['url'] && (version === undefined || isVersion(resource['version'], version));
      if (isOf) found.add(supplement);
    }
    return [...found];
  };
  // Supplements that came with the request are meant, whether or not they are named.
  const sentSupplements = own
    .filter((each) => each.resourceType === 'CodeSystem' && each['content'] === 'supplement')
    .map(({ url, version }) => (version === undefined ? String(url) : `${String(url)}|${String(version)}`));
  return {
    async valueSet(canonical, given) {
      const found = await find('ValueSet', canonical, given);
      if (found !== undefined) return found;
      const [url, after] = splitCanonical(canonical);
      const version = chosenVersion(valueSets ?? ANY_VERSION, url, given ?? after);
      effort?.spend(own.length);
      const sent = own.filter((each) => version === undefined || isVersion(each['version'], version));
      return implicitValueSet(url, [...sent, ...(await systemsImplying(url, version, find))]);
    },
    conceptMap: (canonical, version) => find('ConceptMap', canonical, version),
    async codeSystem(url, version, more = []) {
      const found = await find('CodeSystem', url, version);
      const isListed = found?.['content'] === 'not-present' || (found === undefined && version === undefined);
      const resource = (isListed ? listedSystem(url) : undefined) ?? found;
      if (resource === undefined) return undefined;
      const canonicals = [...named, ...more, ...sentSupplements];
      const supplements = canonicals.length === 0 ? [] : await supplementsOf(resource, canonicals);
      // What is stored is indexed once for all requests.
      const spend = effort !== undefined && isOwn.has(resource) ? (steps: number) => effort.spend(steps) : undefined;
      return indexOf(resource, supplements, spend);
    },
  };
}

/**
 * The index of a resource, made once for each set of supplements.
 *
 * @param spend counts its concepts, where it is made for one request alone
 */
export function indexOf(
  resource: Resource,
  supplements: readonly Resource[] = [],
  spend?: Spend,
): Promise<CodeSystemIndex> {
  const known = indexes.get(resource) ?? [];
  const before = known.find(
    (each) =>
      each.supplements.length === supplements.length && each.supplements.every((one, i) => one === supplements[i]),
  );
  if (before !== undefined) return before.index;
  const index = indexCodeSystem(resource, supplements, spend);
  indexes.set(resource, [...known, { supplements, index }].slice(-KEPT));
  return index;
}

/** URL and version of a canonical. */
export function splitCanonical(canonical: string): readonly [url: string, version?: string] {
  const bar = canonical.indexOf('|');
  return bar < 0 ? [canonical] : [canonical.slice(0, bar), canonical.slice(bar + 1)];
}

const SUPPLEMENT = 'http://hl7.org/fhir/StructureDefinition/valueset-supplement';

/** Canonicals of the supplements that a value set asks for. https://hl7.org/fhir/extensions/StructureDefinition-valueset-supplement.html */
export function supplementsNamedBy(valueSet: Resource): readonly string[] {
  const { compose } = valueSet as { compose?: JsonObject };
  return [...objectsOf(valueSet['extension']), ...objectsOf(compose?.['extension'])]
    .filter(({ url }) => url === SUPPLEMENT)
    .map(({ valueCanonical, valueUri }) => String(valueCanonical ?? valueUri));
}

/** The code systems that may imply a value set, in the version asked for. Rules have none, and are of any. */
async function systemsImplying(
  valueSet: string,
  version: string | undefined,
  find: (type: TerminologyType, canonical: string, version?: string) => Promise<Resource | undefined>,
): Promise<readonly Resource[]> {
  const found: Resource[] = [];
  for (const url of systemsBehind(valueSet)) {
    const listed = version === undefined ? listedSystem(url) : undefined;
    const system = (await find('CodeSystem', url, version)) ?? listed ?? GRAMMARS.get(url)?.resource;
    if (system !== undefined) found.push(system);
  }
  return found;
}
