import { neededOn, uniteNeeded } from '../../auth/access/needed-scopes.js';
import { scopeMissing } from '../../auth/access/refuse.js';
import type { Access } from '../../auth/scopes/access.js';
import type { Store } from '../../store/store.js';
import { SYSTEM_MAPS } from '../../store/system-maps.js';
import type { Call, Reply } from '../call.js';
import { exportFileId, fileKey, removeFiles, replyOf, type ExportFile } from '../job-files/read-job-file.js';
import type { Services } from '../services.js';

/** The type of jobs that make the files of a publication. */
export const PUBLISH = 'publish';

/** A file of a publication: of the job that made it, and its place among the files of that. */
export interface PublishedFile extends Pick<ExportFile, 'name' | 'type' | 'count' | 'isOfDeleted'> {
  readonly job: string;
  readonly at: number;
}

/** Files that are not listed any more, and until when they can be read. */
export interface FormerFiles {
  readonly types: readonly string[];
  readonly files: readonly PublishedFile[];
  readonly until: number;
}

/** A snapshot that a server publishes, and the changes since. Times are milliseconds since the epoch. */
export interface Publication {
  readonly types: readonly string[];
  /** Instant of the snapshot; absent: none is made yet. */
  readonly epoch?: number;
  /** Instant that the files are of, all together. */
  readonly time: number;
  /** How often something was added to the snapshot. */
  readonly steps: number;
  /** Files of the snapshot first, in the order in which clients have to take them. */
  readonly files: readonly PublishedFile[];
  /** The job that makes what comes next. */
  readonly next?: string;
  /** When a job was last started. */
  readonly asked: number;
  readonly former: readonly FormerFiles[];
}

const KEY = 'current';

/** A publication as the store has it: its text is compared before it is replaced. */
export interface PublicationRow {
  readonly text: string;
  readonly publication: Publication;
}

/** Reads what is published; undefined: nothing is. */
export async function readPublication({ maps }: Pick<Store, 'maps'>): Promise<PublicationRow | undefined> {
  const text = await maps.get(SYSTEM_MAPS.publication, KEY);
  return text === undefined ? undefined : { text, publication: JSON.parse(text) as Publication };
}

/** Replaces what is published. @returns false: another process was first */
export function replacePublication(
  { maps }: Pick<Store, 'maps'>,
  row: PublicationRow | undefined,
  next: Publication,
): Promise<boolean> {
  return maps.swap(SYSTEM_MAPS.publication, KEY, row?.text, JSON.stringify(next));
}

/** Removes what is published, with its files. Where the server goes on to publish, it begins anew. */
export async function endPublication(store: Pick<Store, 'maps' | 'blobs'>): Promise<void> {
  const row = await readPublication(store);
  if (row === undefined) return;
  await store.maps.delete(SYSTEM_MAPS.publication, KEY);
  await removePublished(filesIn(row.publication), store);
}

/** Removes files that are not published any more. */
export async function removePublished(sets: readonly FormerFiles[], { blobs }: Pick<Store, 'blobs'>): Promise<void> {
  for (const { job, name } of sets.flatMap(({ files }) => files)) await blobs.delete(publishedKey(job, name));
}

/** Key of the blob of a file. */
export function publishedKey(job: string, name: string): string {
  return fileKey({ type: PUBLISH, id: job }, name);
}

/** Ends what is published of a type, because what its files hold is gone for good; absent: of all. */
export async function forgetPublished(store: Pick<Store, 'maps' | 'blobs'>, type: string | undefined): Promise<void> {
  const { types = [], former = [] } = (await readPublication(store))?.publication ?? {};
  const all = [types, ...former.map((each) => each.types)].flat();
  if (all.length > 0 && (type === undefined || all.includes(type))) await endPublication(store);
}

/** All files that can be read, each with the types of its publication. */
export function filesIn({ types, files, former }: Publication): readonly FormerFiles[] {
  return [{ types, files, until: Infinity }, ...former];
}

/** Removes the files of a job that are not published. */
export async function discardPublished(id: string, store: Pick<Store, 'maps' | 'blobs'>): Promise<void> {
  const publication = (await readPublication(store))?.publication;
  if (publication?.next === id) return;
  const kept = publication === undefined ? [] : filesIn(publication).flatMap(({ files }) => files);
  await removeFiles(
    { type: PUBLISH, id },
    kept.filter(({ job }) => job === id),
    store.blobs,
  );
}

/**
 * A file that is published as a reply to a read of a Binary.
 *
 * @returns undefined: there is no such file
 * @throws FhirError `scope-missing`
 */
export async function readPublishedFile(
  id: string,
  { principal: { access } }: Pick<Call, 'principal'>,
  { store }: Pick<Services, 'store'>,
): Promise<Reply | undefined> {
  const publication = (await readPublication(store))?.publication;
  const sets = publication === undefined ? [] : filesIn(publication);
  for (const { types, files } of sets) {
    const file = files.find(({ job, at }) => exportFileId(job, at) === id);
    if (file === undefined) continue;
    checkMayRead(types, access);
    return replyOf(publishedKey(file.job, file.name), {}, store.blobs);
  }
  return undefined;
}

/** @throws FhirError `scope-missing` where a token does not show all that is published: every type, whole */
export function checkMayRead(types: readonly string[], access: Access): void {
  if (types.every((type) => access.isWhole(type, 'rs'))) return;
  throw scopeMissing(uniteNeeded(types.map((type) => neededOn(type, 'rs'))), access);
}
