import { rmSync } from 'node:fs';

import type { Config } from '../../config/settings.js';
import type { Terminal } from '../terminal.js';
import { compareMaps } from './compare-others.js';
import { sumVersions, VersionSum } from './compare-versions.js';
import { copyAll, withProgress } from './copy-all.js';
import { LONG_QUERY_TIME } from '../../fhir/limits.js';

/**
 * Copies a MongoDB store, as it is at one moment, into a new SQLite file, reads that and compares it with what was copied. Servers may
 * write meanwhile. The file gets its name when all is in it.
 *
 * @throws Error where the servers do not keep that moment for so long, or the copy differs; the signal's reason
 */
export async function backUpMongo(
  file: string,
  config: Config,
  terminal: Terminal,
  signal: AbortSignal,
): Promise<void> {
  const server = await import('../../server.js');
  const copy = `${file}.${process.pid}.copy`;
  const patient = { ...config, 'limits.query.time': LONG_QUERY_TIME };
  const closers: (() => Promise<void>)[] = [];
  try {
    const { store, own } = await server.openCore(patient, { existing: true });
    closers.push(() => store.close());
    const { total } = await store.history({ count: 0 });
    const { store: target, extract } = await server.openCore({ ...patient, store: `sqlite:${copy}` }, { own });
    closers.push(() => target.close());
    const moment = await server.openMongoMoment(patient);
    closers.push(() => moment.close());
    const read = new VersionSum();
    const scan: typeof moment.scan = async (after, limit) => {
      const page = await moment.scan(after, limit);
      for (const version of page.versions) read.add(version);
      return page;
    };
    await copyAll(
      { source: { ...moment, scan }, target, terminal, signal },
      {
        ...{ total, complete: Infinity, extract, knownTypes: new Set(server.RESOURCE_TYPES) },
        room: config['limits.resource'],
        // Nothing goes on with it: another would be of another moment.
        record: { cursor: undefined, advance: async () => {} },
      },
    );
    const maps = await compareMaps(moment.maps, target.maps);
    await withProgress(terminal, 'versions compared', total, async (step) => {
      const written = await sumVersions(target, signal, step);
      if (written.hash.toString() !== read.hash.toString() || maps.differences > 0) {
        throw new Error('what was written differs from what was read; the disk may be damaged');
      }
    });
    for (const close of closers.splice(0).reverse()) await close();
    await server.backUpSqlite(`sqlite:${copy}`, file);
  } finally {
    for (const close of closers.reverse()) await close();
    for (const end of ['', '-wal', '-shm']) rmSync(`${copy}${end}`, { force: true });
  }
}
