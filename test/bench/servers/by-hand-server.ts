import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';

import type { Resource } from '../../../runtime/fhir/resource.js';
import type { ByHand } from '../compare/by-hand.js';
import { clinic } from '../data/clinic.js';

// Entry of a process: node:http before a database that is searched and written by hand, the least that a server takes for these requests. It
// checks no token, keeps no audit, validates nothing, and makes no Bundle. Creates and transactions write what the store would write, made before.

const [place = '', count = '0'] = process.argv.slice(2);
const byHand = await open(place);
await byHand.fill([...clinic(Number(count)).resources]);
const { create, transaction, update } = byHand.sameKeys!;
/** Of each resource its version after the last update, which the next one waits for. */
const last = new Map<string, { readonly version: number; readonly done: Promise<unknown> }>();
let serial = 0;

async function open(where: string): Promise<ByHand> {
  if (!where.startsWith('mongodb:')) return (await import('../compare/sqlite-by-hand.js')).openSqliteByHand(where);
  const { pathname } = new URL(where);
  return (await import('../compare/mongo-by-hand.js')).openMongoByHand(where, pathname.slice(1));
}

async function answer(req: IncomingMessage): Promise<unknown> {
  const { method, url = '' } = req;
  const [path = '', query = ''] = url.split('?', 2);
  const id = path.split('/')[2];
  if (method === 'GET' && id !== undefined) return byHand.read('Observation', id);
  if (method === 'GET') {
    const params = new URLSearchParams(query);
    const chained = params.get('encounter.subject:Patient.identifier');
    if (chained !== null) return byHand.chain(chained.split('|')[1]!);
    return byHand.include(params.get('code')!.split('|').at(-1)!);
  }
  const body = JSON.parse(await bodyOf(req)) as Resource & { readonly entry?: readonly unknown[] };
  if (id !== undefined && update !== undefined) await update(serial++);
  else if (id !== undefined) {
    const { version, done } = last.get(id) ?? { version: 1, done: Promise.resolve() };
    const updated = done.then(() => byHand.update(body, version));
    last.set(id, { version: version + 1, done: updated });
    await updated;
  } else if (body.entry === undefined) await create(serial++);
  else await transaction(serial++, body.entry.length);
  return body;
}

function bodyOf(req: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  return new Promise((resolve, reject) => {
    req
      .on('data', (chunk: Buffer) => chunks.push(chunk))
      .on('end', () => resolve(Buffer.concat(chunks).toString()))
      .on('error', reject);
  });
}

/** What was stored as text goes out as it is. */
function textOf(found: unknown): string {
  if (Array.isArray(found)) return `[${found.map(textOf).join()}]`;
  const stored = (found as { readonly body?: unknown } | null)?.body;
  return typeof stored === 'string' ? stored : (JSON.stringify(stored ?? found) ?? '');
}

const server = createServer((req, res) => {
  answer(req).then(
    (found) => {
      const text = textOf(found);
      res
        .writeHead(200, { 'Content-Type': 'application/fhir+json', 'Content-Length': Buffer.byteLength(text) })
        .end(text);
    },
    (error: unknown) => res.writeHead(500).end(String(error)),
  );
});
server.listen(0, '127.0.0.1', () => {
  console.log(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
});
process.once('SIGTERM', () => {
  server.close(() => void byHand.close().then(() => process.exit(0)));
  server.closeAllConnections();
});
