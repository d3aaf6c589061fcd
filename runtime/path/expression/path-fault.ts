import type { ErrorCode } from '../../fhir/errors.js';

/** How an operation of a patch can fail: it is written wrongly, does not go with the resource, or takes too much work. */
export type PatchCode = Extract<ErrorCode, 'patch-invalid' | 'patch-target' | 'patch-too-large'>;

/** Characters of a client's text that a message repeats at most. */
export const MAX_SHOWN = 200;

/** Error of one operation of a patch. */
export class PathFault extends Error {
  constructor(
    text: string,
    /** Name of the part that tells it, so that the client finds it. */
    readonly part?: string,
    readonly code: PatchCode = 'patch-target',
  ) {
    super(text);
    this.name = 'PathFault';
  }
}
