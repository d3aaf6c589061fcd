import { setMaxListeners } from 'node:events';
import type { RequestListener } from 'node:http';

import { openBodyWorkers, type BodyWorkers } from '../body-workers/body-workers.js';
import type { ResumePrincipal, RightsOf } from '../auth/clients/resume-principal.js';
import { startBodyWorker } from '../body-workers/start-thread.js';
import type { Config } from '../config/settings.js';
import { describeStaleIndex } from '../core/definitions/index-status.js';
import { JOBS_PER_CLIENT, type Job } from '../core/jobs.js';
import { FhirError } from '../fhir/errors.js';
import type { AfterRead } from '../core/read-hook.js';
import { endedSpan, hasSpans, span } from '../observe/trace/spans.js';
import type { BeforeWrite } from '../core/write/write-hooks.js';
import { readOnlyStore } from '../core/read-only-store.js';
import { isServable } from '../core/release-needs.js';
import { createApp, FHIR_PATH, type AppOptions } from '../http/app.js';
import { createServing } from '../http/create-services.js';
import type { UpgradeListener } from '../http/listen.js';
import { checkOpenMode } from '../http/open-mode.js';
import { createHealth } from '../observe/health.js';
import type { Log } from '../observe/log.js';
import { repeat } from '../observe/repeat.js';
import { subset, XML, ZONE, type Core } from '../server.js';
import { prepareAccess, type AccessOptions } from './access.js';
import { docsFolder } from './docs-folder.js';
import { createFetchFile } from './fetch-file.js';
import { keepPublished, publishSettings } from './publish.js';
import { createTraffic, openJobs, type JobSettings } from './jobs.js';
import { checkRequiredProfiles } from './required-profiles.js';

/** Where an application is, as clients see it: known once its server listens. */
export interface ServerAddress {
  /** URL without a trailing slash, with FHIR at `/fhir` below it; of one that is mounted, the FHIR base. */
  readonly root: string;
  /** The path that it is mounted on in another application; absent: it has the server to itself. */
  readonly mountPath?: string;
}

/** Transport between clients and an application: the base URL, the trusted proxies and the CORS origins. */
export interface ApplicationTransport {
  readonly app: Pick<AppOptions, 'baseUrl' | 'proxies' | 'corsOrigins'>;
  readonly proxies: { readonly clientAddress: NonNullable<AppOptions['clientAddress']> };
}

/** Hooks that a program adds when it mounts this application in its own. */
export interface ApplicationHooks {
  readonly beforeWrite: BeforeWrite;
  /** Has the hooks learn of a read. */
  afterRead(log: Log): AfterRead;
  /** A store whose writes the hooks learn of. */
  watch(store: Core['store'], log: Log): Core['store'];
}

/** A server but for what it listens with: authorization, audit, metrics, jobs and all that it answers. */
export interface Application {
  /** Answers probes of its health, and everything else once it is open. */
  readonly listener: RequestListener;
  /** Takes requests for web sockets; absent: there are none. */
  readonly upgrade?: UpgradeListener;
  /** URL of the metrics; absent: they are off. */
  readonly metricsUrl?: string;
  /** Begins to answer, and to work on jobs. */
  open(place: ServerAddress): void;
  /** From now on it is not ready, connections that are kept end with their next answer, and web sockets at once. */
  drain(): void;
  /** Ends everything but the store. No request may be in progress. */
  close(): Promise<void>;
}

/** Where FHIR is in the URLs of requests. */
const fhirPathOf = (isMounted: boolean): string => (isMounted ? '' : FHIR_PATH);

/** Versions, and milliseconds, that subscriptions may be behind before `/health/ready` says so. */
const LAG = { versions: 10_000, time: 30_000 };

/** Methods of the store whose times are measured. */
const TIMED = [
  'read',
  'readMany',
  'readVersion',
  'history',
  'find',
  'findMultiType',
  'findLines',
  'write',
  'counts',
] as const;

/**
 * Puts an application together.
 *
 * @throws ConfigError naming a setting that cannot be
 * @throws Error where the metrics cannot be listened for, or the audit not be written
 */
export async function openApplication(
  config: Config,
  core: Core,
  { app, proxies }: ApplicationTransport,
  log: Log,
  hooks?: ApplicationHooks,
): Promise<Application> {
  const closers: (() => Promise<void>)[] = [];
  const close = async (): Promise<void> => {
    for (const each of closers.splice(0).reverse()) await each();
  };
  try {
    await checkRequiredProfiles(config, core.profiles);
    let base = '';
    const audit = await startAudit(config, core, log, () => base);
    if (audit !== undefined) closers.push(() => audit.close());
    const live = core.definitions.current;
    const parts = {
      tables: core.tables,
      tablesNow: () => live().tables,
      zone: core.zone,
      own: core.own,
      maps: core.store.maps,
    };
    const accessAt = await prepareAccess(config, parts, log, audit);
    const large = openLargeBodies(core);
    closers.push(() => large.close());
    const metrics = await startMetrics(config, core, closers);
    const kept = config.readOnly ? readOnlyStore(core.store) : core.store;
    const timed = metrics === undefined ? kept : metrics.timeStore(kept);
    const measured = hasSpans() ? await traceStore(timed) : timed;
    core.watchCommands((command, milliseconds, failed) => {
      endedSpan('mongodb', { command }, milliseconds, failed);
      metrics?.command(command, milliseconds, failed);
    });
    const store = hooks === undefined ? measured : hooks.watch(measured, log);
    const currency = async (): Promise<string | undefined> => describeStaleIndex(await core.indexStatus.notCurrent());
    const first = await currency();
    if (first !== undefined) log.warn(first);
    core.definitions.tellRefused((text) => log.warn(text));
    const late: {
      app?: RequestListener;
      principalOf?: ResumePrincipal;
      rightsOf?: RightsOf;
      sign?: AccessOptions['sign'];
      lagging?: () => Promise<string | undefined>;
    } = {};
    const health = createHealth(async () => {
      const check = await core.store.check();
      const detail = check.ok ? ((await currency()) ?? (await late.lagging?.())) : undefined;
      return detail === undefined ? check : { ok: true, detail };
    });
    const draining = new AbortController();
    // As many as there are requests that wait.
    setMaxListeners(0, draining.signal);
    const traffic = createTraffic();
    const jobSettings: JobSettings = {
      isBusy: () => traffic.isBusy(),
      atOnce: config['jobs.atOnce'],
      isReadOnly: config.readOnly,
      perClient: { ...JOBS_PER_CLIENT, running: config['limits.jobs.running'] },
      // Jobs go on from when it is open.
      principalOf: (owner) => late.principalOf!(owner),
    };
    const createServices = () => createServing({ ...options, largeTexts: large }, live);
    let serving: ReturnType<typeof createServices> | undefined;
    const servingNow = () => (serving ??= createServices())();
    const jobs = openJobs(store, createServices, jobSettings, log, metrics?.jobEnded);
    const publish = publishSettings(config, core.tables);
    const hasTopics = isServable('subscriptions', core.tables);
    const { openSubscriptions } = await import('./subscriptions.js');
    const subscriptions = await openSubscriptions({
      ...{ config, store, log },
      services: () => servingNow().services,
      rightsOf: (owner) => late.rightsOf!(owner),
      sign: (body) => late.sign!(body),
      base: () => (config['base-url'] === undefined ? base : `${config['base-url']}${FHIR_PATH}`),
      isOwn: (url) => core.own.below(url) !== undefined,
      audited: ({ clientId, ...record }) =>
        audit?.notification({ ...record, client: clientId === '' ? {} : { clientId } }),
      counters: metrics?.subscriptions ?? { matched: () => {}, delivered: () => {} },
    });
    const { sockets } = subscriptions;
    const webSockets =
      sockets === undefined
        ? undefined
        : (await import('../http/transport/web-sockets.js')).createWebSockets({
            fhirPath: fhirPathOf(hooks !== undefined),
            // A proxy may have given another `Host`.
            corsOrigins: [
              ...(app.corsOrigins ?? []),
              ...(app.baseUrl === undefined ? [] : [new URL(app.baseUrl).origin]),
            ],
            admit: (req) => {
              if (app.proxies?.isPeer(req) === false) throw new FhirError('proxy-untrusted');
              if (config.auth === 'open') checkOpenMode(req);
              if (late.app === undefined) throw new FhirError('not-open');
            },
            bind: sockets.bind,
            log,
          });
    const closeSockets = async (): Promise<void> => {
      await sockets?.close();
      await webSockets?.close();
    };
    late.lagging = async () => {
      if (config.readOnly) return undefined;
      const { lag, waits } = await subscriptions.engine.state();
      if (lag <= LAG.versions && waits <= LAG.time) return undefined;
      return `notifications are ${lag} versions and ${Math.ceil(waits / 1000)} s behind`;
    };
    const options = {
      ...core,
      live,
      ...app,
      clientAddress: proxies.clientAddress,
      rate: config['limits.rate.perSecond'] === 0 ? undefined : await startRate(config),
      codecs: { xml: XML },
      subset,
      store,
      large,
      jobs,
      draining: draining.signal,
      ...(hasTopics && { subscriptions: subscriptions.checks }),
      fetchFile: createFetchFile(config['import.allow']),
      publish,
      ...(audit !== undefined && { audit }),
      ...(hooks !== undefined && { beforeWrite: hooks.beforeWrite, afterRead: hooks.afterRead(log) }),
      log: metrics === undefined ? log : metrics.watch(log),
    };
    if (!config.readOnly) closers.push(sweepFromTimeToTime(core.store, log));
    metrics?.watchJobs(() => jobs.list());
    metrics?.subscriptions.watchSubscriptions(() => subscriptions.engine.state());
    const reindexing =
      config['reindex.automatic'] && !config.readOnly ? await import('./reindex-on-change.js') : undefined;
    return {
      listener: traffic.watch((req, res) => {
        // Clients that keep their connection have to look for another server.
        if (health.draining) res.shouldKeepAlive = false;
        if (!health.handle(req, res)) late.app?.(req, res);
      }),
      ...(metrics === undefined ? {} : { metricsUrl: metrics.url }),
      ...(webSockets !== undefined && { upgrade: webSockets.upgrade }),
      open({ root, mountPath }) {
        const fhirPath = fhirPathOf(mountPath !== undefined);
        base = root + fhirPath;
        core.own.learn(base);
        const { principalOf, rightsOf, sign, ...access } = accessAt(root, fhirPath);
        late.principalOf = principalOf;
        late.rightsOf = rightsOf;
        late.sign = sign;
        // Of the application around a mounted one there may be other pages, which share what a tab keeps.
        const keepsToken = config['pages.keepToken'] && mountPath === undefined;
        const place = { ownBase: base, mountPath, docsFolder: docsFolder(), keepsToken };
        late.app = createApp({ ...options, ...place, ...access });
        jobs.open();
        if (hasTopics && !config.readOnly) subscriptions.engine.open();
        if (reindexing !== undefined) {
          const { resourceTypes } = core.tables;
          const { definitions } = core;
          const stop = reindexing.reindexOnChange({ definitions, store, jobs, resourceTypes, log });
          closers.push(() => Promise.resolve(stop()));
        }
        if (!config.readOnly) {
          const stop = keepPublished({ settings: publish, store, jobs }, log);
          closers.push(() => Promise.resolve(stop()));
        }
        closers.push(() => jobs.close());
        closers.push(() => subscriptions.close());
      },
      drain() {
        health.drain();
        draining.abort();
        closeSockets().catch((error: unknown) => log.defect('none', error));
      },
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

/** Megabytes that a thread may take for one body: twenty times its greatest size, and not less than some. */
const INTAKE_MEMORY = { least: 512, perMegabyte: 20 };

/** Bodies of more than some bytes are read by other threads. */
function openLargeBodies({ limits, validation, own }: Pick<Core, 'limits' | 'validation' | 'own'>): BodyWorkers {
  const { nesting, entries, resource, body } = limits;
  const memory = Math.max(INTAKE_MEMORY.least, (INTAKE_MEMORY.perMegabyte * body) / 2 ** 20);
  return openBodyWorkers(
    () => startBodyWorker({ zone: ZONE, own: own.keys, validation, limits: { nesting, entries, resource } }, memory),
    {
      body,
    },
  );
}

/** A start has other things to do; what is left behind is no hurry. In milliseconds. */
const SWEEP_TIMES = { first: 5 * 60_000, pause: 60 * 60_000 };

/** Contents younger than this when they were looked at are looked at again: more than the sweep spares. */
const SWEEP_OVERLAP = 2 * 60 * 60_000;

/** @returns ends it */
function sweepFromTimeToTime(store: Core['store'], log: Log): () => Promise<void> {
  let since = 0;
  const sweep = async (): Promise<void> => {
    const { sweepBlobs } = await import('../interactions/binary/sweep-blobs.js');
    const began = Date.now();
    const deleted = await sweepBlobs(store, since);
    since = began - SWEEP_OVERLAP;
    if (deleted > 0) log.info(`deleted ${deleted} contents that no Binary refers to`);
  };
  const stop = repeat(sweep, SWEEP_TIMES, (error) => log.defect('none', error));
  return () => Promise.resolve(stop());
}

async function startRate(config: Config) {
  const { createRequestRate } = await import('../http/request-rate.js');
  return createRequestRate(config['limits.rate.perSecond'], config['limits.rate.burst']);
}

/** Loaded only where there is one. */
async function startAudit(config: Config, core: Core, log: Log, base: () => string) {
  const kind = config['audit.sink'] ?? (config.auth === 'open' ? 'off' : 'file');
  if (kind === 'off') return undefined;
  return (await import('./audit.js')).prepareAudit(kind, config, core, log, base);
}

/** Spans for what the store does. */
async function traceStore(store: Core['store']): Promise<Core['store']> {
  const { around } = await import('../observe/timed.js');
  return around(store, TIMED, (command, call) => span('store', { command }, call));
}

/** Metrics are loaded and measured only where a configuration asks for them. */
async function startMetrics(config: Config, core: Core, closers: (() => Promise<void>)[]) {
  const port = config['metrics-port'];
  if (port === undefined) return undefined;
  const [{ createMetrics }, { serveMetrics }, { timed }] = await Promise.all([
    import('../observe/metrics.js'),
    import('../observe/metrics-server.js'),
    import('../observe/timed.js'),
  ]);
  const { contract, fhirVersion } = core.tables.origin;
  const metrics = createMetrics({ contract: String(contract), fhir: fhirVersion, node: process.version });
  const server = await serveMetrics(metrics, config['metrics-host'], port);
  closers.push(async () => {
    metrics.close();
    await server.close();
  });
  return {
    url: server.url,
    command: (...seen: Parameters<typeof metrics.command>) => metrics.command(...seen),
    subscriptions: metrics,
    jobEnded: ({ type, state }: Job) => metrics.jobEnded(type, state),
    watchJobs: (list: () => Promise<readonly Job[]>) => metrics.watchJobs(list),
    timeStore: (store: Core['store']) => timed(store, TIMED, (...seen) => metrics.store(...seen)),
    watch: (log: Log): Log => ({
      ...log,
      request(record) {
        metrics.request(record);
        log.request(record);
      },
    }),
  };
}
