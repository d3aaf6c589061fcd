import { monitorEventLoopDelay } from 'node:perf_hooks';

import { knownMethod } from './known-method.js';
import { expose, gauge, histogram } from './exposition.js';
import type { RequestRecord } from './log.js';

/** Counters and measurements of a running server. */
export interface Metrics {
  request(record: RequestRecord): void;
  /** @param milliseconds how long a method of the store took */
  store(method: string, milliseconds: number, failed: boolean): void;
  /** @param milliseconds how long a command of MongoDB took, the way there and back included */
  command(name: string, milliseconds: number, failed: boolean): void;
  /** A job ended in this process. */
  jobEnded(type: string, state: string): void;
  /** Counts the jobs of the store whenever it is asked. @param list all that are kept */
  watchJobs(list: () => Promise<readonly JobRecord[]>): void;
  /** An attempt to deliver a notification ended in this process. */
  delivered(outcome: 'done' | 'failed'): void;
  /** Versions were matched to Subscriptions in this process. @param failures criteria that failed */
  matched(events: number, failures: number): void;
  /** Asks for the state of subscriptions whenever it is asked. */
  watchSubscriptions(state: () => Promise<SubscriptionRecord>): void;
  /** All of it in Prometheus' text format. */
  expose(): Promise<string>;
  /** Stops measuring. */
  close(): void;
}

/** Measurements of subscriptions. */
export interface SubscriptionRecord {
  /** Versions that were not matched yet. */
  readonly lag: number;
  /** Events that were not answered yet, of those that this process delivers. */
  readonly backlog: number;
}

/** Properties of a job that are counted. */
export interface JobRecord {
  readonly type: string;
  readonly state: string;
  readonly progress: { readonly done: number };
}

/** Seconds. */
const REQUEST_BOUNDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
const STORE_BOUNDS = [0.0001, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.5, 1, 10];

/** Resolution of the measurement of the event loop, in milliseconds. */
const RESOLUTION = 10;

/** @param info labels of `kiln_info`: versions */
export function createMetrics(info: Readonly<Record<string, string>>): Metrics {
  const started = Date.now() / 1000;
  const loop = monitorEventLoopDelay({ resolution: RESOLUTION });
  loop.enable();
  const requests = histogram('kiln_http_request_duration_seconds', 'FHIR requests, by route.', REQUEST_BOUNDS);
  const store = histogram('kiln_store_duration_seconds', 'Calls of the store, by method.', STORE_BOUNDS);
  const commands = histogram('kiln_mongodb_command_duration_seconds', 'Commands of MongoDB, by name.', STORE_BOUNDS);
  const ended = new Map<string, { type: string; state: string; count: number }>();
  let listJobs: () => Promise<readonly JobRecord[]> = () => Promise.resolve([]);
  let listed: readonly JobRecord[] = [];
  const deliveries = { done: 0, failed: 0 };
  const matches = { events: 0, failures: 0 };
  let readSubscriptions: () => Promise<SubscriptionRecord> = () => Promise.resolve({ lag: 0, backlog: 0 });
  let subscriptions: SubscriptionRecord = { lag: 0, backlog: 0 };
  const families = [
    gauge('kiln_info', 'Versions of what runs.', () => [[info, 1]]),
    requests,
    store,
    commands,
    gauge('kiln_event_loop_delay_seconds', 'Delay of the event loop since the last scrape.', () => {
      const delay = (nanoseconds: number): number =>
        loop.count === 0 ? 0 : Math.max(0, nanoseconds / 1e9 - RESOLUTION / 1000);
      return [
        [{ quantile: '0.5' }, delay(loop.percentile(50))],
        [{ quantile: '0.99' }, delay(loop.percentile(99))],
        [{ quantile: '1' }, delay(loop.max)],
      ];
    }),
    gauge('kiln_jobs', 'Jobs that the store keeps, by type and state.', () => countJobs(listed, () => 1)),
    gauge('kiln_job_units', 'Units that jobs have done, by type and state.', () =>
      countJobs(listed, ({ progress }) => progress.done),
    ),
    gauge(
      'kiln_jobs_ended_total',
      'Jobs that ended in this process, by type and state.',
      () => [...ended.values()].map(({ count, ...labels }): [Record<string, string>, number] => [labels, count]),
      'counter',
    ),
    gauge('kiln_subscription_lag', 'Versions that were not matched to Subscriptions yet.', () => [[{}, subscriptions.lag]]), // prettier-ignore
    gauge('kiln_subscription_backlog', 'Events that were not delivered yet, of those that this process delivers.', () => [[{}, subscriptions.backlog]]), // prettier-ignore
    gauge('kiln_subscription_events_total', 'Events that this process made.', () => [[{}, matches.events]], 'counter'),
    gauge('kiln_subscription_criteria_failures_total', 'Criteria of topics that failed at run time.', () => [[{}, matches.failures]], 'counter'), // prettier-ignore
    gauge('kiln_subscription_deliveries_total', 'Attempts to deliver notifications, by outcome.', () => Object.entries(deliveries).map(([outcome, count]): [Record<string, string>, number] => [{ outcome }, count]), 'counter'), // prettier-ignore
    gauge('process_resident_memory_bytes', 'Resident memory.', () => [[{}, process.memoryUsage.rss()]]),
    gauge('nodejs_heap_used_bytes', 'Heap in use.', () => [[{}, process.memoryUsage().heapUsed]]),
    gauge(
      'process_cpu_seconds_total',
      'Processor time of user and system.',
      () => {
        const { user, system } = process.cpuUsage();
        return [[{}, (user + system) / 1e6]];
      },
      'counter',
    ),
    gauge('process_start_time_seconds', 'Start, since the epoch.', () => [[{}, started]]),
  ];
  return {
    request({ method, route = 'none', interaction = 'none', status, duration }) {
      const labels = {
        method: knownMethod(method),
        route,
        interaction,
        status: `${Math.floor(status / 100)}xx`,
      };
      requests.observe(labels, duration / 1000);
    },
    store: (method, milliseconds, failed) =>
      store.observe({ method, outcome: failed ? 'failed' : 'ok' }, milliseconds / 1000),
    command: (command, milliseconds, failed) =>
      commands.observe({ command, outcome: failed ? 'failed' : 'ok' }, milliseconds / 1000),
    jobEnded(type, state) {
      const key = `${type} ${state}`;
      const { count } = ended.get(key) ?? { count: 0 };
      ended.set(key, { type, state, count: count + 1 });
    },
    watchJobs: (list) => void (listJobs = list),
    delivered: (outcome) => void deliveries[outcome]++,
    matched(events, failures) {
      matches.events += events;
      matches.failures += failures;
    },
    watchSubscriptions: (state) => void (readSubscriptions = state),
    async expose() {
      // Where the store is away the last known ones are shown.
      listed = await listJobs().catch(() => listed);
      subscriptions = await readSubscriptions().catch(() => subscriptions);
      const text = expose(families);
      loop.reset();
      return text;
    },
    close: () => void loop.disable(),
  };
}

function countJobs(jobs: readonly JobRecord[], weigh: (job: JobRecord) => number): [Record<string, string>, number][] {
  const sums = new Map<string, [Record<string, string>, number]>();
  for (const job of jobs) {
    const { type, state } = job;
    const [labels, sum] = sums.get(`${type} ${state}`) ?? [{ type, state }, 0];
    sums.set(`${type} ${state}`, [labels, sum + weigh(job)]);
  }
  return [...sums.values()];
}
