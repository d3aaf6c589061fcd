import { FhirError, type ErrorCode } from '../../../fhir/errors.js';
import { ReferencesBroken, type BrokenReferences } from '../../references.js';
import { VersionConflict } from '../../store.js';
import { translateSqliteError } from '../file/sqlite-errors.js';

/** What a thread can do, by name. Arguments and results are plain data. */
export type Operations<T> = { readonly [K in keyof T]: (...args: never[]) => unknown };

/** Something asked of a thread. */
export interface Request {
  readonly id: number;
  readonly kind: string;
  readonly args: readonly unknown[];
  /** How long it may take, in milliseconds. */
  readonly budget?: number;
}

/** What became of it. */
export type Answer =
  { readonly id: number; readonly value: unknown } | { readonly id: number; readonly failure: PackedError };

/** An error in a form that crosses between threads: structured clones lose the class. */
export type PackedError =
  | {
      readonly is: 'conflict';
      readonly type: string;
      readonly key: string;
      readonly expected: number;
      readonly actual: number;
    }
  | {
      readonly is: 'fhir';
      readonly code: ErrorCode;
      readonly text: string;
      readonly diagnostics: string | undefined;
      readonly headers: Readonly<Record<string, string>>;
    }
  | { readonly is: 'references'; readonly broken: BrokenReferences }
  | { readonly is: 'defect'; readonly message: string; readonly stack: string | undefined };

/** Packs what an operation threw, SQLite's own errors translated. */
export function packError(thrown: unknown): PackedError {
  const error = translateSqliteError(thrown);
  if (error instanceof VersionConflict) {
    const { type, id, expected, actual } = error;
    return { is: 'conflict', type, key: id, expected, actual };
  }
  if (error instanceof ReferencesBroken) return { is: 'references', broken: error.broken };
  if (error instanceof FhirError) {
    const { code, message, headers, issues } = error;
    return { is: 'fhir', code, text: message, diagnostics: issues[0].diagnostics, headers };
  }
  if (error instanceof Error) return { is: 'defect', message: error.message, stack: error.stack };
  return { is: 'defect', message: String(error), stack: undefined };
}

/** The error again, on the other side. */
export function unpackError(packed: PackedError): Error {
  switch (packed.is) {
    case 'conflict':
      return new VersionConflict(packed.type, packed.key, packed.expected, packed.actual);
    case 'fhir': {
      const { code, text, headers, diagnostics } = packed;
      return new FhirError(code, text, diagnostics === undefined ? { headers } : { headers, diagnostics });
    }
    case 'references':
      return new ReferencesBroken(packed.broken);
    case 'defect': {
      const error = new Error(packed.message);
      if (packed.stack !== undefined) error.stack = packed.stack;
      return error;
    }
  }
}
