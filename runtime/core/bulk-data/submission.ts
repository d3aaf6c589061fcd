import { createHash } from 'node:crypto';

import { standingOf, type JobOwner } from '../../auth/access/owner.js';
import type { Principal } from '../../auth/scopes/principal.js';
import type { Store } from '../../store/store.js';
import type { Services } from '../services.js';

/** How long a submission and what became of it is kept after its last request, in milliseconds. */
export const SUBMISSION_KEPT = 7 * 24 * 3_600_000;

/** A manifest of a submission. */
export interface SubmittedManifest {
  readonly url: string;
  /** The job that takes it in; absent: it is not started yet, or its start came to nothing. */
  readonly job?: string;
  /** The job that replaces it, or takes it back. */
  readonly replacedBy?: string;
}

/** Manifests that a client has submitted under one name. */
export interface Submission {
  readonly id: string;
  readonly owner: JobOwner;
  readonly submissionId: string;
  readonly status: 'in-progress' | 'completed' | 'stopped';
  /** Milliseconds since the epoch. */
  readonly created: number;
  readonly manifests: readonly SubmittedManifest[];
  /** The job that takes everything back, where it is stopped. */
  readonly undoing?: string;
}

/** A submission as the store has it: its text is compared before it is replaced. */
export interface SubmissionRow {
  readonly text: string;
  readonly submission: Submission;
}

const MAP = 'submission';

/** Returns the key of a submission: the client, and the names that it has given. */
export function submissionKey(
  { clientId, registration = '' }: Principal,
  submitter: object,
  submissionId: string,
): string {
  return createHash('sha256')
    .update(JSON.stringify([clientId, registration, submitter, submissionId]))
    .digest('hex');
}

/** Reads a submission as far as the client has one of this id. */
export async function readSubmission({ maps }: Pick<Store, 'maps'>, id: string): Promise<SubmissionRow | undefined> {
  const text = await maps.get(MAP, id);
  return text === undefined ? undefined : { text, submission: JSON.parse(text) as Submission };
}

/** Replaces a submission. @returns undefined: it is another by now */
export async function replaceSubmission(
  { maps }: Pick<Store, 'maps'>,
  row: SubmissionRow | undefined,
  submission: Submission,
): Promise<SubmissionRow | undefined> {
  const text = JSON.stringify(submission);
  const done = await maps.swap(MAP, submission.id, row?.text, text, Date.now() + SUBMISSION_KEPT);
  return done ? { text, submission } : undefined;
}

/** Forgets a submission. */
export function removeSubmission({ maps }: Pick<Store, 'maps'>, id: string): Promise<void> {
  return maps.delete(MAP, id);
}

/** Whether a submission is of this client, with the rights that it was made with. */
export function standingTo({ owner }: Submission, principal: Principal, { tables }: Pick<Services, 'tables'>) {
  return standingOf(principal, owner, tables);
}
