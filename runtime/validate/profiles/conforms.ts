import type { ProfileRow } from '../../contract/profiles.js';
import { isObject, type Resource } from '../../fhir/resource.js';
import { PENDING } from './answers.js';
import { compilePart, compileProfile } from './compile-element.js';
import type { ElementValue } from './item.js';
import type { ProfileRun } from './profile-run.js';
import { baseType } from './profile-type.js';
import { foundScope, scopeWithin } from './references.js';

/**
 * Checks a value by a profile. Of one that is not known here it tells once, as information; one that is still asked for finds nothing.
 *
 * @param canonical `url#id` means one element of the profile
 */
export function conforms(item: ElementValue, canonical: string, run: ProfileRun): void {
  const [url = '', part] = canonical.split('#');
  const base = baseType(url, run);
  if (base !== undefined) {
    checkType(item, base, run);
    return;
  }
  const row = run.find(url);
  if (row === PENDING) return;
  if (row === undefined) {
    const text = `the profile ${url} ${run.whyUnknown(url)}, so it was not checked`;
    run.reportOnce(url, { severity: 'information', issue: 'not-found', key: 'profile', text });
    return;
  }
  const check = part === undefined ? compileProfile(row) : compilePart(row, part);
  if (part === undefined && !checkType(item, row.type, run)) return;
  const { value } = item;
  if (check === undefined || !isObject(value)) return;
  run.once(value, canonical, () => {
    run.within(row, () => {
      if (run.deps.types.kindOf(item.type) !== 'resource' || value === run.scope.resource) check(item, run);
      else inResource(value as Resource, run, () => check(item, run));
    });
    // In a circle each is checked once: it is open until those that it imposes are checked.
    if (part === undefined) for (const each of row.imposes ?? []) conformsToImposed(item, each, row, run);
  });
}

/** Checks a value by an imposed profile. One that is not known here gives a warning, like one that the resource claims. */
function conformsToImposed(item: ElementValue, canonical: string, by: ProfileRow, run: ProfileRun): void {
  if (baseType(canonical, run) === undefined && run.find(canonical) === undefined) {
    const text = `the profile ${canonical}, which ${by.url} imposes, ${run.whyUnknown(canonical)}, so it was not checked`;
    run.reportOnce(`imposed ${canonical}`, { severity: 'warning', issue: 'not-found', key: 'profile', text });
  } else conforms(item, canonical, run);
}

function checkType(item: ElementValue, type: string, run: ProfileRun): boolean {
  if (item.type === type || run.deps.types.kinds(item.type).includes(type)) return true;
  const text = `is of type ${item.type}; the profile is for ${type}`;
  run.report({ severity: 'error', issue: 'structure', key: 'type', text });
  return false;
}

/** Checks a resource that lies in the one at hand, or that a reference points to. */
export function inResource(resource: Resource, run: ProfileRun, check: () => void): void {
  const before = run.scope;
  const { container, resource: at } = before;
  const isContained = Array.isArray(container['contained']) && container['contained'].includes(resource);
  run.scope = run.isFound(resource)
    ? foundScope(resource)
    : scopeWithin(before, resource, isContained ? 'contained' : at.resourceType === 'Bundle' ? 'entry' : 'other');
  check();
  run.scope = before;
}
