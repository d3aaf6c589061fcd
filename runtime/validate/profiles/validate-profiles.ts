import type { Resource } from '../../fhir/resource.js';
import type { Fault } from '../fault.js';
import { Answers, PENDING } from './answers.js';
import { claimedProfiles } from './claimed-profiles.js';
import { conforms } from './conforms.js';
import type { ProfileDeps } from './profile-deps.js';
import { faultOf, ProfileRun } from './profile-run.js';
import { baseTypeHere } from './profile-type.js';
import { forgetBundle, rootScope } from './references.js';
import { lookupsOf } from './rule-lookups.js';
import { visitResource } from './visit-resource.js';

/** Passes over one resource: each waits for what the one before asked for, as where one profile names another. */
const MOST_PASSES = 20;

/**
 * Validates a resource by profiles: cardinalities, types, fixed values, patterns, slices, bindings, rules and references; its
 * extensions by their definitions; and what is contained, or an entry of a Bundle, by the profiles that it claims itself. Structure
 * and the rules of the type are not checked: the resource has to be of right structure.
 * https://hl7.org/fhir/R5/profiling.html
 *
 * @param profiles canonicals that the resource as a whole has to conform to; an unknown one gives a warning, or an error where it was
 *   demanded
 */
export async function validateProfiles(
  resource: Resource,
  profiles: readonly string[],
  deps: ProfileDeps,
): Promise<Fault[]> {
  const answers = new Answers();
  try {
    for (let pass = 1; ; pass++) {
      const run = new ProfileRun(deps, answers, rootScope(resource), conforms, lookupsOf);
      await passOver(resource, profiles, run);
      if (!answers.arePending) return run.issues;
      if (pass === MOST_PASSES) return [...run.issues, tooDeep(resource)];
      await answers.settle();
    }
  } finally {
    forgetBundle();
  }
}

function tooDeep(resource: Resource): Fault {
  const { resourceType } = resource;
  const text = `${resourceType}: profiles refer to profiles more than ${MOST_PASSES} times in a row, so that not all of them were checked`;
  return faultOf({ severity: 'error', issue: 'too-costly', key: 'profile', text }, resourceType, resource);
}

/** Checks the resource, and then one after the other those that lie in it, so that others have their turn in between. */
async function passOver(resource: Resource, profiles: readonly string[], run: ProfileRun): Promise<void> {
  run.path[run.depth++] = resource.resourceType;
  const checks: (() => void)[] = [];
  const add = (subject: Resource, canonicals: readonly string[]): void => {
    const all = new Set(canonicals);
    const { place } = run;
    const begin = (check: () => void) => (): void => {
      run.beginAt(place);
      check();
    };
    for (const canonical of all) checks.push(begin(() => checkProfile(subject, canonical, run)));
    if (run.deps.isPartial === true) return;
    const visit = (): void => {
      const isProfiled = [...all].some((each) => isKnown(each, run)) || (subject === resource && run.deps.isProfiled === true); // prettier-ignore
      visitResource(subject, run, isProfiled, (nested) => add(nested, claimedProfiles(nested)));
    };
    checks.push(begin(visit));
  };
  add(resource, profiles);
  // It grows meanwhile.
  for (const check of checks) {
    run.attempt(check);
    const turn = run.deps.pace?.();
    if (turn !== undefined) await turn;
  }
}

function isKnown(canonical: string, run: ProfileRun): boolean {
  return baseTypeHere(canonical, run) !== undefined || run.find(canonical) !== undefined;
}

function checkProfile(resource: Resource, canonical: string, run: ProfileRun): void {
  if (baseTypeHere(canonical, run) === undefined) {
    const row = run.find(canonical);
    if (row === PENDING) return;
    if (row === undefined) {
      const text = `the profile ${canonical} ${run.whyUnknown(canonical)}, so the resource was not checked by it`;
      const isDemanded = run.deps.demanded?.has(canonical) === true;
      run.report({ severity: isDemanded ? 'error' : 'warning', issue: 'not-found', key: 'profile', text });
      return;
    }
  }
  run.conforms({ value: resource, beside: undefined, type: resource.resourceType }, canonical);
}
