// Fills packages/client/dist: the typed client in one file, and the types of resources without comments. `npm pack packages/client`
// makes the package that a browser team installs in place of a server.
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';
import ts from 'typescript';

const root = fileURLToPath(new URL('..', import.meta.url));
const entry = join(root, 'runtime', 'client', 'index.ts');
const TYPES = join(root, 'generated', 'types');

/** Where the files go: the first argument, or the folder of the package. */
const target = process.argv[2] ?? join(root, 'packages', 'client', 'dist');

/** Frequent types, and what they are called in the file of all types. */
const ALIASES = {
  ...{ string: '_S', boolean: '_B', number: '_N', CodeableConcept: '_C', BackboneElement: '_E', Reference: '_R' },
  ...{ CodeableReference: '_Y', Identifier: '_I', ContactDetail: '_D', Quantity: '_Q', Period: '_P', Coding: '_O' },
  ...{ DomainResourceSearch: '_F', DomainResource: '_G', Annotation: '_A', Money: '_M', Range: '_H' },
};
const GENERIC = new Set(['Reference', 'CodeableReference']);

rmSync(target, { recursive: true, force: true });
mkdirSync(target, { recursive: true });
const bundle = await rolldown({ input: entry, platform: 'browser', external: ['jose'] });
await bundle.write({ file: join(target, 'index.js'), format: 'esm', minify: true });
await bundle.close();
writeFileSync(join(target, 'types.d.ts'), compactTypes());
emitDeclarations();

/** Declarations of the client, with their comments. */
function emitDeclarations() {
  const { options } = ts.parseJsonConfigFileContent(
    ts.readConfigFile(join(root, 'tsconfig.json'), ts.sys.readFile).config,
    ts.sys,
    root,
  );
  const program = ts.createProgram([entry], { ...options, noEmit: false, emitDeclarationOnly: true, noCheck: true });
  program.emit(undefined, (path, text) => {
    if (!path.includes('/runtime/client/')) return;
    writeFileSync(join(target, basename(path)), text.replaceAll('../../generated/types/index.js', './types.js'));
  });
}

/**
 * All types in one file. The property `_x` beside each `x` is one signature of what resources and elements have in common, so that the
 * package is half as large.
 */
function compactTypes() {
  const texts = readdirSync(TYPES)
    .filter((name) => name !== 'index.ts')
    .sort()
    .map((name) => readFileSync(join(TYPES, name), 'utf8'));
  const text = texts
    .join('\n')
    .replace(/\/\*\*[\s\S]*?\*\/\s*/g, '')
    .replace(/^(?:\/\/|import ).*\n/gm, '')
    .replace(/^ +_\w+\?: (?:Element|\(Element \| null\)\[\]);\n/gm, '')
    .replace(
      /^export interface (?:Resource|Element) .*\{\n/gm,
      (head) => `${head}[sibling: \`_\${string}\`]: Element | (Element | null)[] | undefined;\n`,
    )
    .replace(/^\s+/gm, '')
    .replace(/ ?([|:=]) /g, '$1')
    .replace(/;\n/g, ';')
    .replace(/\{\n/g, '{');
  return `// Made from generated/types.\n${withAliases(text)}`;
}

/**
 * Has short names in the places of those that are there a hundred times and more. What packs the file sees 32 kB of it at a time, so that
 * more is alike in a shorter one. Editors show the type that an alias is for.
 */
function withAliases(text) {
  const named = text
    .replace(/SearchValues<'(\w+)'>/g, (_, kind) => `_${kind}`)
    .replace(/(?<=[:|(<]|extends )([A-Za-z]\w+)(?=[;|)[<>{]| \{)/g, (name) => ALIASES[name] ?? name);
  const kinds = [...new Set(text.match(/SearchValues<'\w+'>/g))].map((type) => `type _${type.split("'")[1]}=${type};`);
  const aliases = Object.entries(ALIASES).map(([name, alias]) =>
    GENERIC.has(name) ? `type ${alias}<T extends string=string>=${name}<T>;` : `type ${alias}=${name};`,
  );
  // Without the last line a file of declarations exports everything.
  return `${named}\n${kinds.join('')}${aliases.join('')}\nexport {};\n`;
}
