import type { ExportFile } from '../../core/job-files/read-job-file.js';
import type { JsonObject } from '../../fhir/resource.js';
import type { ImportFile } from '../import/import-input.js';

/** Input of a job that takes in a manifest, or takes back what others took in, or both: the latter first. */
export interface SubmitInput {
  /** FHIR base of the request. */
  readonly base: string;
  /** Types that the token may create and update, whatever the resource. */
  readonly types: readonly string[];
  /** Where the manifest is. */
  readonly manifestUrl?: string;
  /** Headers for requests for it and its files. */
  readonly headers?: Readonly<Record<string, string>>;
  /** The jobs whose work is taken back. */
  readonly undoes: readonly string[];
}

/** How far it is. */
export interface SubmitCheckpoint {
  readonly phase: 'wait' | 'undo' | 'manifest' | 'import' | 'end';
  /** Of taking back: how many parts are done. */
  readonly part: number;
  readonly undone: { readonly done: number; readonly skipped: number; readonly failed: number };
  /** Of the manifest, with the ones that follow it: addresses that are still to be read, and how many were. */
  readonly pages: readonly string[];
  readonly read: number;
  readonly files: readonly ImportFile[];
  /** Checkpoint and result of the import. */
  readonly import?: JsonObject;
  readonly lists: readonly ExportFile[];
  /** What is wrong beside the lines of files. */
  readonly faults: readonly string[];
}

/** Before the first chunk. */
export const SUBMIT_BEGINNING: SubmitCheckpoint = {
  ...{ phase: 'wait', part: 0, undone: { done: 0, skipped: 0, failed: 0 } },
  ...{ pages: [], read: 0, files: [], lists: [], faults: [] },
};

/** Where the keys of the notes of a job begin: which versions its writes found. They are kept as long as the job. */
export function notesKey(job: string): string {
  return `submit-notes/${job}/`;
}

/** End of the name of a list of outcomes that sums up. */
export const SUMMARY = '-summary';
