import { describeStaleIndex, type IndexStatus } from '../core/definitions/index-status.js';
import { ENDED } from '../core/jobs.js';
import { formatInstant } from '../fhir/instant.js';
import { openJobRows } from '../jobs/engine/job-rows.js';
import { BASES } from '../indexing/index-record.js';
import type { Store } from '../store/store.js';
import { SubscriptionRows } from '../subscriptions/engine/rows.js';
import { counted, printable } from '../cli/terminal.js';
import { reportOf, type Finding } from './finding.js';

/** Clocks of several servers may differ so much, in milliseconds. */
const SKEW = 5000;

/** A job whose process gave no sign of life for so long has none, in milliseconds. */
const STUCK = 120_000;

/** Subscriptions that are named; of the rest there is the number. */
const NAMED = 5;

/** Checks that nothing in the store was written after now: then the clock of a server was ahead, or this one is behind. */
export async function checkClock(store: Pick<Store, 'history'>, now: number): Promise<Finding> {
  const report = reportOf('clock');
  const { total } = await store.history({ since: now + SKEW, count: 0 });
  if (total === 0) return report.fine('nothing that is stored is later than the clock of this machine');
  return report.fault(
    `${counted(total, 'version')} in the store ${total === 1 ? 'is' : 'are'} later than the clock of this machine`,
    'set the clocks of all machines by NTP: searches by _lastUpdated and pages of history go by them',
  );
}

/** Checks that the index entries are those of the definitions. */
export async function checkIndex(store: Pick<Store, 'counts'>, indexStatus: IndexStatus): Promise<Finding> {
  const report = reportOf('index');
  if ((await store.counts()).size === 0) return report.fine('there are no resources');
  const stale = await indexStatus.notCurrent('now');
  const text = describeStaleIndex(stale);
  if (text === undefined) return report.fine('index entries are those of the definitions and of the base URL');
  const remedy = 'run it beside the servers';
  // References alone concern only those that are absolute.
  return stale.every((name) => name === BASES) ? report.warning(text, remedy) : report.fault(text, remedy);
}

/** Checks that jobs which have not ended are being worked on. */
export async function checkJobs(store: Pick<Store, 'maps'>, now: number): Promise<Finding[]> {
  const report = reportOf('jobs');
  const jobs = (await openJobRows(store).all()).map(({ job }) => job).filter(({ state }) => !ENDED.has(state));
  // One that waits is left alone only where no process works on any.
  const isWorkedOn = jobs.some(({ lease }) => lease !== undefined && lease.until > now - STUCK);
  const isStuck = (since: number, isWaiting: boolean): boolean => now - since > STUCK && !(isWaiting && isWorkedOn);
  const stuck = jobs.filter(({ created, lease }) => isStuck(lease?.until ?? created, lease === undefined));
  if (stuck.length === 0)
    return [report.fine(`${counted(jobs.length, 'job')} under way or waiting, none is left alone`)];
  return stuck.map(({ id, type, state, lease, created }) =>
    report.fault(
      `job ${id} (${type}, ${state}): no process has worked on it since ${formatInstant(lease?.until ?? created)}`,
      'start a server on this store with jobs on, or end it: kiln jobs --cancel ' + id,
    ),
  );
}

/** Checks that Subscriptions reach their receivers. */
export async function checkSubscriptions(store: Pick<Store, 'maps'>): Promise<Finding[]> {
  const report = reportOf('subscriptions');
  const rows = new SubscriptionRows(store.maps);
  const failing: Finding[] = [];
  let count = 0;
  for (const [id, { value: row }] of await rows.rows()) {
    if (!row.isLive) continue;
    count++;
    const [error] = (await rows.sent(id, row)).value.errors;
    if (error === undefined) continue;
    const text = `Subscription/${printable(id)} does not reach its receiver: ${printable(error.text)}`;
    failing.push(
      report.fault(text, `mend the receiver; kiln subscriptions retry ${printable(id)} starts anew, off ends it`),
    );
  }
  if (failing.length === 0) return [report.fine(`${counted(count, 'Subscription')}, none in error`)];
  const more = failing.length - NAMED;
  const rest = more > 0 ? [report.fault(`${more} more Subscriptions`, 'kiln subscriptions list shows them')] : [];
  return [...failing.slice(0, NAMED), ...rest];
}
