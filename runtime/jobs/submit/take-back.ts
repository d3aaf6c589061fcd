import { createHash, randomUUID } from 'node:crypto';

import { BINARY } from '../../core/binary/binary-content.js';
import { openBinaries } from '../../core/binary/with-data.js';
import type { Call } from '../../core/call.js';
import { readStored } from '../../core/read-stored.js';
import type { Services } from '../../core/services.js';
import type { FhirError } from '../../fhir/errors.js';
import type { Resource } from '../../fhir/resource.js';
import type { Store } from '../../store/store.js';
import type { ChunkContext } from '../engine/job-kind.js';
import { writeOne } from '../write-one.js';
import { notesKey, type SubmitCheckpoint, type SubmitInput } from './submit-input.js';

/** A write: of which resource, and the number of the version that it found; 0: none. */
type Note = readonly [type: string, id: string, version: number];

/** Notes of one write, at most, and resources of a part: their notes are in memory together. */
const PER_NOTE = 500;
const PER_PART = 20_000;

/** Refusals that are named. */
const NAMED = 100;

/** The store, for writes that can be taken back: which versions they find is noted before. */
export function noting(job: string, store: Store): Store {
  return Object.assign(Object.create(store) as Store, {
    async write(...args: Parameters<Store['write']>) {
      const notes = args[0].map(({ type, id, expected }): Note => [type, id, expected]);
      await store.blobs.put(`${notesKey(job)}${randomUUID()}`, bytesOf(JSON.stringify(notes)), Infinity);
      return store.write(...args);
    },
  });
}

/** Removes the notes of a job. Afterwards its work stays. */
export async function removeNotes(job: string, { blobs }: Pick<Store, 'blobs'>): Promise<void> {
  for (const { key } of await blobs.list(notesKey(job))) await blobs.delete(key);
}

/**
 * Takes back a part of what jobs have written: each resource becomes what it was before their last writes, one after the other; where
 * another client wrote since, it stays. Done twice it changes nothing, for then the current version is none of theirs.
 *
 * @returns the checkpoint after it
 */
export async function takeBack(
  at: SubmitCheckpoint,
  input: SubmitInput,
  context: ChunkContext,
): Promise<SubmitCheckpoint> {
  const { services, signal, report } = context;
  const { blobs } = services.store;
  const keys = (await Promise.all(input.undoes.map((job) => blobs.list(notesKey(job))))).flat().map(({ key }) => key);
  const parts = Math.max(1, Math.ceil((keys.length * PER_NOTE) / PER_PART));
  if (at.part >= parts) return { ...at, phase: 'manifest' };
  const found = await versionsFound(keys, at.part, parts, context);
  let { done, skipped, failed } = at.undone;
  const faults = [...at.faults];
  for (const [name, versions] of found) {
    signal.throwIfAborted();
    await context.breathe();
    const outcome = await restore(name, versions, input, context);
    if (outcome === 'done') done++;
    else if (outcome === 'skipped') skipped++;
    else {
      failed++;
      if (faults.length < NAMED) faults.push(`${name} stays: ${outcome.message}`);
    }
    report({ done: done + skipped + failed, unit: 'resources' });
  }
  return { ...at, part: at.part + 1, undone: { done, skipped, failed }, faults };
}

/** The versions that writes found, by resource, of those resources that are in a part. */
async function versionsFound(
  keys: readonly string[],
  part: number,
  parts: number,
  { services, breathe, signal }: ChunkContext,
) {
  const found = new Map<string, Set<number>>();
  for (const key of keys) {
    signal.throwIfAborted();
    const blob = await services.store.blobs.get(key);
    if (blob === undefined) continue;
    const pieces: Uint8Array[] = [];
    for await (const piece of blob.stream) pieces.push(Uint8Array.from(piece));
    for (const [type, id, version] of JSON.parse(Buffer.concat(pieces).toString('utf8')) as readonly Note[]) {
      const name = `${type}/${id}`;
      if (parts > 1 && createHash('sha256').update(name).digest().readUInt32BE(0) % parts !== part) continue;
      found.set(name, (found.get(name) ?? new Set()).add(version));
    }
    await breathe();
  }
  return found;
}

async function restore(
  name: string,
  found: ReadonlySet<number>,
  { base }: SubmitInput,
  { services, principal, signal }: ChunkContext,
): Promise<'done' | 'skipped' | FhirError> {
  const [type = '', id = ''] = name.split('/');
  const { store } = services;
  const current = await store.read(type, id);
  if (current?.json === undefined) return 'skipped';
  let version = current.version;
  while (found.has(version - 1)) version--;
  if (version === current.version) return 'skipped';
  const before = version === 0 ? undefined : await store.readVersion(type, id, version);
  const plain = {
    ...{ type, id, base, principal, signal, params: new URLSearchParams() },
    ...{ prefer: { return: 'minimal' as const }, conditions: { ifMatch: `W/"${current.version}"` } },
  };
  const call: Call =
    before?.json === undefined
      ? { ...plain, interaction: 'delete' }
      : { ...plain, interaction: 'update', body: await contentOf(type, before.json, services) };
  return writeOne(call, services, signal);
}

/** A version as a client would send it. */
async function contentOf(type: string, json: string, services: Services): Promise<Resource> {
  const resource = await readStored(json, services);
  return type === BINARY ? openBinaries(services.store.blobs)(resource) : resource;
}

async function* bytesOf(text: string): AsyncIterable<Uint8Array> {
  yield Buffer.from(text);
}
