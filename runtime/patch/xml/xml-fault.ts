import { PatchFault } from '../patch-fault.js';

/**
 * The conditions of RFC 5261 under which a patch fails, and the code that each is reported with. Those that the reader of
 * XML finds (`invalid-character-set`, `invalid-entity-declaration`) are missing, and those for what is supported.
 * https://www.rfc-editor.org/rfc/rfc5261#section-5.1
 */
const CONDITIONS = {
  /** An attribute of the patch is missing, or has a value that it cannot have. */
  'invalid-attribute-value': 'patch-invalid',
  /** A part of the patch that is no operation. */
  'invalid-diff-format': 'patch-invalid',
  /** A prefix that nothing declares. */
  'invalid-namespace-prefix': 'patch-invalid',
  /** A namespace that cannot be declared, or is not where it should go. */
  'invalid-namespace-uri': 'patch-target',
  /** Content of another kind than what it is to replace. */
  'invalid-node-types': 'patch-invalid',
  /** An unknown operation, or one that does not go with its target. */
  'invalid-patch-directive': 'patch-invalid',
  'invalid-prolog-operation': 'patch-target',
  'invalid-root-element-operation': 'patch-target',
  /** No white space where some should go. */
  'invalid-whitespace-directive': 'patch-target',
  /** A selector that finds nothing, or several nodes. */
  'unlocated-node': 'patch-target',
} as const;

/** A condition of RFC 5261 under which a patch fails. */
export type XmlPatchCondition = keyof typeof CONDITIONS;

/** A fault of this kind; clients find the name of the condition as its code. */
export function xmlFault(condition: XmlPatchCondition, text: string): PatchFault {
  return new PatchFault(CONDITIONS[condition], text, condition);
}

/** Counts the work of a patch, so that a small one cannot keep a processor busy with a large resource. */
export class WorkBudget {
  constructor(private left: number) {}

  /** @throws PatchFault `patch-too-large` when there was too much */
  spend(work: number): void {
    this.left -= work;
    if (this.left < 0) throw new PatchFault('patch-too-large', 'the patch looks at too much of the resource too often');
  }
}
