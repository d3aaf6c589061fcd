import { FhirError } from '../../../fhir/errors.js';
import { ReferencesBroken, type BrokenReferences } from '../../references.js';
import { VersionConflict } from '../../store.js';
import { translateSqliteError } from '../file/sqlite-errors.js';

/** Operations of a thread by name. Arguments and results are plain data. */
export type Operations<T> = { readonly [K in keyof T]: (...args: never[]) => unknown };

/** Something asked of a thread. */
export interface Request {
  readonly id: number;
  readonly kind: string;
  readonly args: readonly unknown[];
  /** How long it may take, in milliseconds. */
  readonly budget?: number;
}

/** Answer of a thread to a request: the result, or the error. */
export type Answer =
  { readonly id: number; readonly value: unknown } | { readonly id: number; readonly failure: PackedError };

/** An error in a form that crosses between threads: structured clones lose the class. */
export type PackedError =
  | { readonly is: 'conflict'; readonly args: ConstructorParameters<typeof VersionConflict> }
  | { readonly is: 'fhir'; readonly args: ConstructorParameters<typeof FhirError> }
  | { readonly is: 'references'; readonly broken: BrokenReferences }
  | { readonly is: 'defect'; readonly message: string; readonly stack: string | undefined };

/** Packs what an operation threw, SQLite's own errors translated. */
export function packError(thrown: unknown): PackedError {
  const error = translateSqliteError(thrown);
  if (error instanceof VersionConflict) {
    return { is: 'conflict', args: [error.type, error.id, error.expected, error.actual] };
  }
  if (error instanceof ReferencesBroken) return { is: 'references', broken: error.broken };
  if (error instanceof FhirError) {
    const { code, message, headers, issues } = error;
    const { diagnostics } = issues[0];
    return { is: 'fhir', args: [code, message, { headers, ...(diagnostics !== undefined && { diagnostics }) }] };
  }
  if (error instanceof Error) return { is: 'defect', message: error.message, stack: error.stack };
  return { is: 'defect', message: String(error), stack: undefined };
}

/** The error again, on the other side. */
export function unpackError(packed: PackedError): Error {
  if (packed.is === 'conflict') return new VersionConflict(...packed.args);
  if (packed.is === 'fhir') return new FhirError(...packed.args);
  if (packed.is === 'references') return new ReferencesBroken(packed.broken);
  const error = new Error(packed.message);
  if (packed.stack !== undefined) error.stack = packed.stack;
  return error;
}
