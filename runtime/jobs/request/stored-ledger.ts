import type { Job } from '../../core/jobs.js';
import type { EntryLedger, NotedReply, WriteLedger } from '../../core/write/write-ledger.js';
import { StepConflict, type AtomicMaps, type MapStep } from '../../store/store.js';
import type { ChunkContext } from '../engine/job-kind.js';

/** The map that holds what requests of jobs have done, by job and entry. */
export const LEDGER_MAP = 'job-ledger';

/** Entries of the map that are read or removed at once. */
const AT_ONCE = 500;

/** What is kept of the request or of an entry: the answers noted with its write, or the text of an answer. */
type Note = readonly NotedReply[] | string;

/** Comes after all digits. */
const WHOLE = 'whole';

/**
 * Opens the ledger of a job for a run of it. From then on earlier runs, in this process or another, write nothing any more: each write
 * has the number of its run as a condition. So what is read here is all that was done.
 *
 * @throws StepConflict where a later run has the job
 */
export async function openLedger(
  job: Pick<Job, 'id' | 'run'>,
  { maps }: { readonly maps: AtomicMaps },
  { breathe, report, signal }: Pick<ChunkContext, 'breathe' | 'report' | 'signal'>,
): Promise<WriteLedger> {
  const run = String(job.run);
  await takeOver(maps, job.id, run);
  const notes = new Map<string, Note>();
  for await (const [key, value] of entriesOf(job.id, maps)) {
    if (key !== runKey(job.id)) notes.set(key.slice(job.id.length + 1), JSON.parse(value) as Note);
  }
  const isCurrent: MapStep = { map: LEDGER_MAP, key: runKey(job.id), expected: run, value: run };

  function ledgerOf(name: string): EntryLedger {
    const stepsOf = (note: Note): readonly MapStep[] => [
      isCurrent,
      { map: LEDGER_MAP, key: `${job.id}/${name}`, value: JSON.stringify(note) },
    ];
    let isNoted = notes.has(name);
    return {
      noted() {
        const note = notes.get(name);
        return typeof note === 'string' ? undefined : note;
      },
      steps(replies) {
        isNoted = true;
        return stepsOf(replies);
      },
      kept() {
        const note = notes.get(name);
        return typeof note === 'string' ? note : undefined;
      },
      async keep(answer) {
        signal.throwIfAborted();
        if (isNoted) return;
        if (!(await maps.swapAll(stepsOf(answer)))) throw new StepConflict();
      },
      ofEntry: (index) => ledgerOf(String(index)),
      async turn(done, total) {
        // First, so that a job that is cancelled has the count.
        report({ done, total, unit: 'entries' });
        signal.throwIfAborted();
        await breathe();
        signal.throwIfAborted();
      },
    };
  }
  return ledgerOf(WHOLE);
}

function runKey(id: string): string {
  return `${id}/run`;
}

async function takeOver(maps: AtomicMaps, id: string, run: string): Promise<void> {
  for (;;) {
    const before = await maps.get(LEDGER_MAP, runKey(id));
    if (before === run) return;
    if (before !== undefined && Number(before) > Number(run)) throw new StepConflict();
    if (await maps.swap(LEDGER_MAP, runKey(id), before, run)) return;
  }
}

/** Removes what was noted of a job. Runs that are at work still write nothing any more. */
export async function clearLedger(id: string, { maps }: { readonly maps: AtomicMaps }): Promise<void> {
  // First, so that nothing comes while the rest is removed.
  await maps.delete(LEDGER_MAP, runKey(id));
  let steps: MapStep[] = [];
  for await (const [key, expected] of entriesOf(id, maps)) {
    steps.push({ map: LEDGER_MAP, key, expected });
    if (steps.length < AT_ONCE) continue;
    await maps.swapAll(steps);
    steps = [];
  }
  if (steps.length > 0) await maps.swapAll(steps);
}

async function* entriesOf(id: string, maps: AtomicMaps): AsyncIterable<readonly [string, string]> {
  const prefix = `${id}/`;
  let after = prefix;
  for (;;) {
    const some = await maps.range(LEDGER_MAP, after, AT_ONCE);
    for (const [key, value] of some) {
      if (!key.startsWith(prefix)) return;
      yield [key, value];
      after = key;
    }
    if (some.size < AT_ONCE) return;
  }
}
