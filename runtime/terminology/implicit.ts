import type { Resource } from '../fhir/resource.js';

/**
 * A value set that no resource defines, but a code system: `[system]?fhir_vs` has all of its codes, `[system]?fhir_vs=isa/[code]` those
 * below one; `CodeSystem.valueSet`, `[system]/vs` and the URL of the system itself name a value set of all codes.
 * https://hl7.org/fhir/R5/codesystem-definitions.html#CodeSystem.valueSet, https://hl7.org/fhir/R5/terminology-service.html#validation
 *
 * @param url without a version: that of the value set is the version of its code system
 * @param systems code systems that may imply it
 */
export function implicitValueSet(url: string, systems: readonly Resource[]): Resource | undefined {
  const at = url.indexOf('?fhir_vs');
  const [base, query] = at < 0 ? [undefined, ''] : [url.slice(0, at), url.slice(at + '?fhir_vs'.length)];
  const system = systems.find(
    (each) => each.resourceType === 'CodeSystem' && (base === undefined ? isNamed(each, url) : each['url'] === base),
  );
  if (system === undefined) return undefined;
  const filter =
    query === ''
      ? undefined
      : query.startsWith('=isa/')
        ? [{ property: 'concept', op: 'is-a', value: decodeURIComponent(query.slice('=isa/'.length)) }]
        : 'unknown';
  if (filter === 'unknown') return undefined;
  return made(url, system, filter);
}

/** URLs of code systems that may imply a value set, whose URL has no version. */
export function systemsBehind(url: string): readonly string[] {
  const at = url.indexOf('?fhir_vs');
  if (at >= 0) return [url.slice(0, at)];
  return url.endsWith(ALL) ? [url, url.slice(0, -ALL.length)] : [url];
}

const ALL = '/vs';

function isNamed(system: Resource, url: string): boolean {
  return system['valueSet'] === url || system['url'] === url || `${String(system['url'])}${ALL}` === url;
}

/** Those that were made, so that what is kept of them is found again. */
const known = new WeakMap<Resource, Map<string, Resource>>();

function made(url: string, system: Resource, filter: readonly Record<string, string>[] | undefined): Resource {
  const all = known.get(system) ?? new Map<string, Resource>();
  known.set(system, all);
  const before = all.get(url);
  if (before !== undefined) return before;
  const include = { system: system['url'], version: system['version'], filter };
  const resource = {
    resourceType: 'ValueSet',
    url,
    status: system['status'] ?? 'active',
    compose: { include: [Object.fromEntries(Object.entries(include).filter(([, value]) => value !== undefined))] },
  } as unknown as Resource;
  if (all.size < 100) all.set(url, resource);
  return resource;
}
