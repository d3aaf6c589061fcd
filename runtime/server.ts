import type { ServerFacts } from './store/mongo/examine-servers.js';
import { statSync } from 'node:fs';

import { integrityOf } from './assembly/integrity.js';
import { withoutViews } from './core/definitions/without-views.js';
import { requiredProfiles } from './assembly/required-profiles.js';
import { isStaleBuild } from './assembly/stale-build.js';
import { limitsOf, searchSettingsOf } from './config/limits.js';
import { ownBasesOf } from './config/exposure.js';
import { isMongoUrl } from './config/mongo-url.js';
import type { Config } from './config/settings.js';
import { CONTRACT_VERSION } from './contract/index.js';
import type { Resource } from './fhir/resource.js';
import { parseElements, selectElements } from './format/summary-elements.js';
import { summarize } from './format/summary.js';
import type { Codec } from './http/response/codecs.js';
import type { StoredAnyway } from './core/definitions/check-parameter.js';
import { readIndexRecord, type IndexStatus } from './core/definitions/index-status.js';
import { openDefinitions, type Definitions } from './core/definitions/definitions.js';
import { SHIPPED } from './core/shipped/shipped-resources.js';
import { createStoredProfiles } from './core/validation/stored-profiles.js';
import { createPatchers } from './patch/apply/patchers.js';
import type { SearchServices } from './search-execution/parse/search-context.js';
import type { SearchSettings } from './core/search-services/search-settings.js';
import type { ProfileServices, Services, View } from './core/services.js';
import { actorsOf } from './exchange/actors.js';
import { OwnBases } from './path/own-bases.js';
import { parametersOf } from './indexing/parameters-of.js';
import type { ExtractionThrottle } from './indexing/extraction-throttle.js';
import { createZone } from './indexing/values/zone.js';
import { createValidator } from './validate/create-validator.js';
import { createCodeRefusals } from './operations/validation/code-refusals.js';
import { createRuleChecker } from './validate/rules/create-rule-checker.js';
import { sqlitePathOf } from './store/sqlite-path.js';
import type { MongoOptions } from './store/mongo/settings.js';
import type { ResourceKey, Store } from './store/store.js';
import { loadProfiles, tables } from './tables.js';

/** Core of a server: it works with data, with or without HTTP around it. */
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
  | 'isReadOnly'
  | 'exchange'
  | 'shipped'
  | 'zone'
  | 'own'
  | 'integrity'
> {
  readonly limits: ReturnType<typeof limitsOf>;
  /** Whether clients may remove versions for good. */
  readonly allowsExpunge: boolean;
  /** Whether notifications go to web sockets too. */
  readonly hasWebsocket: boolean;
  readonly search: SearchSettings;
  /** The search parameters that hold at the moment; what is beside it here follows them, but for `tables`. */
  readonly definitions: Definitions;
  /** Finds the profiles that resources are validated by. */
  readonly profiles: ProfileServices;
  /** Whether those in the store are of these definitions. */
  readonly indexStatus: IndexStatus;
  /** Where commands of MongoDB are watched: has this see each that ends, from now on. */
  readonly watchCommands: (listener: OnCommandEnd) => void;
}

type OnCommandEnd = NonNullable<MongoOptions['onCommandEnd']>;

/** Zone of dates without an offset. */
export const ZONE = 'UTC';

/** How a store is opened. */
export interface OpenOptions {
  /**
   * By which references lead to resources of the server that works with it; absent: as for the one that made entries in it last, unless
   * the configuration names the base URL.
   */
  readonly own?: OwnBases;
  /** It has to be there already, and is only read; where it is not, none is made. */
  readonly existing?: boolean;
  /** What stored search parameters may take of the time of all; absent: as much as they need, because no request waits. */
  readonly pace?: ExtractionThrottle;
  /** Has commands of MongoDB be watched, which costs some time of each. */
  readonly watchesCommands?: boolean;
  /** Whether a SearchParameter is stored though it cannot be in effect, by its id; absent: it is refused. */
  readonly isStoredAnyway?: StoredAnyway;
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
  let ended: OnCommandEnd = () => {};
  const store = await openStore(config, options, options.watchesCommands ? (...seen) => ended(...seen) : undefined);
  const served = config.sqlOnFhir ? tables : withoutViews(tables);
  try {
    const own = options.own ?? (await ownBasesIn(store, config));
    const validate = createValidator(served);
    // One that has to be there already is only read.
    const isReader = options.existing === true;
    const definitions = await openDefinitions(store, {
      ...{ tables: served, zone: ZONE, own, validate, isReader },
      ...(options.pace !== undefined && { pace: options.pace }),
      ...(options.isStoredAnyway !== undefined && { isStoredAnyway: options.isStoredAnyway }),
    });
    const { current } = definitions;
    const { store: profiledStore, ...profiles } = createStoredProfiles(definitions.store, served, loadProfiles);
    return {
      tables: served,
      store: profiledStore,
      profiles: {
        ...{ ...profiles, required: requiredProfiles(config) },
        ...(config['validation.codes'] && { refusedCodes: createCodeRefusals(served) }),
      },
      definitions,
      extract: (resource, without) => current().extract(resource, without),
      refit: (resource, entries) => current().refit(resource, entries),
      validate: (resource) => current().validate(resource),
      rules: createRuleChecker(served),
      validation: config.validation,
      limits: limitsOf(config),
      search: searchSettingsOf(config),
      watchCommands: (listener) => void (ended = listener),
      indexStatus: { notCurrent: (at) => current().indexStatus.notCurrent(at) },
      patchers: createPatchers(served),
      deletesMultiple: config['delete.multiple'],
      isReadOnly: config.readOnly,
      exchange: {
        documents: config['exchange.documents'],
        sourceId: config['exchange.sourceId'],
        actors: actorsOf(config['profiles.actors'], config['exchange.documents']),
      },
      shipped: config['definitions.shipped'] ? SHIPPED : undefined,
      integrity: integrityOf(config, { tables: served, own, isShipped: isShippedBy(config) }),
      allowsExpunge: config['admin.expunge'],
      hasWebsocket: config['subscriptions.websocket'],
      zone: createZone(ZONE),
      own,
    };
  } catch (error) {
    await store.close();
    throw error;
  }
}

/** Whether a definition is there without being stored. */
function isShippedBy(config: Config): (key: ResourceKey) => boolean {
  return config['definitions.shipped'] ? ({ type, id }) => SHIPPED.byId(type, id, '') !== undefined : () => false;
}

/** Commands go by the server whose store it is: mostly they know neither its URL nor its port. */
async function ownBasesIn(store: Store, config: Config): Promise<OwnBases> {
  const known = config['base-url'] === undefined ? (await readIndexRecord(store)).record?.own : undefined;
  return known === undefined ? ownBasesOf(config) : new OwnBases(known);
}

/** Whether there is a SQLite file behind a URL; an empty one would become one. */
export function storeExists(store: string): boolean {
  return (statSync(sqlitePathOf(store), { throwIfNoEntry: false })?.size ?? 0) > 0;
}

/** The store that the URL names; what only the other one needs is not loaded. */
async function openStore(
  config: Config,
  { existing = false }: OpenOptions,
  onCommandEnd?: OnCommandEnd,
): Promise<Store> {
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
    ...createLookups(),
    poolSize: config['mongo.pool'],
    operationTime: config['mongo.operationTime'],
    logKeep: config['log.keep'],
    ...(onCommandEnd !== undefined && { onCommandEnd }),
  });
}

/**
 * Opens a MongoDB store as it is now, for a backup.
 *
 * @throws Error where it cannot be reached
 */
export async function openMongoMoment(config: Config) {
  const { openMongoMoment: open } = await import('./store/mongo/read/moment.js');
  return open(config.store, { queryBudget: config['limits.query.time'], operationTime: config['mongo.operationTime'] });
}

/** What MongoDB asks the tables for, inherited parameters included; a type is looked up when its first resource comes. */
function createLookups(): Required<Pick<MongoOptions, 'slotOf' | 'isNameable'>> {
  const search = new Map(tables.search.map((table) => [table.type, table]));
  const known = new Map<string, ReturnType<typeof parametersOf>>();
  const rowsOf = (type: string): ReturnType<typeof parametersOf> => {
    const rows = known.get(type) ?? parametersOf(type, search);
    known.set(type, rows);
    return rows;
  };
  return { slotOf: (type, param) => rowsOf(type).get(param)?.slot, isNameable: (type) => rowsOf(type).has('url') };
}

export type { MemberState, ServerFacts } from './store/mongo/examine-servers.js';

/**
 * Asks the servers of a MongoDB store how they are; nothing is written.
 *
 * @throws Error where they cannot be reached, or cannot do what the store needs
 */
export async function examineMongo(url: string): Promise<ServerFacts> {
  const { examineServers } = await import('./store/mongo/examine-servers.js');
  return examineServers(url);
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

/**
 * Puts a backup into a new SQLite file, and opens that: it is migrated where it is older. The backup stays as it is.
 *
 * @throws Error where the backup is none of Kiln, or of a newer one, or damaged; where the target exists
 */
export async function restoreSqlite(file: string, store: string): Promise<Store> {
  const [{ openSqliteStore }, { backUp }] = await Promise.all([
    import('./store/sqlite/sqlite-store.js'),
    import('./store/sqlite/file/backup.js'),
  ]);
  await checkBackup(file);
  await backUp(file, sqlitePathOf(store));
  return openSqliteStore(store);
}

/**
 * Reads a whole backup before anything is made of it.
 *
 * @throws Error where it is none of Kiln, or of a newer one, or damaged
 */
export async function checkBackup(file: string): Promise<void> {
  const [{ checkIntegrity }, { checkOwner }] = await Promise.all([
    import('./store/sqlite/file/backup.js'),
    import('./store/sqlite/file/check-owner.js'),
  ]);
  checkOwner(file);
  await checkIntegrity(file);
}

/** XML; its reader and writer are loaded on first use. */
export const XML: Codec = {
  async writeBundle(bundle, entries, pretty) {
    const { writeXmlBundle } = await import('./format/xml/write-xml.js');
    return writeXmlBundle(bundle as Resource, entries, tables, { pretty });
  },
  read: async (bytes) => (await import('./format/xml/read-xml.js')).readXml(bytes, tables),
  write: async (resource, pretty) =>
    (await import('./format/xml/write-xml.js')).writeXml(resource as Resource, tables, { pretty }),
};

/** The part of a resource that a client wants. */
export function subset(resource: Resource, { summary, elements }: View): Resource {
  if (summary !== undefined) return summarize(resource, summary, tables);
  return selectElements(resource, parseElements((elements ?? []).join(','), [resource.resourceType], tables), tables);
}

/** Tables and settings that searches are read with, as the server has them. */
export function searchServices(core: Core): SearchServices {
  return { tables: core.definitions.current().tables, search: core.search, zone: core.zone, own: core.own, subset };
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

/** Tables that the build makes from the definitions. */
export const TABLES = tables;

/** Types that a resource can have. */
export const RESOURCE_TYPES: readonly string[] = tables.resourceTypes;

/** The version of FHIR that the server is of: `5.0.0`. */
export const FHIR_VERSION: string = tables.origin.fhirVersion;

/** Readers of formats that `kiln load` takes besides JSON: `readXml` goes in here. */
export const LOAD_FORMATS = {
  readXml: async (text: string): Promise<Resource> => (await import('./format/xml/read-xml.js')).readXml(text, tables),
};
