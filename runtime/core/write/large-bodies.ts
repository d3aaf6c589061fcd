import type { JsonValue, Resource } from '../../fhir/resource.js';
import type { FormatName } from '../../format/negotiate.js';
import type { SentPatch } from '../call.js';

/** Bodies of more bytes than this are read by other threads, so that nobody waits for them. */
export const LARGE_BODY = 256 * 1024;

/**
 * What is done with a body beside reading it. `create` and `put`: it is a resource to be stored, and is validated (without
 * its id, or with it) and its index entries extracted; `execute`: it is a Bundle whose entries are validated; `parse`:
 * nothing.
 */
export type BodyPurpose = 'create' | 'put' | 'execute' | 'parse';

/** A body that was read. */
export interface TakenIn {
  /** What is known of it stands beside it (`preparedOf`). Of a resource with faults there is no more than its head. */
  readonly body: JsonValue;
  /** To be called when the request is done with it: then others are let in. */
  release(): void;
}

/** Works on large JSON texts of ours in other threads. */
export interface LargeTexts {
  /**
   * Resolves when there is room to work on texts of so many characters, before they are patched.
   *
   * @returns gives the room back
   * @throws FhirError `server-busy` where too much waits already
   */
  enter(size: number, signal: AbortSignal): Promise<() => void>;
  /** Reads one. @throws FhirError as `LargeBodies.read` */
  parse(json: string, depth: number): Promise<JsonValue>;
  /**
   * What a patch makes of a resource, validated; what is known of it stands beside it (`preparedOf`).
   *
   * @throws FhirError as `patchResource`
   */
  patch(json: string, patch: SentPatch): Promise<Resource>;
}

/** Reads bodies in other threads. */
export interface LargeBodies extends LargeTexts {
  /**
   * Reads a body, as one that is small is read.
   *
   * @param bytes are given away
   * @param signal aborts when nobody waits for it any more
   * @throws FhirError for what is wrong with it, `server-busy`, `body-unread`
   */
  read(
    bytes: Buffer,
    how: { readonly format: FormatName; readonly purpose: BodyPurpose },
    signal: AbortSignal,
  ): Promise<TakenIn>;
}
