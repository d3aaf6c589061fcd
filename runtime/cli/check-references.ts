import { ConfigError } from '../config/config-error.js';
import { readConfig, type Flags } from '../config/read-config.js';
import { findAll } from '../core/search-services/find-all.js';
import { referencesOf, type FoundReference, type IntegrityParts } from '../core/references/integrity.js';
import { STORED_DEPTH } from '../core/read-stored.js';
import { didYouMean } from '../fhir/nearest.js';
import type { Resource } from '../fhir/resource.js';
import { yieldToEventLoop } from '../fhir/yield-to-event-loop.js';
import { readJson } from '../format/read-json.js';
import { csvLine } from '../hfql/csv.js';
import type { Store } from '../store/store.js';
import { showProgress } from './load/progress.js';
import { stopOnSignal, stoppedOrFailed } from './stop-on-signal.js';
import { EXIT, type Terminal } from './terminal.js';
import { LONG_QUERY_TIME } from '../fhir/limits.js';

/** Options of `kiln check references` besides the settings. */
export interface CheckFlags {
  readonly type?: string;
  readonly csv?: true;
}

/** Resources that one query reads. */
const PAGE = 500;

/** A reference, and who has it. */
interface Placed extends Omit<FoundReference, 'type' | 'id'> {
  readonly resource: string;
  readonly target: { readonly type: string; readonly id: string };
}

/**
 * `kiln check references`: lists the references of current versions that lead to nothing, whatever the setting `integrity` says, while
 * servers may run. Nothing is changed.
 *
 * @returns the exit code: 1 where there are some
 * @throws ConfigError
 */
export async function runCheckReferences({ type, csv }: CheckFlags, flags: Flags, terminal: Terminal): Promise<number> {
  const { config } = readConfig(flags, terminal.env);
  const stop = stopOnSignal();
  let close = (): Promise<void> => Promise.resolve();
  try {
    const { openCore, RESOURCE_TYPES } = await import('../server.js');
    if (type !== undefined && !RESOURCE_TYPES.includes(type)) {
      const hint = didYouMean(type, RESOURCE_TYPES);
      throw new ConfigError(`--type ${JSON.stringify(type)}: there is no such resource type${hint}`);
    }
    const core = await openCore({ ...config, 'limits.query.time': LONG_QUERY_TIME }, { existing: true });
    const { store, tables, own, shipped } = core;
    const parts: IntegrityParts = {
      ...{ tables, own },
      isShipped: (key) => shipped?.byId(key.type, key.id, '') !== undefined,
    };
    close = () => store.close();
    const counts = await store.counts();
    const types = type === undefined ? [...counts.keys()].sort() : [type];
    const total = types.reduce((sum, each) => sum + (counts.get(each) ?? 0), 0);
    let looked = 0;
    let found = 0;
    const print = (fields: readonly [string, string, string]): void =>
      terminal.out(csv === true ? csvLine(fields).trimEnd() : `${fields[0]}: ${fields[1]} refers to ${fields[2]}`);
    if (csv === true) print(['resource', 'element', 'target']);
    const progress = showProgress(terminal, () => ({ read: looked, total, resources: looked }));
    try {
      const pace = yieldToEventLoop();
      for (const each of types) {
        let references: Placed[] = [];
        const report = async (): Promise<void> => {
          for (const one of await danglingOf(references, store)) {
            found++;
            print([one.resource, one.expression, nameOf(one)]);
          }
          references = [];
        };
        const query = { type: each, where: { all: [] }, sort: [], count: PAGE, total: 'none' } as const;
        for await (const { id, json } of findAll(query, (...asked) => store.find(...asked), stop.signal)) {
          await pace();
          looked++;
          if (json === undefined) continue;
          const content = readJson(json, STORED_DEPTH) as Resource;
          for (const { type: to, id: toId, ...rest } of referencesOf(content, parts))
            references.push({ ...rest, resource: `${each}/${id}`, target: { type: to, id: toId } });
          if (references.length >= PAGE) await report();
        }
        await report();
      }
    } finally {
      progress.end();
    }
    terminal.err(`${found} of the references of ${looked} resources lead to nothing`);
    return found === 0 ? EXIT.done : EXIT.failed;
  } catch (error) {
    return stoppedOrFailed(error, stop.signal, terminal);
  } finally {
    stop.forget();
    await close();
  }
}

/** Returns the references that lead to nothing now. */
async function danglingOf(references: readonly Placed[], store: Store): Promise<readonly Placed[]> {
  const current = await store.readMany(references.map(({ target }) => target));
  const dangling: Placed[] = [];
  for (const [i, reference] of references.entries()) {
    const { target, version } = reference;
    const now = current[i];
    const isCurrent = version === undefined || version === now?.version;
    const found = isCurrent ? now : await store.readVersion(target.type, target.id, version);
    if (found?.json === undefined) dangling.push(reference);
  }
  return dangling;
}

function nameOf({ target: { type, id }, version }: Placed): string {
  return version === undefined ? `${type}/${id}` : `${type}/${id}/_history/${version}`;
}
