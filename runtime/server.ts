import { statSync } from 'node:fs';
import type { RequestListener } from 'node:http';

import { docsFolder } from './assembly/docs-folder.js';
import { checkRequiredProfiles, requiredProfiles } from './assembly/required-profiles.js';
import { isStaleBuild } from './assembly/stale-build.js';
import { limitsOf, searchSettingsOf } from './config/limits.js';
import { isMongoUrl } from './config/mongo-url.js';
import type { Config } from './config/settings.js';
import { CONTRACT_VERSION } from './contract/index.js';
import type { Resource } from './fhir/resource.js';
import { parseElements, selectElements } from './format/summary-elements.js';
import { summarize } from './format/summary.js';
import type { Codec } from './http/response/codecs.js';
import { describeStaleIndex, type IndexStatus } from './core/definitions/index-status.js';
import type { Job } from './core/jobs.js';
import { openDefinitions, type Definitions } from './core/definitions/definitions.js';
import { createStoredProfiles } from './core/validation/stored-profiles.js';
import { createPatchers } from './core/patch/patchers.js';
import { openBodyWorkers, type BodyWorkers } from './body-workers/body-workers.js';
import { startBodyWorker } from './body-workers/start-thread.js';
import type { SearchServices } from './core/search/parse/search-context.js';
import type { SearchSettings } from './core/search/search-settings.js';
import type { ProfileServices, Services, View } from './core/services.js';
import { collectWhenIdle } from './observe/collect-when-idle.js';
import { createHealth } from './observe/health.js';
import type { Log } from './observe/log.js';
import { repeat } from './observe/repeat.js';
import { parametersOf } from './search/parameters-of.js';
import { createExtractionThrottle, type ExtractionThrottle } from './search/extraction-throttle.js';
import { createZone } from './search/values/zone.js';
import { createValidator } from './validate/create-validator.js';
import { createRuleChecker } from './validate/rules/create-rule-checker.js';
import { sqlitePathOf } from './store/sqlite-path.js';
import type { Store } from './store/store.js';
import { loadProfiles, tables } from './tables.js';

/** What works with data, with or without HTTP around it. */
export interface Core extends Pick<
  Services,
  | 'tables'
  | 'store'
  | 'extract'
  | 'refit'
  | 'validate'
  | 'rules'
  | 'validation'
  | 'patchers'
  | 'deletesMultiple'
  | 'zone'
> {
  readonly limits: ReturnType<typeof limitsOf>;
  /** Whether clients may remove versions for good. */
  readonly allowsExpunge: boolean;
  readonly search: SearchSettings;
  /** The search parameters that hold at the moment; what is beside it here follows them, but for `tables`. */
  readonly definitions: Definitions;
  /** Finds the profiles that resources are validated by. */
  readonly profiles: ProfileServices;
  /** Whether those in the store are of these definitions. */
  readonly indexStatus: IndexStatus;
}

/** Zone of dates without an offset. */
const ZONE = 'UTC';

/** How a store is opened. */
export interface OpenOptions {
  /** It has to be there already, and is only read; where it is not, none is made. */
  readonly existing?: boolean;
  /** What stored search parameters may take of the time of all; absent: as much as they need, because no request waits. */
  readonly pace?: ExtractionThrottle;
}

/**
 * The composition root: generated tables, and the store of a configuration.
 *
 * @throws Error where the tables are of another contract or not those of the checkout, or the store cannot be opened
 */
export async function openCore(config: Config, options: OpenOptions = {}): Promise<Core> {
  if (tables.origin.contract !== CONTRACT_VERSION) {
    throw new Error(
      `generated/ has version ${tables.origin.contract} of the contract, the runtime ${CONTRACT_VERSION}; run: npm run generate`,
    );
  }
  if (isStaleBuild()) throw new Error('dist/ was built with other tables than those in generated/; run: npm run build');
  const store = await openStore(config, options);
  try {
    const validate = createValidator(tables);
    // One that has to be there already is only read.
    const isReader = options.existing === true;
    const definitions = await openDefinitions(store, {
      ...{ tables, zone: ZONE, validate, isReader },
      ...(options.pace !== undefined && { pace: options.pace }),
    });
    const { current } = definitions;
    const profiles = createStoredProfiles(definitions.store, tables, loadProfiles);
    return {
      tables,
      store: profiles.store,
      profiles: { types: profiles.types, profile: profiles.profile, required: requiredProfiles(config) },
      definitions,
      extract: (resource, without) => current().extract(resource, without),
      refit: (resource, entries) => current().refit(resource, entries),
      validate: (resource) => current().validate(resource),
      rules: createRuleChecker(tables),
      validation: config.validation,
      limits: limitsOf(config),
      search: searchSettingsOf(config),
      indexStatus: { notCurrent: (at) => current().indexStatus.notCurrent(at) },
      patchers: createPatchers(tables),
      deletesMultiple: config['delete.multiple'],
      allowsExpunge: config['admin.expunge'],
      zone: createZone(ZONE),
    };
  } catch (error) {
    await store.close();
    throw error;
  }
}

/** Whether there is a SQLite file behind a URL; an empty one would become one. */
export function storeExists(store: string): boolean {
  return (statSync(sqlitePathOf(store), { throwIfNoEntry: false })?.size ?? 0) > 0;
}

/** The store that the URL names; what only the other one needs is not loaded. */
async function openStore(config: Config, { existing = false }: OpenOptions): Promise<Store> {
  const options = { queryBudget: config['limits.query.time'] };
  if (!isMongoUrl(config.store)) {
    if (existing && !storeExists(config.store)) {
      throw new Error(`there is no store at ${config.store}`);
    }
    const { openSqliteStore } = await import('./store/sqlite/sqlite-store.js');
    return openSqliteStore(config.store, options);
  }
  const { openMongoStore } = await import('./store/mongo/mongo-store.js');
  return openMongoStore(config.store, {
    ...options,
    existing,
    slotOf: createSlotOf(),
    poolSize: config['mongo.pool'],
    operationTime: config['mongo.operationTime'],
    selectionTime: config['mongo.selectionTime'],
  });
}

/** The sort slots of the tables, those that a type inherits too; looked up when its first resource comes. */
function createSlotOf(): (type: string, param: string) => number | undefined {
  const search = new Map(tables.search.map((table) => [table.type, table]));
  const known = new Map<string, ReturnType<typeof parametersOf>>();
  return (type, param) => {
    const rows = known.get(type) ?? parametersOf(type, search);
    known.set(type, rows);
    return rows.get(param)?.slot;
  };
}

/**
 * Copies one instant of a SQLite file into a new one, while servers use it.
 *
 * @throws Error where the target exists, or the store cannot be opened
 */
export async function backUpSqlite(store: string, target: string): Promise<void> {
  const [{ openSqliteStore }, { backUp }] = await Promise.all([
    import('./store/sqlite/sqlite-store.js'),
    import('./store/sqlite/file/backup.js'),
  ]);
  // Opened as any other, so that it is checked, and migrated where it is older.
  const opened = openSqliteStore(store);
  try {
    await backUp(sqlitePathOf(store), target);
  } finally {
    await opened.close();
  }
}

/** A server that runs. */
export interface RunningServer {
  /** URL of the FHIR base. */
  readonly url: string;
  /** URL of the metrics; absent: they are off. */
  readonly metricsUrl?: string;
  /**
   * Ends it: not ready any more, then no new connections, then running requests end, then the store closes.
   *
   * @returns whether all requests ended within the time they have; what is left then is cut with the process
   */
  close(): Promise<boolean>;
}

/** XML; its reader and writer are loaded on first use. */
const XML: Codec = {
  async writeBundle(bundle, entries, pretty) {
    const { writeXmlBundle } = await import('./format/xml/write-xml.js');
    return writeXmlBundle(bundle as Resource, entries, tables, { pretty });
  },
  read: async (bytes) => (await import('./format/xml/read-xml.js')).readXml(bytes, tables),
  write: async (resource, pretty) =>
    (await import('./format/xml/write-xml.js')).writeXml(resource as Resource, tables, { pretty }),
};

/** The part of a resource that a client wants. */
function subset(resource: Resource, { summary, elements }: View): Resource {
  if (summary !== undefined) return summarize(resource, summary, tables);
  return selectElements(resource, parseElements((elements ?? []).join(','), [resource.resourceType], tables), tables);
}

/** Methods of the store whose times are measured. */
const TIMED = ['read', 'readMany', 'readVersion', 'history', 'find', 'findMultiType', 'write', 'counts'] as const;

/**
 * Starts a server.
 *
 * @throws Error where the store cannot be opened or an address not be listened on
 */
export async function startServer(config: Config, log: Log): Promise<RunningServer> {
  const { openTransport } = await import('./assembly/transport.js');
  const transport = await openTransport(config, log);
  const core = await openCore(config, { pace: createExtractionThrottle() });
  const closers: (() => Promise<void>)[] = [() => core.store.close()];
  try {
    await checkRequiredProfiles(config, core.profiles);
    const { createApp, FHIR_PATH } = await import('./http/app.js');
    const { prepareAccess } = await import('./assembly/access.js');
    let root = '';
    const audit = await startAudit(config, core, log, () => root + FHIR_PATH);
    if (audit !== undefined) closers.push(() => audit.close());
    const live = core.definitions.current;
    const parts = { tables, tablesNow: () => live().tables, zone: createZone(ZONE), maps: core.store.maps };
    const accessAt = await prepareAccess(config, parts, log, audit);
    const large = openLargeBodies(core);
    closers.push(() => large.close());
    const { listen } = await import('./http/listen.js');
    const metrics = await startMetrics(config, closers);
    const store = metrics === undefined ? core.store : metrics.timeStore(core.store);
    const currency = async (): Promise<string | undefined> => describeStaleIndex(await core.indexStatus.notCurrent());
    const first = await currency();
    if (first !== undefined) log.info(first);
    core.definitions.tellRefused((text) => log.warn(text));
    const health = createHealth(async () => {
      const check = await core.store.check();
      const detail = check.ok ? await currency() : undefined;
      return detail === undefined ? check : { ok: true, detail };
    });
    const codecs = { xml: XML };
    const { createFetchFile } = await import('./assembly/fetch-file.js');
    const { createTraffic, openJobs } = await import('./assembly/jobs.js');
    const { createServing } = await import('./http/create-services.js');
    const traffic = createTraffic();
    const jobSettings = { isBusy: () => traffic.isBusy(), atOnce: config['jobs.atOnce'] };
    const jobs = openJobs(
      store,
      () => createServing({ ...options, largeTexts: large }, live),
      jobSettings,
      log,
      metrics?.jobEnded,
    );
    const options = {
      ...core,
      live,
      ...transport.app,
      clientAddress: transport.proxies.clientAddress,
      codecs,
      subset,
      store,
      large,
      jobs,
      fetchFile: createFetchFile(config['import.allow']),
      ...(audit !== undefined && { audit }),
      log: metrics === undefined ? log : metrics.watch(log),
    };
    const late: { app?: RequestListener } = {};
    const server = await listen(
      transport.front(
        traffic.watch((req, res) => {
          // Clients that keep their connection have to look for another server.
          if (health.draining) res.shouldKeepAlive = false;
          if (!health.handle(req, res)) late.app?.(req, res);
        }),
      ),
      config.host,
      config.port,
      core.limits,
      transport.tls,
    );
    // Tokens say where they are good, which may depend on the port. No request comes before this is done.
    root = config['base-url'] ?? server.url;
    late.app = createApp({ ...options, ownBase: root + FHIR_PATH, docsFolder: docsFolder(), ...accessAt(root) });
    const stopCollecting = collectWhenIdle();
    closers.push(sweepFromTimeToTime(core.store, log), () => Promise.resolve(stopCollecting()));
    jobs.open();
    metrics?.watchJobs(() => jobs.list());
    if (config['reindex.automatic']) {
      const { reindexOnChange } = await import('./assembly/reindex-on-change.js');
      const { resourceTypes } = tables;
      const stop = reindexOnChange({ definitions: core.definitions, store, jobs, resourceTypes, log });
      closers.push(() => Promise.resolve(stop()));
    }
    closers.push(() => jobs.close());
    return {
      url: server.url + FHIR_PATH,
      ...(metrics === undefined ? {} : { metricsUrl: metrics.url }),
      async close() {
        health.drain();
        if (config['shutdown.delay'] > 0) await sleep(config['shutdown.delay']);
        const drain = config['shutdown.drain'];
        const ended = await server.close(drain, Math.min(IDLE_FOR, drain / 2));
        for (const close of closers.reverse()) await close();
        return ended;
      },
    };
  } catch (error) {
    for (const close of closers.reverse()) await close();
    throw error;
  }
}

/** Clients that keep their connection learn within this time that it ends, with their next answer, in milliseconds. */
const IDLE_FOR = 500;

/** Megabytes that a thread may take for one body: twenty times its greatest size, and not less than some. */
const INTAKE_MEMORY = { least: 512, perMegabyte: 20 };

/** Bodies of more than some bytes are read by other threads. */
function openLargeBodies({ limits, validation }: Pick<Core, 'limits' | 'validation'>): BodyWorkers {
  const { nesting, entries, resource, body } = limits;
  const memory = Math.max(INTAKE_MEMORY.least, (INTAKE_MEMORY.perMegabyte * body) / 2 ** 20);
  return openBodyWorkers(
    () => startBodyWorker({ zone: ZONE, validation, limits: { nesting, entries, resource } }, memory),
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
    const { sweepBlobs } = await import('./interactions/binary/sweep-blobs.js');
    const began = Date.now();
    const deleted = await sweepBlobs(store, since);
    since = began - SWEEP_OVERLAP;
    if (deleted > 0) log.info(`deleted ${deleted} contents that no Binary refers to`);
  };
  const stop = repeat(sweep, SWEEP_TIMES, (error) => log.defect('none', error));
  return () => Promise.resolve(stop());
}

/** Loaded only where there is one. */
async function startAudit(config: Config, core: Core, log: Log, base: () => string) {
  const kind = config['audit.sink'] ?? (config.auth === 'open' ? 'off' : 'file');
  if (kind === 'off') return undefined;
  return (await import('./assembly/audit.js')).prepareAudit(kind, config, core, log, base);
}

/** Metrics are loaded and measured only where a setting asks for them. */
async function startMetrics(config: Config, closers: (() => Promise<void>)[]) {
  const port = config['metrics-port'];
  if (port === undefined) return undefined;
  const [{ createMetrics }, { serveMetrics }, { timed }] = await Promise.all([
    import('./observe/metrics.js'),
    import('./observe/metrics-server.js'),
    import('./observe/timed.js'),
  ]);
  const { contract, fhirVersion } = tables.origin;
  const metrics = createMetrics({ contract: String(contract), fhir: fhirVersion, node: process.version });
  const server = await serveMetrics(metrics, config['metrics-host'], port);
  closers.push(async () => {
    metrics.close();
    await server.close();
  });
  return {
    url: server.url,
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

function sleep(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}

/** Tables and settings that searches are read with, as the server has them. */
export function searchServices(core: Core): SearchServices {
  return { tables: core.definitions.current().tables, search: core.search, zone: core.zone, subset };
}

/** The small maps of a store, and what scopes are read by: for the commands about clients and keys. */
export async function openMaps(config: Config, options: OpenOptions) {
  const core = options.existing ? undefined : await openCore(config);
  const store = core?.store ?? (await openStore(config, options));
  return {
    tables: core?.definitions.current().tables ?? tables,
    zone: createZone(ZONE),
    maps: store.maps,
    close: (): Promise<void> => store.close(),
  };
}

/** Types that a resource can have. */
export const RESOURCE_TYPES: readonly string[] = tables.resourceTypes;

/** Readers of formats that `kiln load` takes besides JSON: `readXml` goes in here. */
export const LOAD_FORMATS = {
  readXml: async (text: string): Promise<Resource> => (await import('./format/xml/read-xml.js')).readXml(text, tables),
};
