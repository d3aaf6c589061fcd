import { createHash } from 'node:crypto';

import { FhirError, type Issue } from '../fhir/errors.js';
import type { Change, Deletion, Referrer, RequiredTarget, Unreferred } from './store.js';

/** References that a write would break, by the positions of its changes in the write. */
export interface BrokenReferences {
  /** Targets that are missing: the place of a change, and that of a target of it. */
  readonly dangling: readonly (readonly [change: number, target: number])[];
  /** A deletion of what others refer to. */
  readonly referred?: number;
}

/** Error that a store throws within a write, which it rolls back then. */
export class ReferencesBroken extends Error {
  constructor(readonly broken: BrokenReferences) {
    super('references of a write are broken');
    this.name = 'ReferencesBroken';
  }
}

/** Others refer to what a write deletes, so nothing of it was done. The caller looks who does, and decides anew. */
export class StillReferred extends Error {
  constructor(readonly deletion: Deletion) {
    super('a resource that is to be deleted is referred to');
    this.name = 'StillReferred';
  }
}

/** Greatest number of missing targets that one error names. */
const MOST_NAMED = 100;

/** The error that the caller of a write gets. */
export function errorOfReferences(changes: readonly Change[], { dangling, referred }: BrokenReferences): Error {
  const issues = dangling.slice(0, MOST_NAMED).map(([change, target]): Issue => {
    const { type, id, version, expression } = changes[change]!.targets![target]!;
    const name = `${type}/${id}`;
    const text =
      version === undefined
        ? `There is no ${name}; write it first, or in the same transaction`
        : `There is no version of ${name} as the reference names it`;
    return { code: 'reference-dangling', text, expression };
  });
  const [first, ...others] = issues;
  if (first !== undefined) return FhirError.of([first, ...others]);
  return new StillReferred(changes[referred!] as Deletion);
}

/** The parts of a change that say which resources it refers to, and whether references to a deleted one may be left. */
export type ReferringChange = Pick<Change, 'type' | 'id' | 'body' | 'targets' | 'unreferred'>;

/** Whether a write has to look whether its references lead somewhere, or what others refer to. */
export function hasReferenceChecks(changes: readonly ReferringChange[]): boolean {
  return changes.some(({ targets, unreferred }) => targets !== undefined || unreferred !== undefined);
}

/** Keys that two writes have in common of which one deletes what the other refers to: digests, for ids may tell of people. */
export function guardKeys(changes: readonly ReferringChange[]): string[] {
  const names = new Set<string>();
  for (const { type, id, targets = [], unreferred } of changes) {
    if (unreferred !== undefined) names.add(`${type}/${id}`);
    for (const target of targets) if (target.isHeld === true) names.add(`${target.type}/${target.id}`);
  }
  return [...names].map((name) => createHash('sha256').update(`reference ${name}`).digest('base64url'));
}

/** Which targets are missing. @param isThere whether a target is there once the write is done */
export function findDangling(
  changes: readonly ReferringChange[],
  isThere: (target: RequiredTarget) => boolean,
): BrokenReferences['dangling'] {
  const dangling: (readonly [number, number])[] = [];
  let put: Set<string> | undefined;
  for (const [at, { targets = [] }] of changes.entries()) {
    for (const [place, target] of targets.entries()) {
      if (target.isHidden === true) {
        put ??= new Set(changes.flatMap(({ type, id, body }) => (body === undefined ? [] : [`${type}/${id}`])));
        if (!put.has(`${target.type}/${target.id}`)) {
          dangling.push([at, place]);
          continue;
        }
      }
      if (!isThere(target)) dangling.push([at, place]);
    }
  }
  return dangling;
}

/** Whether a version is one of those that may refer. */
export function openExceptions({ except }: Unreferred): (referrer: Referrer) => boolean {
  const names = new Set(except.map(nameOf));
  return (referrer) => names.has(nameOf(referrer));
}

function nameOf({ type, id, version }: Referrer): string {
  return `${type}/${id}/${version}`;
}
