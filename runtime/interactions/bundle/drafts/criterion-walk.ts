import { FhirError } from '../../../fhir/errors.js';
import type { Condition } from '../../../search/query/query.js';
import type { Precondition, Store, StoredVersion } from '../../../store/store.js';
import type { BodyRoom } from '../body-budget.js';

/** Resources that one query asks for. */
const PAGE = 500;

/** Of those that a search found, the first ones that may be needed whole. */
const WHOLE = 2;

/** What all searches of a transaction may find together beyond the first few of each. */
export const MAX_FOUND = 100_000;

/** What the searches of a transaction have found together. */
export interface FoundCount {
  beyond: number;
}

/** What searches of one transaction have in common. */
export interface WalkContext {
  readonly store: Pick<Store, 'find'>;
  readonly bodies: BodyRoom;
  readonly count: FoundCount;
  readonly signal: AbortSignal | undefined;
}

/**
 * What one criterion finds in the store, as far as it has been looked at: each resource is asked for once, however often and
 * however far somebody looks. Ids of all are kept, for the precondition; more only of those that nobody in the Bundle writes.
 */
export class CriterionWalk {
  private readonly ids: string[] = [];
  /** Those that were not to be skipped when they were looked at last, in the order of ids. */
  private left: readonly StoredVersion[] = [];
  private next: string | undefined;
  private isDone = false;
  private turn: Promise<unknown> = Promise.resolve();
  private readonly precondition: Precondition;

  constructor(
    private readonly type: string,
    private readonly where: Condition,
    private readonly context: WalkContext,
  ) {
    this.precondition = { type, where, found: this.ids };
  }

  /**
   * The first ones, no more than `most`, and what has to be found still: all of them, if these are fewer.
   *
   * @param isSkipped whose id is passed over; who was once is always
   * @throws FhirError `too-costly` where that takes more than a transaction may have; then whoever asks again gets the same
   */
  first(
    most: number,
    isSkipped: (id: string) => boolean,
  ): Promise<{ readonly found: readonly StoredVersion[]; readonly precondition: Precondition }> {
    const found = this.turn.then(async () => {
      this.left = this.left.filter(({ id }) => !isSkipped(id));
      while (this.left.length < most && !this.isDone) await this.step(most - this.left.length, isSkipped);
      return { found: this.left.slice(0, most), precondition: this.precondition };
    });
    found.catch(() => {});
    this.turn = found;
    return found;
  }

  private async step(wanted: number, isSkipped: (id: string) => boolean): Promise<void> {
    const { store, bodies, count, signal } = this.context;
    // Where what was found is passed over much more of that is likely to come.
    const size = Math.min(PAGE, Math.max(wanted, 2 * this.ids.length));
    const query = { type: this.type, where: this.where, sort: [], count: size, total: 'none' as const };
    const { versions, next } = await store.find(
      this.next === undefined ? query : { ...query, after: this.next },
      signal,
    );
    const more = versions.filter(({ id }) => !isSkipped(id));
    const whole = Math.max(0, WHOLE - this.left.length);
    this.left = [...this.left, ...more.map((version, i) => (i < whole ? bodies.keep(version) : bodies.head(version)))];
    count.beyond += Math.max(0, this.ids.length + versions.length - WHOLE) - Math.max(0, this.ids.length - WHOLE);
    for (const { id } of versions) this.ids.push(id);
    this.next = next;
    this.isDone = next === undefined;
    if (count.beyond > MAX_FOUND) throw tooMany();
  }
}

function tooMany(): FhirError {
  const text = `The criteria of the entries find more than ${MAX_FOUND} resources together; make them more precise`;
  return new FhirError('too-costly', text);
}
