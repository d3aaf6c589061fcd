/** What the emitters pass to the printers: a path relative to the output folder, and the content of the file. */
export type Artefact = TypeScriptFile | JsonFile | Page;

/** A TypeScript file: imports, then declarations. */
export interface TypeScriptFile {
  readonly kind: 'typescript';
  readonly path: string;
  /** Canonical of what the file describes, or the package; for the header. */
  readonly source: string;
  readonly imports: readonly ImportLine[];
  readonly declarations: readonly Declaration[];
  /** Types of other files that this one exports too. */
  readonly exports?: readonly ImportLine[];
}

/** Named imports. Type-only unless `values`. */
export interface ImportLine {
  readonly names: readonly string[];
  readonly from: string;
  readonly values?: true;
}

/** A declaration in a TypeScript file. */
export type Declaration = InterfaceDeclaration | AliasDeclaration | ConstantDeclaration;

/** An exported interface. */
export interface InterfaceDeclaration {
  readonly kind: 'interface';
  readonly name: string;
  readonly doc: string;
  readonly extends?: string;
  readonly properties: readonly {
    readonly name: string;
    readonly type: string;
    readonly optional: boolean;
    readonly doc: string;
  }[];
}

/** An exported type alias; `name` may have type parameters. */
export interface AliasDeclaration {
  readonly kind: 'alias';
  readonly name: string;
  readonly doc: string;
  readonly type: string;
}

/** A constant of a row type, as plain data. */
export interface ConstantDeclaration {
  readonly kind: 'constant';
  readonly name: string;
  readonly doc: string;
  readonly type: string;
  readonly value: unknown;
}

/** A JSON file, indented by two. */
export interface JsonFile {
  readonly kind: 'json';
  readonly path: string;
  readonly value: unknown;
}

/** A page made by a handlebars template of `print/templates`. */
export interface Page {
  readonly kind: 'page';
  readonly path: string;
  readonly template: string;
  /** Canonical of what the page describes, or the package; for the header. */
  readonly source: string;
  readonly data: unknown;
}

/** Code that is printed verbatim in a constant, for what data cannot express: a list of imported names. */
export class Code {
  constructor(readonly text: string) {}
}
