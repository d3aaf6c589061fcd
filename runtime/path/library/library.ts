import { createRequire } from 'node:module';

/** A function of expressions that takes the place of one that the library has. */
export interface OwnFunction {
  readonly fn: (input: readonly unknown[], ...args: readonly unknown[]) => readonly unknown[];
  /** Kinds of its arguments, by their number. */
  readonly arity: Readonly<Record<number, readonly string[]>>;
}

/** Options of the library, as far as they are used here. */
interface CompileOptions {
  readonly resolveInternalTypes: boolean;
  readonly userInvocationTable: Readonly<Record<string, OwnFunction>>;
  readonly debugger: (context: unknown, input: unknown, result: unknown) => void;
}

/** The part of the FHIRPath library that is used. */
export interface Library {
  compile(
    expression: { readonly base: string; readonly expression: string } | string,
    options: CompileOptions,
  ): (start: object, variables: object) => readonly unknown[];
}

let loaded: Library | undefined;
let version: string | undefined;

/** The version of the library, without loading it: another one may find other things by the same expression. */
export function libraryVersion(): string {
  const read = (): string => (createRequire(import.meta.url)('fhirpath/package.json') as { version: string }).version;
  return (version ??= read());
}

/**
 * The FHIRPath library, loaded where it is first needed, which takes 60 ms: extraction and validation cannot wait for an import.
 * https://github.com/HL7/fhirpath.js
 */
export function library(): Library {
  if (loaded !== undefined) return loaded;
  const require = createRequire(import.meta.url);
  const fhirpath = require('fhirpath') as {
    compile(expression: unknown, model: unknown, options: CompileOptions): ReturnType<Library['compile']>;
  };
  const r5: unknown = require('fhirpath/fhir-context/r5');
  loaded = {
    compile: (expression, options) => fhirpath.compile(expression, r5, options),
  };
  return loaded;
}
