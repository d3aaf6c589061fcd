import { isJson, type Json } from '../../path/evaluate/item.js';
import { readReference } from '../../path/reference-text.js';
import type { BundleScope } from './resolve.js';
import type { RuleRun } from './rule-run.js';

const scopes = new WeakMap<Json, ReadonlyMap<string, Json>>();

/** Returns the scope in which references of a Bundle's entry are looked up; undefined: the holder is no entry of a Bundle. */
export function bundleScopeOf(entry: Json, run: RuleRun): BundleScope | undefined {
  const bundle = run.resource;
  if (bundle['resourceType'] !== 'Bundle') return undefined;
  let byUrl = scopes.get(bundle);
  if (byUrl === undefined) scopes.set(bundle, (byUrl = indexEntries(bundle)));
  const { fullUrl } = entry;
  return { byUrl, fullUrl: typeof fullUrl === 'string' ? fullUrl : undefined };
}

function indexEntries({ entry }: Json): ReadonlyMap<string, Json> {
  const byUrl = new Map<string, Json>();
  for (const each of Array.isArray(entry) ? entry : []) {
    if (!isJson(each) || typeof each['fullUrl'] !== 'string' || !isJson(each['resource'])) continue;
    if (!byUrl.has(each['fullUrl'])) byUrl.set(each['fullUrl'], each['resource']);
  }
  return byUrl;
}

/**
 * Checks that a `fullUrl` that ends like `Type/id` names its resource; the run is at the Bundle.
 * https://hl7.org/fhir/R5/bundle.html#bundle-unique
 */
export function checkEntries({ entry }: Json, run: RuleRun): void {
  if (!Array.isArray(entry)) return;
  for (const [index, each] of entry.entries()) {
    if (!isJson(each) || !isJson(each['resource']) || typeof each['fullUrl'] !== 'string') continue;
    if (!/^[A-Za-z][A-Za-z0-9+.-]*:/.test(each['fullUrl'])) {
      run.report('bundle-inconsistent', 'fullUrl-absolute', `entry[${index}].fullUrl has to be absolute`);
      continue;
    }
    const { resourceType, id } = each['resource'];
    const named = readReference(each['fullUrl']);
    if (named?.base === undefined || typeof id !== 'string' || !run.tools.resourceTypes.has(named.type)) continue;
    if (named.type === resourceType && named.id === id) continue;
    const text = `entry[${index}].fullUrl ends with ${named.type}/${named.id}, and the resource is ${String(resourceType)}/${id}`;
    run.report('bundle-inconsistent', 'fullUrl', text);
  }
}
