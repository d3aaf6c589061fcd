import { setFlagsFromString } from 'node:v8';

import { OPERATOR } from '../auth/scopes/principal.js';
import { ConfigError } from '../config/config-error.js';
import { readConfig, type Flags } from '../config/read-config.js';
import { findFiles } from './load/find-files.js';
import { checkAnswers } from './load/check-answers.js';
import { httpSink, type HttpTarget } from './load/http-sink.js';
import { readItems, type BundleMode } from './load/items.js';
import { checkClient, checkRunning, readBundleMode, readUrl, type LoadFlags } from './load/load-options.js';
import { loadItems, newCounts, type LoadCounts } from './load/load-items.js';
import { showProgress } from './load/progress.js';
import { findPackages } from './load/packages.js';
import { readDocuments } from './load/read-documents.js';
import type { Sink } from './load/sink.js';
import { storeSink } from './load/store-sink.js';
import type { Resource } from '../fhir/resource.js';
import type { Services } from '../core/services.js';
import { EXIT, failed, messageOf, printable, type Terminal } from './terminal.js';
import { tellNewStore } from './new-store.js';

/** No client waits for the answer to one write, so that a write on a busy machine may take longer; in milliseconds. */
const WRITE_TIME = 120_000;

/**
 * `kiln load PATH…`: puts files, packages and folders into a store, beside a server that may run on it, or over HTTP
 * into a server.
 *
 * @returns the exit code: 1 where something failed
 * @throws ConfigError also where one of the paths cannot be loaded; nothing is then
 */
export async function runLoad(
  paths: readonly string[],
  options: LoadFlags,
  flags: Flags,
  terminal: Terminal,
): Promise<number> {
  const bundles = readBundleMode(options.bundles);
  checkRunning(options, flags);
  const isRunning = options.running === true;
  const url = isRunning ? undefined : readUrl(options.url, flags, terminal);
  const token = options.token ?? (terminal.env['KILN_TOKEN'] || undefined);
  if (options.token !== undefined && url === undefined) throw new ConfigError('--token goes with --url');
  if (options.bulk === true && url === undefined) throw new ConfigError('--bulk goes with --url');
  checkClient(options, url);
  if (options.token === '') throw new ConfigError('--token is empty: did kiln token fail?');
  const { config } = readConfig(flags, terminal.env);
  if (url === undefined && !isRunning) refuseMemory(config.store);

  // What a batch leaves behind is old enough by then to be taken for what stays, and V8 would let the heap grow by it several times
  // over before it looks.
  setFlagsFromString('--heap-growing-percent=30');
  const files = await findFiles(paths);
  const server = await import('../server.js');
  const packages = await findPackages(files, server.FHIR_VERSION);
  let close = (): Promise<void> => Promise.resolve();
  let tellRefused = (): void => {};
  try {
    let sink: Sink;
    const target = isRunning
      ? await (await import('./load/running-server.js')).findRunning(config, terminal)
      : url === undefined
        ? undefined
        : await targetOf(url, options, token);
    if (target === undefined) {
      refuseMemory(config.store);
      tellNewStore(config, server.storeExists, terminal);
      const storedAnyway = new Set<string>();
      const operationTime = Math.max(config['mongo.operationTime'], WRITE_TIME);
      const opened = await server.openCore(
        { ...config, 'mongo.operationTime': operationTime },
        { isStoredAnyway: (id) => storedAnyway.has(id) },
      );
      close = () => opened.store.close();
      tellRefused = () => opened.definitions.tellRefused((text) => terminal.err(text));
      const { validateByProfiles } = await import('../operations/validation/validate-by-profiles.js');
      const limits = { ...opened.limits, answerTime: Infinity };
      const core = { ...opened, limits, validateByProfiles, largeTexts: undefined, storedAnyway };
      const { openLoadChecks } = await import('./load/refuse-live-subscriptions.js');
      const { services, check } = openLoadChecks(core);
      sink = storeSink({ ...core, execute: await executor(services), checkSubscriptions: check });
    } else {
      sink = options.bulk === true ? (await import('./load/bulk-sink.js')).bulkSink(target) : httpSink(target);
    }

    const total = files.reduce((sum, file) => sum + ('size' in file ? file.size : 0), 0);
    const counts = newCounts();
    let read = 0;
    const start = performance.now();
    const progress = showProgress(terminal, () => ({ read, total, resources: doneOf(counts) }));
    try {
      const documents = readDocuments(files, (bytes) => (read += bytes), config['limits.body']);
      const items = readItems(documents, { resourceTypes: server.RESOURCE_TYPES, bundles, ...server.LOAD_FORMATS });
      const tell = (place: string, error: unknown): void => progress.line(`${printable(place)}: ${messageOf(error)}`);
      await loadItems(items, sink, tell, counts, packages);
    } finally {
      progress.end();
      terminal.out(summary(counts, (performance.now() - start) / 1000));
    }
    tellRefused();
    if (counts.bundles > 0) terminal.err(describeBundles(counts.bundles, bundles));
    return counts.failed > 0 ? EXIT.failed : EXIT.done;
  } catch (error) {
    return failed(error, terminal);
  } finally {
    await close();
  }
}

/** @throws ConfigError */
function refuseMemory(store: string): void {
  if (store === 'sqlite::memory:')
    throw new ConfigError('a memory store ends with this command; name a file with --store sqlite:PATH');
}

/** @throws LoadStopped where nothing answers there */
async function targetOf(url: string, options: LoadFlags, token: string | undefined): Promise<HttpTarget> {
  await checkAnswers(url);
  const { tokensFor } = await import('./load/load-tokens.js');
  const tokens = await tokensFor(url, options, token);
  return { url, ...(tokens === undefined ? {} : { tokens }) };
}

/** What became of Bundles that were stored, and what might have. */
function describeBundles(count: number, mode: BundleMode): string {
  const stored = count === 1 ? '1 Bundle was stored as it is' : `${count} Bundles were stored as they are`;
  return mode === 'store'
    ? `${stored}; with --bundles apply batches and transactions are executed, and collections taken apart into their entries`
    : `${stored}: only batches and transactions are executed, and only collections taken apart into their entries`;
}

/** Bundles are executed as the server does it. */
async function executor(servicesNow: () => Services): Promise<(bundle: Resource) => Promise<string>> {
  const [{ executeBundle }, { joinBundle }] = await Promise.all([
    import('../interactions/bundle/bundle.js'),
    import('../core/call.js'),
  ]);
  return async (body) => {
    const call = {
      interaction: 'bundle' as const,
      // The operator loads.
      principal: OPERATOR,
      params: new URLSearchParams(),
      conditions: {},
      prefer: {},
      base: '',
      body,
    };
    const { bundle, json = '{}' } = await executeBundle(call, servicesNow());
    return bundle === undefined ? json : joinBundle(bundle);
  };
}

function doneOf({ created, updated, unchanged }: LoadCounts): number {
  return created + updated + unchanged;
}

function summary(counts: LoadCounts, seconds: number): string {
  const done = doneOf(counts);
  return (
    `${done} resources in ${seconds.toFixed(1)} s (${Math.round(done / seconds)} a second): ` +
    `${counts.created} created, ${counts.updated} updated, ${counts.unchanged} unchanged; ` +
    `${counts.failed} failed, ${counts.skipped} other files skipped`
  );
}
