import { readStored } from '../../core/read-stored.js';
import type { Services } from '../../core/services.js';
import { PROVENANCE, readDeed, sealOf, taskOf, type Deed } from './provenance.js';
import { isSameSeal, makeSeal } from './seal.js';

/** Replacement or merge that the server made, as its own Provenance records it. */
export interface RecordedDeed extends Deed {
  /** Id of the Provenance. */
  readonly record: string;
  /** When it was written: milliseconds since the epoch. */
  readonly recorded: number;
  /** Id of the Task, where it records a step of a job. */
  readonly task?: string;
}

/**
 * Reads the record of a Provenance as the server wrote it. The first version counts: clients may have changed it later. The
 * seal tells the server's records from those of clients.
 *
 * @param id of the Provenance
 * @returns undefined: there is none, or a client wrote it
 */
export async function readRecord(id: string, services: Services): Promise<RecordedDeed | undefined> {
  const { store } = services;
  // The first version may have been expunged.
  const version = (await store.readVersion(PROVENANCE, id, 1)) ?? (await store.read(PROVENANCE, id));
  if (version?.json === undefined) return undefined;
  const resource = await readStored(version.json, services);
  const [deed, seal] = [readDeed(resource), sealOf(resource)];
  if (deed === undefined || seal === undefined) return undefined;
  const task = taskOf(resource);
  if (!isSameSeal(seal, await makeSeal(id, deed, task, store.maps))) return undefined;
  return { ...deed, record: id, recorded: version.lastUpdated, ...(task !== undefined && { task }) };
}
