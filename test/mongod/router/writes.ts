import { Int32, type Document } from 'mongodb';

import { isTargeted, shardOf, shardsOf } from './shard-keys.js';

/** A command that writes statements. */
export type WriteName = 'insert' | 'update' | 'delete';

/** The field with its statements. */
const STATEMENTS = { insert: 'documents', update: 'updates', delete: 'deletes' } as const;

/** What a router says of a statement for one document that does not name the shard key. */
const NO_KEY = { insert: 0, update: 72, delete: 61 };

/** Statements that go to shards at once: of each shard, with their places in the command. */
interface Round {
  readonly parts: ReadonlyMap<number, { readonly command: Document; readonly places: readonly number[] }>;
  /** The statement at this place is refused by the router itself. */
  readonly refused?: { readonly index: number; readonly code: number; readonly errmsg: string };
}

/** Divides the statements of a command among shards, ordered ones into rounds, so that none comes before one in front of it. */
export function splitWrite(name: WriteName, command: Document, field: string, shards: number): readonly Round[] {
  const list = STATEMENTS[name];
  const isOrdered = command['ordered'] !== false;
  const rounds: Round[] = [];
  let places = new Map<number, number[]>();
  const flush = (): void => {
    const entries = [...places].map(([shard, own]) => {
      const statements = own.map((place) => (command[list] as Document[])[place]!);
      return [shard, { command: { ...command, [list]: statements }, places: own }] as const;
    });
    if (entries.length > 0) rounds.push({ parts: new Map(entries) });
    places = new Map();
  };
  for (const [place, statement] of (command[list] as Document[]).entries()) {
    const errmsg = refusalOf(name, statement, field);
    if (errmsg !== undefined) {
      flush();
      rounds.push({ parts: new Map(), refused: { index: place, code: NO_KEY[name], errmsg } });
      continue;
    }
    const targets =
      name === 'insert'
        ? new Set([shardOf(statement[field], shards)])
        : shardsOf(statement['q'] as Document, field, shards);
    // Ordered statements of one shard go together; where the shard changes, those before have to be done.
    if (isOrdered && places.size > 0 && !(targets.size === 1 && places.size === 1 && places.has([...targets][0]!)))
      flush();
    for (const target of targets) places.set(target, [...(places.get(target) ?? []), place]);
    if (isOrdered && targets.size > 1) flush();
  }
  flush();
  return rounds;
}

function refusalOf(name: WriteName, statement: Document, field: string): string | undefined {
  if (name === 'insert') return undefined;
  const isMany = name === 'update' ? statement['multi'] === true : Number(statement['limit']) === 0;
  const isUpsert = name === 'update' && statement['upsert'] === true;
  if ((isMany && !isUpsert) || isTargeted(statement['q'] as Document, field)) return undefined;
  return `a write of one document in a sharded collection must contain an exact match on the shard key: ${field}`;
}

/** Sends rounds one after the other, and makes one answer of all; ordered statements end at the first error. */
export async function mergeWrites(
  command: Document,
  rounds: readonly Round[],
  send: (parts: ReadonlyMap<number, Document>) => Promise<ReadonlyMap<number, Document>>,
): Promise<Document> {
  const isOrdered = command['ordered'] !== false;
  const errors: Document[] = [];
  const upserted: Document[] = [];
  const totals: Record<string, number> = { n: 0 };
  let concern: unknown;
  for (const { parts, refused } of rounds) {
    if (refused !== undefined) errors.push(refused);
    else {
      const answers = await send(new Map([...parts].map(([shard, part]) => [shard, part.command])));
      for (const [shard, answer] of answers) {
        // A statement of a transaction, or a command that is wrong.
        if (Number(answer['ok']) !== 1) return answer;
        const { places } = parts.get(shard)!;
        for (const name of ['n', 'nModified']) {
          if (answer[name] !== undefined) totals[name] = (totals[name] ?? 0) + Number(answer[name]);
        }
        for (const each of (answer['writeErrors'] as Document[] | undefined) ?? [])
          errors.push({ ...each, index: new Int32(places[Number(each['index'])]!) });
        for (const each of (answer['upserted'] as Document[] | undefined) ?? [])
          upserted.push({ ...each, index: new Int32(places[Number(each['index'])]!) });
        concern ??= answer['writeConcernError'];
      }
    }
    if (isOrdered && errors.length > 0) break;
  }
  return {
    ...Object.fromEntries(Object.entries(totals).map(([name, n]) => [name, new Int32(n)])),
    ...(errors.length > 0 && { writeErrors: errors.sort((a, b) => Number(a['index']) - Number(b['index'])) }),
    ...(upserted.length > 0 && { upserted }),
    ...(concern !== undefined && { writeConcernError: concern }),
    ok: 1,
  };
}
