import type { Resource } from '../fhir/resource.js';
import { indexCodeSystem, type CodeSystemIndex } from './concepts.js';
import { shippedResource } from './shipped.js';
import { isVersion, type TerminologyType } from './version.js';

/** Finds a stored resource by its URL and, where one is asked for, its version, as far as the client may see it. */
export type FindStored = (type: TerminologyType, url: string, version?: string) => Promise<Resource | undefined>;

/** Versions of code systems that a client asks for. https://hl7.org/fhir/R5/valueset-operation-expand.html */
export interface VersionRules {
  /** By system: used where the value set names none. */
  readonly system: ReadonlyMap<string, string>;
  /** By system: used whatever the value set names. */
  readonly force: ReadonlyMap<string, string>;
  /** By system: what is used has to be this. */
  readonly check: ReadonlyMap<string, string>;
}

/** Finds what terminology operations work with: what came with the request, what is stored, and what is shipped, in this order. */
export interface Resolver {
  valueSet(canonical: string, version?: string): Promise<Resource | undefined>;
  conceptMap(canonical: string, version?: string): Promise<Resource | undefined>;
  codeSystem(url: string, version?: string): Promise<CodeSystemIndex | undefined>;
}

/** Indexes of code systems, kept as long as the resource they are made of. */
const indexes = new WeakMap<Resource, CodeSystemIndex>();

/**
 * @param own resources that came with the request, for it alone
 * @param supplements canonicals of CodeSystems that supplement others
 */
export function createResolver(
  findStored: FindStored,
  own: readonly Resource[],
  supplements: readonly string[] = [],
): Resolver {
  const find = async (type: TerminologyType, canonical: string, given?: string): Promise<Resource | undefined> => {
    const [url = '', named] = canonical.split('|');
    const version = given ?? named;
    const matches = (each: Resource): boolean =>
      each.resourceType === type &&
      each['url'] === url &&
      (version === undefined || isVersion(each['version'], version));
    return own.find(matches) ?? (await findStored(type, url, version)) ?? shippedResource(type, url, version);
  };
  return {
    valueSet: (canonical, version) => find('ValueSet', canonical, version),
    conceptMap: (canonical, version) => find('ConceptMap', canonical, version),
    async codeSystem(url, version) {
      const resource = await find('CodeSystem', url, version);
      if (resource === undefined) return undefined;
      const more: Resource[] = [];
      for (const canonical of supplements) {
        const supplement = await find('CodeSystem', canonical);
        const [target] = String(supplement?.['supplements'] ?? '').split('|');
        if (supplement !== undefined && target === resource['url']) more.push(supplement);
      }
      if (more.length > 0) return indexCodeSystem(resource, more);
      let index = indexes.get(resource);
      if (index === undefined) indexes.set(resource, (index = indexCodeSystem(resource)));
      return index;
    },
  };
}
