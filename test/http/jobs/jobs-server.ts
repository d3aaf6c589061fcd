import { afterAll } from 'vitest';

import { OWN } from '../../toy/own.js';
import { tables } from '../../../generated/tables.js';
import type { ClientReader } from '../../../runtime/auth/clients/client-reader.js';
import { createResumePrincipal } from '../../../runtime/auth/clients/resume-principal.js';
import { createScopes } from '../../../runtime/auth/scopes/create-scopes.js';
import type { JobsPerClient } from '../../../runtime/core/jobs.js';
import { newId } from '../../../runtime/fhir/id.js';
import type { Resource } from '../../../runtime/fhir/resource.js';
import { parseElements, selectElements } from '../../../runtime/format/summary-elements.js';
import { createServing } from '../../../runtime/http/create-services.js';
import type { KilnOptions } from '../../../runtime/http/kiln.js';
import { createJobEngine, type JobEngine } from '../../../runtime/jobs/engine/engine.js';
import { JOB_KINDS } from '../../../runtime/jobs/kinds.js';
import { createExtractor } from '../../../runtime/indexing/extract.js';
import { utc } from '../../../runtime/indexing/values/zone.js';
import type { JobKind } from '../../../runtime/jobs/engine/job-kind.js';
import { SYSTEM_CLOCK, type Clock } from '../../../runtime/jobs/engine/clock.js';
import { TIMES } from '../../../runtime/jobs/engine/run-job.js';
import type { Store } from '../../../runtime/store/store.js';
import { createValidator } from '../../../runtime/validate/create-validator.js';
import { scopedServer } from '../auth/scoped.js';

/** A server with jobs, which starts those that wait only when the test says so. */
export interface JobsServer extends ReturnType<typeof scopedServer> {
  /** Works on all jobs until none is left. */
  finish(): Promise<void>;
  /** The engine that requests reach; it only keeps jobs. */
  readonly jobs: JobEngine;
}

/** What a client says who takes its answer later. */
export const ASYNC = { prefer: 'respond-async' };

/** What failed is tried again without a pause. */
const clock: Clock = {
  now: Date.now,
  sleep: (milliseconds, signal) => SYSTEM_CLOCK.sleep(milliseconds < TIMES.beat ? 0 : milliseconds, signal),
};

/** What a server with jobs has besides. */
export interface JobsServerSettings {
  /** Absent: no client is registered, so that none is removed. */
  readonly clients?: ClientReader;
  /** Absent: any number. */
  readonly perClient?: JobsPerClient;
  /** Absent: those of the server. */
  readonly kinds?: readonly JobKind[];
}

/** Serves a store. */
export function jobsServer(
  store: Store,
  more: Partial<KilnOptions> = {},
  { clients, perClient = { running: 1000, kept: 1000 }, kinds = JOB_KINDS }: JobsServerSettings = {},
): JobsServer {
  const subset: KilnOptions['subset'] = (resource, { elements = [] }) =>
    selectElements(resource, parseElements(elements.join(','), [resource.resourceType], tables), tables);
  const options = {
    tables,
    store,
    extract: createExtractor(tables, { own: OWN }),
    validate: createValidator(tables),
    subset,
    ...more,
    ...(more.large !== undefined && { largeTexts: more.large }),
  };
  const engine = (holder: string, atOnce: number): JobEngine =>
    createJobEngine({
      ...{ store, holder, atOnce, newId, kinds, clock, perClient, principalOf },
      services: () => createServing({ ...options, jobs }, options.live)().services,
      onError: (error) => errors.push(error),
    });
  const scopes = createScopes({ tables, zone: utc, own: OWN });
  const principalOf = createResumePrincipal({ scopes, tables, ...(clients !== undefined && { clients }) });
  const errors: unknown[] = [];
  const jobs: JobEngine = engine('keeper', 0);
  const worker = engine('worker', 50);
  afterAll(async () => {
    await worker.close();
    await jobs.close();
  });
  const server = scopedServer(store, { ...options, jobs });
  return Object.assign(server, {
    jobs,
    async finish() {
      await worker.look();
      await worker.idle();
      const [first] = errors.splice(0);
      if (first !== undefined) throw first as Error;
    },
  });
}

/** The lines of an NDJSON file. */
export function linesOf(text: string): Resource[] {
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Resource);
}
