// Makes the fixture of the layout that stores have now, for the tests of later migrations to it:
//   node --import ./test/contract/durability/run-typescript.mjs test/contract/layout/make.ts VERSION
import { BSON, MongoClient, type Document } from 'mongodb';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';

import { findMongod } from '../../mongod/find-mongod.js';
import { startReplicaSet } from '../../mongod/replica-set.js';
import { withDatabase } from '../../mongod/connection-string.js';
import { startKiln } from '../../service/kiln-process.js';
import { answersOf, fillLayout } from './layout.js';

/** They are of one process, or of the moment. */
const LEFT_OUT = new Set(['lock', 'log', 'change']);

const [version = ''] = process.argv.slice(2);
if (!/^\d+\.\d+\.\d+$/.test(version)) throw new Error('name the version of Kiln whose layout it is');
const target = new URL(`${version}/`, import.meta.url).pathname;
mkdirSync(target, { recursive: true });
const folder = mkdtempSync(join(tmpdir(), 'kiln-layout-'));
const set = await startReplicaSet((await findMongod()).path);
try {
  const file = `sqlite:${join(folder, 'kiln.db')}`;
  await fillLayout(file);
  const backup = join(folder, 'backup.db');
  const kiln = startKiln(['backup', backup, '--store', file]);
  if ((await kiln.ended) !== 0) throw new Error(kiln.output.err);
  writeFileSync(join(target, 'kiln.db.gz'), gzipSync(readFileSync(backup), { level: 9 }));
  writeFileSync(join(target, 'answers.json'), `${JSON.stringify(await answersOf(`sqlite:${backup}`), undefined, 1)}\n`);

  const url = withDatabase(set.url, 'kiln');
  await fillLayout(url);
  const client = new MongoClient(url);
  const dump: Record<string, Document[]> = {};
  for (const { collectionName } of await client.db().collections()) {
    if (!LEFT_OUT.has(collectionName))
      dump[collectionName] = await client.db().collection(collectionName).find().toArray();
  }
  await client.close();
  writeFileSync(join(target, 'mongo.json.gz'), gzipSync(BSON.EJSON.stringify(dump, { relaxed: false }), { level: 9 }));
} finally {
  await set.stop();
  rmSync(folder, { recursive: true });
}
