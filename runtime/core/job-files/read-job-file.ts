import type { Call, Reply } from '../call.js';
import type { Job } from '../jobs.js';
import { ownJob } from './own-job.js';
import type { Services } from '../services.js';

/** The type of jobs that export. */
export const EXPORT = 'export';

/** The type of jobs that import. */
export const IMPORT = 'import';

/** The type of jobs that export tables of views. */
export const VIEW_EXPORT = 'sql-export';

/** The type of jobs that take in what was submitted, or take it back. */
export const SUBMIT = 'submit';

/** Whether a job makes files. */
export function makesFiles({ type }: Pick<Job, 'type'>): boolean {
  return type === EXPORT || type === IMPORT || type === VIEW_EXPORT || type === SUBMIT;
}

/** Media type of the files. https://hl7.org/fhir/uv/bulkdata/STU2/export.html */
export const NDJSON = 'application/fhir+ndjson';

/** A file of an export. */
export interface ExportFile {
  /** Last part of the key of its blob. */
  readonly name: string;
  /** Type of its resources; `Bundle` where it lists deletions. */
  readonly type: string;
  /** Its lines. */
  readonly count: number;
  readonly isOfDeleted?: true;
  /** Its last patients go on in the next file of the list. */
  readonly goesOn?: true;
  /** Of rows of a view: place of its part in the input. */
  readonly part?: number;
  /** It is a table. */
  readonly table?: ExportTable;
}

/** A table of an export, or a piece of one. */
export interface ExportTable {
  /** Name of the view's output. */
  readonly output: string;
  readonly contentType: string;
  /** Name under which clients save it. */
  readonly fileName: string;
}

/** Key of the blob of a file of a job. */
export function fileKey({ type, id }: Pick<Job, 'type' | 'id'>, name: string): string {
  return `${type}/${id}/${name}`;
}

/** Removes the files of a job. @param wanted but for these */
export async function removeFiles(
  job: Pick<Job, 'type' | 'id'>,
  wanted: readonly Pick<ExportFile, 'name'>[],
  blobs: Services['store']['blobs'],
): Promise<void> {
  const keys = new Set(wanted.map(({ name }) => fileKey(job, name)));
  for (const { key } of await blobs.list(fileKey(job, ''))) if (!keys.has(key)) await blobs.delete(key);
}

/** The id by which clients read a file: `[base]/Binary/[id]`. @param at place of the file in the job's list */
export function exportFileId(job: string, at: number): string {
  return `${job}.${at}`;
}

const FILE_ID = /^([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\.(0|[1-9][0-9]{0,8})$/;

/** Whether an id of a Binary has the form of a file of an export, which scopes on Binary have nothing to do with. */
export function isExportFileId(id: string | undefined): boolean {
  return id !== undefined && FILE_ID.test(id);
}

/**
 * The file of an export or an import as a reply to a read of a Binary. Only the client that started the job gets it, with a token that
 * gives all that the job was started with.
 *
 * @returns undefined: there is no such file for this client
 * @throws FhirError `scope-missing`
 */
export async function readExportFile(call: Call, services: Services): Promise<Reply | undefined> {
  const [, job = '', at = ''] = FILE_ID.exec(call.id ?? '') ?? [];
  const kept = await services.jobs?.read(job);
  if (kept === undefined || !makesFiles(kept)) return undefined;
  const found = ownJob(kept, call, services);
  const file = found && filesOf(found)[Number(at)];
  if (found === undefined || file === undefined) return undefined;
  return replyOf(fileKey(found, file.name), file, services.store.blobs);
}

/** A file as a reply to a read of a Binary; undefined: it is gone. */
export async function replyOf(
  key: string,
  { table }: Pick<ExportFile, 'table'>,
  blobs: Services['store']['blobs'],
): Promise<Reply | undefined> {
  const [blob] = await blobs.list(key);
  if (blob?.key !== key) return undefined;
  const open = async (range?: { readonly from: number; readonly to: number }): Promise<AsyncIterable<Uint8Array>> => {
    const content = await blobs.get(key, range);
    if (content === undefined) throw new Error('the file was removed while it was read');
    return content.stream;
  };
  return {
    status: 200,
    versionId: '1',
    lastUpdated: blob.put,
    content: {
      ...{ contentType: table?.contentType ?? NDJSON, size: blob.size, isText: true, open },
      ...(table !== undefined && { fileName: table.fileName }),
    },
  };
}

/** The files of a job that are whole: all of one that is complete; of an export under way those that are not changed any more. */
export function filesOf({
  type,
  state,
  result,
  checkpoint,
  input,
}: Pick<Job, 'type' | 'state' | 'result' | 'checkpoint' | 'input'>): readonly ExportFile[] {
  const isKept = type === EXPORT && input['organizedBy'] === undefined;
  const isUnderWay = isKept && (state === 'in-progress' || state === 'finalizing');
  const files = state === 'completed' ? result?.['files'] : isUnderWay ? checkpoint?.['files'] : undefined;
  return (files ?? []) as unknown as readonly ExportFile[];
}
