import type { ErrorCode } from '../../../fhir/errors.js';

/** How an operation of a patch can fail: it is written wrongly, does not go with the resource, or takes too much work. */
export type PatchCode = Extract<ErrorCode, 'patch-invalid' | 'patch-target' | 'patch-too-large'>;

/** Error of one operation of a patch. */
export class PatchFault extends Error {
  constructor(
    text: string,
    /** Name of the part that tells it, so that the client finds it. */
    readonly part?: string,
    readonly code: PatchCode = 'patch-target',
  ) {
    super(text);
    this.name = 'PatchFault';
  }
}

/** A text as it may be repeated to a client: not longer than it takes to recognise it. */
export function shorten(text: string, most = 200): string {
  return text.length <= most ? text : `${text.slice(0, most)}…`;
}
