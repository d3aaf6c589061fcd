import { DEFAULT_LIMITS } from '../fhir/limits.js';
import type { JsonObject } from '../fhir/resource.js';
import { JOBS_PER_CLIENT } from '../core/jobs.js';
import { DEFAULT_SEARCH } from '../core/search-services/search-settings.js';
import { whyNoSqlitePath } from '../store/sqlite-path.js';
import { ACTOR_NAMES } from '../exchange/actors.js';
import { AUTH_SETTINGS } from './auth-settings.js';
import { maskPassword } from './mongo-url.js';
import { INTEGRITY_SCHEMA, PROFILES_SCHEMA } from './schemas.js';
import { address, choice, duration, integer, size, yesOrNo, type Setting } from './setting.js';
import { json, names, oid, text, words } from './setting-kinds.js';
import { TRANSPORT_SETTINGS } from './transport-settings.js';

const MB = 1024 * 1024;
const HOUR = 3_600_000;

const STORE: Setting<string> = {
  placeholder: 'URL',
  help: 'where data is kept: sqlite:PATH, sqlite::memory: or mongodb://HOST/DATABASE',
  initial: 'sqlite:./data/kiln.db',
  mask: maskPassword,
  parse(value) {
    if (typeof value !== 'string' || !/^(?:sqlite:|mongodb(?:\+srv)?:\/\/)./s.test(value)) {
      throw new Error('has to be sqlite:PATH, sqlite::memory: or mongodb://HOST/DATABASE');
    }
    const fault = value.startsWith('sqlite:') ? whyNoSqlitePath(value.slice('sqlite:'.length)) : undefined;
    if (fault !== undefined) throw new Error(`the path ${fault}`);
    return value;
  },
};

const PORT = integer(0, 65_535, { help: 'port to listen on (0: any free one)', initial: 8080 });

const SINK = choice(['file', 'store', 'stdout', 'off'], { help: '', initial: 'file' });

const AUDIT_SINK: Setting<'file' | 'store' | 'stdout' | 'off' | undefined> = {
  placeholder: 'SINK',
  help: 'where audit events go: file (audit.ndjson beside the SQLite file, or in ./data), store, stdout or off',
  initial: undefined,
  initialText: 'file with authorization, else off',
  parse: SINK.parse,
};

const METRICS_PORT: Setting<number | undefined> = {
  placeholder: 'N',
  help: 'port of /metrics (0: any free one); with workers that of the first, the others follow',
  initial: undefined,
  initialText: 'off',
  parse: (value) => (value === 'off' || value === null ? undefined : PORT.parse(value)),
};

/**
 * Every setting, by its key in the configuration file, where a dot stands for one object in another. The option is
 * this in kebab case (`--limits-history-page`), the variable the same in capitals (`KILN_LIMITS_HISTORY_PAGE`).
 */
export const SETTINGS = {
  port: PORT,
  host: address({ help: 'address to listen on', initial: '127.0.0.1' }),
  store: STORE,
  'mongo.pool': integer(2, 1000, { help: 'connections to MongoDB, at most, of one process', initial: 50 }),
  'mongo.operationTime': duration(1000, HOUR, {
    help: 'time of a read or write in MongoDB, waiting included',
    initial: 10_000,
  }),
  auth: choice(['smart', 'open'], {
    placeholder: 'MODE',
    help: 'authorization: smart (SMART Backend Services), or open: none, for this machine alone',
    initial: 'smart',
  }),
  ...AUTH_SETTINGS,
  ...TRANSPORT_SETTINGS,
  workers: integer(1, 64, { help: 'processes that share the port; more than one only on MongoDB', initial: 1 }),
  'metrics-port': METRICS_PORT,
  'metrics-host': address({ help: 'address of /metrics', initial: '127.0.0.1' }),
  'log.level': choice(['debug', 'info', 'warn', 'error', 'silent'], {
    placeholder: 'LEVEL',
    help: 'least level that is logged: debug, info (each request), warn, error (defects, answers 5xx) or silent',
    initial: 'info',
  }),
  'audit.sink': AUDIT_SINK,
  'audit.days': integer(0, 36_500, {
    help: 'days for which files of the audit are kept; the last ten (100 MB each) are kept longer',
    initial: 30,
  }),
  'shutdown.delay': duration(0, 600_000, {
    help: 'time between not being ready any more and taking no connections, for load balancers',
    initial: 0,
  }),
  'shutdown.drain': duration(0, 600_000, { help: 'time that running requests have to end', initial: 10_000 }),
  'limits.body': size(1024, 512 * MB, { help: 'size of a body', initial: DEFAULT_LIMITS.body }),
  'limits.url': size(256, 64 * 1024, { help: 'length of a URL', initial: DEFAULT_LIMITS.url }),
  'limits.resource': size(1024, 256 * MB, {
    help: 'size of a resource with its index entries',
    initial: DEFAULT_LIMITS.resource,
  }),
  'limits.package.file': size(1024, 2048 * MB, { help: 'size of a package of a guide', initial: 200 * MB }),
  'limits.package.unpacked': size(1024, 16 * 1024 * MB, { help: 'the same unpacked', initial: 1024 * MB }),
  'limits.package.entries': integer(1, 1_000_000, { help: 'files in such a package', initial: 50_000 }),
  'limits.package.resource': size(1024, 256 * MB, { help: 'size of a resource in such a package', initial: 15 * MB }),
  'limits.bundle.entries': integer(1, 100_000, {
    help: 'entries of a batch or transaction',
    initial: DEFAULT_LIMITS.entries,
  }),
  'search.handling': choice(['strict', 'lenient'], {
    help: 'unknown parameters of a search are refused (strict) or ignored (lenient); Prefer: handling= overrules it',
    initial: DEFAULT_SEARCH.handling,
  }),
  'search.count': integer(1, 10_000, { help: 'matches on a page of a search', initial: DEFAULT_SEARCH.count }),
  'search.maxCount': integer(1, 10_000, { help: 'matches on a page at most', initial: DEFAULT_SEARCH.maxCount }),
  validation: choice(['off', 'structure', 'full'], {
    placeholder: 'MODE',
    help: 'what is checked before a resource is written: full (structure, rules and profiles), structure, or off: nothing',
    initial: 'full',
  }),
  'validation.profiles': json(
    {
      help: 'profiles that all resources of a type have to conform to: {"Patient": ["http://example.org/profile"]}',
      initial: {} as JsonObject & Record<string, string[]>,
      show: (table) => (Object.keys(table).length === 0 ? 'none' : JSON.stringify(table)),
    },
    PROFILES_SCHEMA,
    'has to be an object of lists of canonical URLs such as {"Patient": ["http://example.org/profile"]}',
  ),
  'validation.codes': yesOrNo({
    help: 'whether a write is refused for a code that its code system, or UCUM, does not have; needs full',
    initial: false,
  }),
  integrity: choice(['none', 'written', 'enforced'], {
    placeholder: 'MODE',
    help: 'what references to this server have to lead to: none (anything), written (what is there when it is written) or enforced (also no deletion of what is referred to)',
    initial: 'none',
  }),
  'integrity.paths': json(
    {
      help: 'the same for types and elements, of which the longest counts: {"Observation.subject": "enforced"}',
      initial: {} as JsonObject & Record<string, 'none' | 'written' | 'enforced'>,
      show: (table) => (Object.keys(table).length === 0 ? 'none' : JSON.stringify(table)),
    },
    INTEGRITY_SCHEMA,
    'has to be an object of modes such as {"Observation": "written", "Observation.subject": "enforced"}',
  ),
  readOnly: yesOrNo({
    help: 'whether every write of a client is refused; jobs that write do not run, and no notifications are sent',
    initial: false,
  }),
  'pages.keepToken': yesOrNo({
    help: 'whether the pages offer to keep an access token for as long as its tab is open; only where the server is for this machine alone',
    initial: false,
  }),
  'definitions.shipped': yesOrNo({
    help: 'whether clients can read the definitions of FHIR (StructureDefinition, ValueSet and the like) as if they were stored',
    initial: true,
  }),
  'delete.multiple': yesOrNo({
    help: 'whether a deletion by criteria may remove several resources at once',
    initial: false,
  }),
  'exchange.documents': yesOrNo({
    help: 'whether a DocumentReference that brings its document is published: document and metadata are stored apart',
    initial: true,
  }),
  'exchange.sourceId': oid({
    help: 'OID of the source that submission sets of published documents name, as urn:oid:1.2.3; else the client is named',
  }),
  'profiles.actors': names(ACTOR_NAMES, {
    help: `actors of exchange guides that the server is: ${ACTOR_NAMES.join(', ')}; each has its rules, and /metadata names it`,
  }),
  sqlOnFhir: yesOrNo({
    help: 'whether the server has SQL on FHIR: the type ViewDefinition, $sql-run and $sql-export',
    initial: true,
  }),
  'admin.expunge': yesOrNo({
    help: 'whether $expunge and the deletion of history may remove versions for good',
    initial: false,
  }),
  'jobs.atOnce': integer(0, 16, {
    help: 'jobs that a process works on at a time (0: none; others do)',
    initial: 3,
  }),
  'limits.jobs.running': integer(1, 10_000, {
    help: 'jobs of one client that have not ended; more are refused (429)',
    initial: JOBS_PER_CLIENT.running,
  }),
  'import.allow': words({
    help: 'hosts, or host:port, of servers that $import and $bulk-submit may fetch files from',
    initial: [],
  }),
  'publish.types': words({
    help: 'types of resources that $bulk-publish offers whole to clients that may read them whole',
    initial: [],
  }),
  'publish.every': duration(1000, 30 * 24 * HOUR, {
    help: 'how often what changed is added to them',
    initial: HOUR,
  }),
  'subscriptions.allow': words({
    help: 'hosts, host:port or ranges of addresses that notifications are sent to although they are not public, or over http',
    initial: [],
  }),
  'subscriptions.ca': text({ placeholder: 'FILE', help: 'certificates of private authorities of receivers (PEM)' }),
  'subscriptions.perClient': integer(1, 100_000, { help: 'Subscriptions of one client that live', initial: 100 }),
  'subscriptions.retryFor': duration(1000, 90 * 24 * HOUR, {
    help: 'time for which a receiver that fails is tried again before its Subscription is turned off',
    initial: 72 * HOUR,
  }),
  'subscriptions.keep': duration(1000, 365 * 24 * HOUR, {
    help: 'time for which delivered events are kept, for $events',
    initial: 7 * 24 * HOUR,
  }),
  'subscriptions.websocket': yesOrNo({
    help: 'whether notifications are also sent to web sockets that clients open',
    initial: false,
  }),
  'subscriptions.sign': yesOrNo({
    help: 'whether notifications by rest-hook are signed with the key of the authorization server (X-Kiln-Signature)',
    initial: false,
  }),
  'log.keep': duration(60_000, 365 * 24 * HOUR, {
    help: 'time for which MongoDB keeps the log of changes, for $changes',
    initial: 7 * 24 * HOUR,
  }),
  'reindex.automatic': yesOrNo({
    help: 'whether a search parameter that comes into effect starts a job that makes its index entries',
    initial: true,
  }),
  'limits.rate.perSecond': integer(0, 1_000_000, {
    help: 'requests a second of one client (without a token: of one address) for FHIR and pages, on average; more are refused with 429 (0: any number)',
    initial: 0,
  }),
  'limits.rate.burst': integer(1, 1_000_000, {
    help: 'requests of one client that may come at once where limits.rate.perSecond is set',
    initial: 100,
  }),
  'limits.query.time': duration(10, HOUR, { help: 'time of a query', initial: 10_000 }),
  'limits.keepAliveTime': duration(1000, HOUR, {
    help: 'time that a connection stays open without a request',
    initial: DEFAULT_LIMITS.keepAliveTime,
  }),
};

/** Key of a setting. */
export type SettingName = keyof typeof SETTINGS;

/** Values of all settings. */
export type Config = {
  readonly [K in SettingName]: (typeof SETTINGS)[K] extends Setting<infer T> ? T : never;
};

/** All settings, alike. */
export const ALL_SETTINGS: ReadonlyMap<string, Setting<unknown>> = new Map(
  Object.entries(SETTINGS as unknown as Record<string, Setting<unknown>>),
);

/**
 * Keys whose names are fixed but that have no effect yet: refused, so that no configuration relies on them. A key that
 * ends with a dot stands for all below it.
 */
export const LATER: readonly string[] = ['zone'];

/** Name of the option, without dashes. */
export function optionOf(key: string): string {
  return key.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`).replaceAll('.', '-');
}

/** Name of the variable of the environment. */
export function variableOf(key: string): string {
  return `KILN_${optionOf(key).toUpperCase().replaceAll('-', '_')}`;
}
