import {
  type ExportDeclarationStructure,
  type ImportDeclarationStructure,
  IndentationText,
  NewLineKind,
  type OptionalKind,
  Project,
  QuoteKind,
  type SourceFileStructure,
  StructureKind,
  type StatementStructures,
} from 'ts-morph';
import type {
  AliasDeclaration,
  ConstantDeclaration,
  Declaration,
  ImportLine,
  InterfaceDeclaration,
  TypeScriptFile,
} from '../emit/artefact.js';
import { header } from './header.js';
import { literal } from './literal.js';

/**
 * Prints TypeScript files. Each is made by one call of ts-morph's `createSourceFile` with the whole structure, which is a
 * hundred times faster than adding declarations to a file.
 *
 * @returns path and text of each
 */
export function printTypeScript(files: readonly TypeScriptFile[], origin: string): [string, string][] {
  const project = new Project({
    useInMemoryFileSystem: true,
    skipLoadingLibFiles: true,
    manipulationSettings: {
      indentationText: IndentationText.TwoSpaces,
      newLineKind: NewLineKind.LineFeed,
      quoteKind: QuoteKind.Single,
    },
  });
  return files.map((file) => {
    const source = project.createSourceFile(file.path, structureOf(file));
    const constants = file.declarations.filter((declaration) => declaration.kind === 'constant').map(constantOf);
    const text = `${header(file.source, origin)}\n\n${source.getFullText()}${constants.join('')}`;
    source.forget();
    return [file.path, text];
  });
}

function structureOf(file: TypeScriptFile): SourceFileStructure {
  return {
    kind: StructureKind.SourceFile,
    statements: [
      ...file.imports.map(importOf),
      ...(file.exports ?? []).map(exportOf),
      ...file.declarations.filter((declaration) => declaration.kind !== 'constant').map(statementOf),
    ],
  };
}

function importOf(
  line: ImportLine,
): OptionalKind<ImportDeclarationStructure> & { kind: StructureKind.ImportDeclaration } {
  return {
    kind: StructureKind.ImportDeclaration,
    moduleSpecifier: line.from,
    namedImports: [...line.names],
    isTypeOnly: line.values !== true,
  };
}

function exportOf(
  line: ImportLine,
): OptionalKind<ExportDeclarationStructure> & { kind: StructureKind.ExportDeclaration } {
  return {
    kind: StructureKind.ExportDeclaration,
    moduleSpecifier: line.from,
    namedExports: [...line.names],
    isTypeOnly: true,
  };
}

function statementOf(declaration: InterfaceDeclaration | AliasDeclaration): StatementStructures {
  const docs = docsOf(declaration);
  switch (declaration.kind) {
    case 'interface':
      return {
        kind: StructureKind.Interface,
        name: declaration.name,
        isExported: true,
        docs,
        ...(declaration.extends === undefined ? {} : { extends: [declaration.extends] }),
        properties: declaration.properties.map((property) => ({
          name: property.name,
          type: property.type,
          hasQuestionToken: property.optional,
          docs: property.doc === '' ? [] : [comment(property.doc)],
        })),
      };
    case 'alias':
      return { kind: StructureKind.TypeAlias, name: declaration.name, type: declaration.type, isExported: true, docs };
  }
}

/** As text: ts-morph would indent the rows of an initializer once more, and parse all of them, which takes a second. */
function constantOf(declaration: ConstantDeclaration): string {
  const doc = docsOf(declaration).map((text) => `/** ${text} */\n`);
  return `${doc.join('')}export const ${declaration.name}: ${declaration.type} = ${literal(declaration.value)};\n`;
}

function docsOf({ doc }: Declaration): string[] {
  return doc === '' ? [] : [comment(doc)];
}

/** Text for a doc comment: one paragraph, without the sequence that ends a comment. */
function comment(text: string): string {
  return text.replaceAll(/\s+/g, ' ').trim().replaceAll('*/', '*\\/').replaceAll('@', '(at)');
}
