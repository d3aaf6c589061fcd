import { FhirError } from '../../../fhir/errors.js';
import type { Condition } from '../../../search/query/query.js';
import type { Precondition, Store, StoredVersion } from '../../../store/store.js';
import type { BodyRoom } from '../body-budget.js';

/** Greatest number of resources per query. */
const PAGE = 500;

/** Number of the first matches whose bodies may be needed. */
const WHOLE = 2;

/** Greatest total number of matches of all searches of a transaction, not counting the first few of each. */
export const MAX_FOUND = 100_000;

/** Total number of matches of the searches of a transaction, not counting the first few of each. */
export interface FoundCount {
  beyond: number;
}

/** State shared by the searches of one transaction. */
export interface WalkContext {
  readonly store: Pick<Store, 'find'>;
  readonly bodies: BodyRoom;
  readonly count: FoundCount;
  readonly signal: AbortSignal | undefined;
}

/**
 * The matches of one criterion in the store, read on demand. Each resource is read once, however often entries use the
 * criterion. The ids of all matches are kept for the precondition; versions only of those that no entry writes.
 */
export class CriterionWalk {
  private readonly ids: string[] = [];
  /** Matches that were not skipped at the latest call. */
  private remaining: readonly StoredVersion[] = [];
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
   * The first `most` matches, and the precondition that the matches read so far stay the same.
   *
   * @param isSkipped tests an id; an id skipped once must always be skipped
   * @throws FhirError `too-costly` beyond the limit of a transaction; later calls fail in the same way
   */
  first(
    most: number,
    isSkipped: (id: string) => boolean,
  ): Promise<{ readonly found: readonly StoredVersion[]; readonly precondition: Precondition }> {
    const found = this.turn.then(async () => {
      this.remaining = this.remaining.filter(({ id }) => !isSkipped(id));
      while (this.remaining.length < most && !this.isDone) await this.step(most - this.remaining.length, isSkipped);
      return { found: this.remaining.slice(0, most), precondition: this.precondition };
    });
    found.catch(() => {});
    this.turn = found;
    return found;
  }

  private async step(wanted: number, isSkipped: (id: string) => boolean): Promise<void> {
    const { store, bodies, count, signal } = this.context;
    // If the matches so far were skipped, many of the next ones are likely to be skipped too.
    const size = Math.min(PAGE, Math.max(wanted, 2 * this.ids.length));
    const query = { type: this.type, where: this.where, sort: [], count: size, total: 'none' as const };
    const { versions, next } = await store.find(
      this.next === undefined ? query : { ...query, after: this.next },
      signal,
    );
    const more = versions.filter(({ id }) => !isSkipped(id));
    const whole = Math.max(0, WHOLE - this.remaining.length);
    this.remaining = [
      ...this.remaining,
      ...more.map((version, i) => (i < whole ? bodies.keep(version) : bodies.head(version))),
    ];
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
