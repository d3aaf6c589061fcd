import type { Interaction } from '../../contract/index.js';
import type { JsonValue } from '../../fhir/resource.js';
import type { FormatName } from '../../format/negotiate.js';
import { LARGE_BODY, type BodyPurpose } from '../../core/write/large-bodies.js';
import type { Codecs } from '../response/codecs.js';
import { abortedWith } from './aborted-with.js';
import type { Incoming } from './incoming.js';

/** What is done with bodies; of an interaction that is not named here it does itself what has to be done. */
const PURPOSES: Readonly<Partial<Record<Interaction, BodyPurpose>>> = {
  create: 'create',
  update: 'put',
  'conditional-update': 'put',
  bundle: 'execute',
  operation: 'structure',
  // A FHIRPath Patch; a JSON Patch is no resource.
  patch: 'structure',
  'conditional-patch': 'structure',
};

/** Purposes of bodies of operations that take a resource which need not be valid, by operation id. */
const TOLERANT: ReadonlyMap<string, BodyPurpose> = new Map([
  ['Resource-validate', 'judge'],
  ['Patient-match', 'parse'],
  // They judge views themselves, and data may be as they like.
  ['sql-run', 'parse'],
  ['sql-export', 'parse'],
]);

/** Whether an operation reports itself what is wrong with a body. */
export function reportsFaults(operation = ''): boolean {
  return TOLERANT.get(operation) === 'judge';
}

/** A body that has been read. */
export interface ParsedBody {
  readonly body: JsonValue | undefined;
  /** It was read elsewhere, and the bytes are gone. */
  readonly isGone?: true;
}

/**
 * Reads a body in this format: one that is large elsewhere, where the server has such a place.
 *
 * @param bytes of one that is large they are gone afterwards
 * @throws FhirError for what is wrong with it
 */
export async function parseBody(
  { large, destination, res, whenDone }: Incoming,
  bytes: Buffer,
  format: FormatName,
  codecs: Codecs,
): Promise<ParsedBody> {
  if (large === undefined || bytes.length <= LARGE_BODY) return { body: await codecs.get(format)?.read(bytes) };
  const { interaction, operation = '' } = destination.row;
  const purpose = TOLERANT.get(operation) ?? PURPOSES[interaction] ?? 'parse';
  const { body, release } = await large.read(bytes, { format, purpose }, abortedWith(res));
  whenDone(release);
  return { body, isGone: true };
}
