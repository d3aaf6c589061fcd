import { FhirError } from '../../fhir/errors.js';
import type { Decided } from '../../core/write/write-plan.js';
import type { Link } from './links/links.js';
import type { Referred } from './links/references.js';
import { Phase } from './entry.js';
import { entryPath } from './entry-error.js';
import type { TargetedStep } from './write-targets.js';

/** Returns the name that a link refers to, as `Type/id`. */
export type NameOf = (link: Link) => string | undefined;

/**
 * The order in which steps are decided, as indexes: a step comes after those whose resulting version its references name,
 * as far as these do not form a circle. https://hl7.org/fhir/R5/http.html#trules
 */
export function decisionOrder(targeted: readonly TargetedStep[], nameOf: NameOf): readonly number[] {
  const needs = targeted.map(({ step }) => step.links.filter(({ isVersioned }) => isVersioned === true));
  if (needs.every((links) => links.length === 0)) return targeted.map((_each, at) => at);
  const writers = writersOf(targeted);
  const order: number[] = [];
  const seen = new Set<number>();
  // Not by recursion: thousands of entries may refer to each other in a row.
  for (const start of targeted.keys()) {
    const path = seen.has(start) ? [] : [{ at: start, next: 0 }];
    seen.add(start);
    for (let top = path.at(-1); top !== undefined; top = path.at(-1)) {
      const link = needs[top.at]?.[top.next++];
      if (link === undefined) {
        order.push(top.at);
        path.pop();
        continue;
      }
      const writer = writers.get(nameOf(link) ?? '');
      if (writer === undefined || seen.has(writer)) continue;
      seen.add(writer);
      path.push({ at: writer, next: 0 });
    }
  }
  return order;
}

/** The steps that write, by `Type/id` of their target. */
function writersOf(targeted: readonly TargetedStep[]): ReadonlyMap<string, number> {
  const writers = new Map<string, number>();
  for (const [at, { step, writeTarget }] of targeted.entries()) {
    if (writeTarget.exists === true || step.entry.phase === Phase.Delete) continue;
    for (const { id } of writeTarget.targets) writers.set(`${writeTarget.type}/${id}`, at);
  }
  return writers;
}

/** The versions that resources have after a transaction, as they become known. */
export class ResultingVersions {
  private readonly writers: ReadonlyMap<string, number>;
  /** Versions of resources that no step writes to. */
  private readonly stored = new Map<string, number>();
  private readonly decided = new Map<number, number>();
  /** Steps in a circle: taken to write before they were decided. */
  private readonly assumed = new Set<number>();

  constructor(
    private readonly targeted: readonly TargetedStep[],
    referred: Iterable<Referred>,
  ) {
    this.writers = writersOf(targeted);
    for (const { name, version } of referred) this.stored.set(name, version);
    for (const { writeTarget } of targeted) {
      const [target] = writeTarget.exists === true ? writeTarget.targets : [];
      if (target?.current !== undefined) this.stored.set(`${writeTarget.type}/${target.id}`, target.current.version);
    }
  }

  /** The version of `Type/id`. */
  of(name: string): number | undefined {
    const at = this.writers.get(name);
    if (at === undefined) return this.stored.get(name);
    const known = this.decided.get(at);
    if (known !== undefined) return known;
    this.assumed.add(at);
    return this.before(at) + 1;
  }

  /** @throws FhirError where other steps named a version that this one does not write after all */
  settle(at: number, { changes }: Decided): void {
    const isWritten = changes.length > 0;
    this.decided.set(at, this.before(at) + Number(isWritten));
    if (isWritten || !this.assumed.has(at)) return;
    const text = 'The entries refer to versions of each other in a circle, and this one is not changed; leave it out';
    throw new FhirError('bundle-placeholder', text, { expression: entryPath(this.targeted[at]!.step.entry.index) });
  }

  private before(at: number): number {
    return this.targeted[at]?.writeTarget.targets[0]?.current?.version ?? 0;
  }
}
