// Compiles to dist/, and leaves there what belongs there: tsc neither removes the output of a source file that is gone
// nor makes the command executable. What a server reads of the generated tables goes into one file.
import { Buffer } from 'node:buffer';
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  chmodSync,
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { basename, join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { brotliCompressSync, constants } from 'node:zlib';
import openapiTypes, { astToString } from 'openapi-typescript';

import { fromExpansions } from './from-expansions.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const dist = join(root, 'dist');
const main = join(dist, 'runtime', 'cli', 'main.js');
/** The tables, as runtime/tables.ts reads them. */
const PACKED = join('generated', 'tables.json');
/** The code systems and value sets of the FHIR package, as runtime/terminology/shipped.ts reads them. */
const TERMINOLOGY = join('generated', 'terminology.ndjson');
/** The definitions of the FHIR package, as runtime/core/shipped/shipped-pack.ts reads them: 3.1 MB. */
const CONFORMANCE = join('generated', 'conformance.br');
/** Says which generated files dist/ was built from: runtime/assembly/stale-build.ts compares it with the one in generated/. */
const MANIFEST = join('generated', 'manifest.json');
/** The reference pages in HTML, as runtime/assembly/docs-folder.ts finds them. */
const PAGES = join('generated', 'docs');
/** Types of the whole OpenAPI document: kiln/openapi. Its first line says of which document they were made. */
const OPENAPI = join('generated', 'openapi.d.ts');
/** Is written when all else is there. */
const BUILT = '.built';
/** What dist/ is made of. */
const SOURCES = ['runtime', 'generator', 'generated', 'definitions', 'docs', 'scripts', 'package.json', 'package-lock.json', 'tsconfig.json', 'tsconfig.build.json']; // prettier-ignore
const EMITTED = /\.(?:d\.ts|d\.ts\.map|js\.map|js)$/;

/** Tells a person step by step what is done, and how long it has taken so far. */
export function tellSteps() {
  const start = performance.now();
  return (step) =>
    process.stderr.write(`kiln: ${String(Math.round((performance.now() - start) / 1000)).padStart(3)} s: ${step}\n`);
}

/**
 * Compiles the project; returns the exit code of tsc.
 *
 * @param tell called with each step that takes seconds, when it begins
 */
export async function build(tell = () => {}) {
  tell('compiling TypeScript to dist/, the longest step of a first build');
  const tsc = createRequire(import.meta.url).resolve('typescript/bin/tsc');
  const run = spawnSync(process.execPath, [tsc, '-p', 'tsconfig.build.json'], { cwd: root, stdio: 'inherit' });
  if (existsSync(dist)) removeStale('');
  if (existsSync(main)) chmodSync(main, 0o755);
  copyPageFiles();
  copySchemas();
  tell('packing the tables and the code systems of the FHIR package');
  await packTables();
  const packages = await findPackages();
  if (packages === undefined) return 1;
  packTerminology(packages);
  if (!(await packConformance(packages, tell))) return 1;
  copyFileSync(join(root, MANIFEST), join(dist, MANIFEST));
  await buildOpenApiTypes(tell);
  const arePagesMade = await buildPages(packages, tell);
  const code = arePagesMade ? (run.status ?? 1) : 1;
  if (code === 0) writeFileSync(join(dist, BUILT), '');
  tell(code === 0 ? 'built; npm start starts the server, npm test runs the tests' : 'not built: see above');
  return code;
}

/** Whether nothing of what dist/ is made of is newer than it is: files and folders, from which something may have gone. */
export function isBuilt() {
  const stamp = join(dist, BUILT);
  if (!existsSync(stamp)) return false;
  const built = statSync(stamp).mtimeMs;
  const isOlder = (path) => {
    const stat = statSync(path);
    return (
      stat.mtimeMs < built && (!stat.isDirectory() || readdirSync(path).every((name) => isOlder(join(path, name))))
    );
  };
  return SOURCES.every((name) => isOlder(join(root, name)));
}

/** Templates and assets of the pages, which the runtime reads beside its modules. */
function copyPageFiles() {
  for (const folder of ['templates', 'assets']) {
    const path = join('runtime', 'pages', folder);
    cpSync(join(root, path), join(dist, path), { recursive: true });
  }
}

/** JSON Schemas of the rows of views: kiln/views/NAME.schema.json. */
function copySchemas() {
  const path = join('generated', 'views');
  rmSync(join(dist, path), { recursive: true, force: true });
  if (existsSync(join(root, path))) cpSync(join(root, path), join(dist, path), { recursive: true });
}

/**
 * The packages that generated/ was made from, so that the server shows what it enforces: of the definitions, and of the expansions where
 * there are such. Undefined: they are not here any more.
 */
async function findPackages() {
  const { inputs, guides = [], fhirVersion } = JSON.parse(readFileSync(join(root, MANIFEST), 'utf8'));
  try {
    const { findInput } = await load('generator/load/find-package.js');
    const [core, expansions] = inputs.map((input) => findInput(input, root));
    return { core, expansions, guides: guides.length === 0 ? [] : await readGuides(guides, fhirVersion) };
  } catch (error) {
    process.stderr.write(`kiln: ${[error.message, ...(error.details ?? [])].join('\n  ')}\n`);
    return undefined;
  }
}

/** The definitions of the guides. */
async function readGuides(guides, fhirVersion) {
  const { pinnedSource, readDefinitions } = await load('generator/load/guide-sources.js');
  const found = [];
  for (const pin of guides) {
    found.push(...(await readDefinitions(await pinnedSource(pin, root, fhirVersion))));
  }
  return found;
}

/** A module of what was built. @param path of the file in dist/ */
function load(path) {
  return import(pathToFileURL(join(dist, path)).href);
}

async function packTables() {
  const { tables } = await load('generated/tables.js');
  writeFileSync(join(dist, PACKED), JSON.stringify(tables));
}

/**
 * The types of the document that a server has at /openapi/all.json. They take some ten seconds, so they are made only when the
 * document has changed.
 */
async function buildOpenApiTypes(tell) {
  const [{ tables }, { createServices }, { createPatchers }, { makeWhole }] = await Promise.all([
    load('generated/tables.js'),
    load('runtime/http/create-services.js'),
    load('runtime/patch/apply/patchers.js'),
    load('runtime/openapi/documents.js'),
  ]);
  // No store, no codec and no view is called to make a document.
  const parts = {
    ...{ store: { maps: {} }, extract: () => [], subset: (resource) => resource },
    ...{ codecs: { xml: {} }, authorization: { cors: false } },
  };
  const { services } = createServices({ tables, ...parts, patchers: createPatchers(tables) });
  const root = 'http://localhost:8080';
  const text = JSON.stringify(await makeWhole(services, { base: `${root}/fhir`, token: `${root}/auth/token` }));
  const { version } = createRequire(import.meta.url)('openapi-typescript/package.json');
  const head = `// Made by openapi-typescript ${version} of document ${createHash('sha256').update(text).digest('hex')}.\n`;
  const file = join(dist, OPENAPI);
  if (existsSync(file) && readFileSync(file, 'utf8').startsWith(head)) return;
  tell('making the types of the OpenAPI document');
  writeFileSync(file, head + astToString(await openapiTypes(text)));
}

/**
 * The reference pages in HTML. They take seconds, so they are made only when the definitions, the package or the generator have
 * changed: the stamp says of which they were made.
 *
 * @returns false: the definitions are faulty, and the pages are those that were there before
 */
async function buildPages({ core }, tell) {
  const stamp = pagesStamp();
  const stampFile = join(dist, PAGES, '.stamp');
  if (existsSync(stampFile) && readFileSync(stampFile, 'utf8') === stamp) return true;
  tell('making the reference pages');
  const { makeHtmlPages, makeModel } = await load('generator/generate.js');
  try {
    const pages = makeHtmlPages(await makeModel({ found: core }));
    rmSync(join(dist, PAGES), { recursive: true, force: true });
    mkdirSync(join(dist, PAGES), { recursive: true });
    for (const [path, text] of pages) writeFileSync(join(dist, 'generated', path), text);
    writeFileSync(stampFile, stamp);
    return true;
  } catch (error) {
    process.stderr.write(`kiln: no reference pages: ${error.message}\n`);
    return false;
  }
}

/** Digest of what the pages are made of. The manifest has digests of all input and of the pages in Markdown. */
function pagesStamp() {
  const digest = createHash('sha256').update(readFileSync(join(root, MANIFEST)));
  const folder = join(root, 'generator');
  for (const name of readdirSync(folder, { recursive: true }).sort()) {
    if (statSync(join(folder, name)).isFile()) digest.update(name).update(readFileSync(join(folder, name)));
  }
  return digest.digest('hex');
}

/** Elements that no terminology operation reads. */
const UNREAD = [
  'text',
  'meta',
  'contact',
  'publisher',
  'description',
  'purpose',
  'copyright',
  'jurisdiction',
  'extension',
];

/** One line with the place of each resource, then the resources. Whatever order the folder has, the file is the same. */
function packTerminology(packages) {
  const core = readTerminology(packages.core, /^(?:CodeSystem|ValueSet|ConceptMap)-.*[.]json$/);
  const { expansions } = packages;
  const official = expansions === undefined ? [] : readTerminology(expansions, /^ValueSet-.*[.]json$/);
  // Of one canonical the last is found: what a guide needs is newer than what the core has of it.
  const guides = packages.guides.filter(({ resourceType }) => IN_TERMINOLOGY.has(resourceType)).map(withoutUnread);
  const resources = [...core, ...fromExpansions(core, official), ...guides];
  const entries = [];
  const parts = [];
  let from = 0;
  for (const resource of resources) {
    const bytes = Buffer.from(`${JSON.stringify(resource)}\n`);
    entries.push([resource.resourceType, resource.url, resource.version ?? '', from, bytes.length - 1]);
    from += bytes.length;
    parts.push(bytes);
  }
  writeFileSync(join(dist, TERMINOLOGY), Buffer.concat([Buffer.from(`${JSON.stringify(entries)}\n`), ...parts]));
}

/** Types of the terminology of guides. */
const IN_TERMINOLOGY = new Set(['CodeSystem', 'ConceptMap', 'ValueSet']);

function withoutUnread(resource) {
  return Object.fromEntries(Object.entries(resource).filter(([element]) => !UNREAD.includes(element)));
}

function readTerminology({ dir: folder }, pattern) {
  const found = [];
  for (const file of readdirSync(folder).sort()) {
    if (!pattern.test(file)) continue;
    const resource = JSON.parse(readFileSync(join(folder, file), 'utf8'));
    if (typeof resource.url !== 'string') continue;
    found.push(withoutUnread(resource));
  }
  return found;
}

/** Definitions in one block: it is compressed, and read, as a whole. */
const BLOCK = 8;

/** Types of which the server has what the package has; SHIPPED_TYPES in shipped-pack.ts. */
const SHIPPED =
  /^(?:CodeSystem|CompartmentDefinition|ConceptMap|OperationDefinition|SearchParameter|StructureDefinition|ValueSet)-.*[.]json$/;

/** Types that the server has of guides besides. */
const OF_GUIDES = /^(?:CapabilityStatement|ImplementationGuide|NamingSystem)-/;

/** Examples of the documentation, which look like what the server supports. */
const EXAMPLE =
  /^(?:SearchParameter-(?:example.*|filter)|OperationDefinition-example.*|CompartmentDefinition-example.*)[.]json$/;

/**
 * The definitions, of the package and our own, with the corrections that the tables are made with, so that the server shows what it enforces. One line says which
 * of them are in which block, then come the blocks. Returns whether all corrections apply.
 */
async function packConformance({ core: { name: packageName, dir: folder }, guides }, tell) {
  const target = join(dist, CONFORMANCE);
  const names = readdirSync(folder).filter((name) => SHIPPED.test(name) && !EXAMPLE.test(name));
  // It takes seconds, and what it is made of seldom changes.
  const maintained = readdirSync(join(root, 'definitions'), { recursive: true }).map((name) =>
    join(root, 'definitions', name),
  );
  const sources = [join(folder, 'package.json'), join(root, MANIFEST), fileURLToPath(import.meta.url), ...maintained];
  if (existsSync(target) && sources.every((each) => statSync(target).mtimeMs > statSync(each).mtimeMs)) return true;
  tell('packing the definitions of the FHIR package');
  const { correctDefinition } = await load('generator/load/errata.js');
  const { loadDefinitions } = await load('generator/load/definitions.js');
  const { typesFor, withSnapshot } = await load('generator/load/types.js');
  const { errata, operations, types, views } = loadDefinitions(join(root, 'definitions'));
  const mine = errata.filter((each) => each.package === packageName);
  const faults = [];
  const corrected = names.sort().flatMap((name) => {
    const published = JSON.parse(readFileSync(join(folder, name), 'utf8'));
    const own = mine.filter(({ target: url }) => url === published.url);
    return correctDefinition(published, own, faults) ?? [];
  });
  const structures = corrected.filter(({ resourceType }) => resourceType === 'StructureDefinition');
  const typed = typesFor(packageName, types).flatMap(({ structure, searchParameters }) => [
    { ...withSnapshot(structure, structures), differential: structure.differential },
    ...searchParameters,
  ]);
  // Their URLs are below that of the server; a package without the type has no views.
  const shown = (typed.length === 0 ? [] : views).map(({ file, definition: { resourceType, ...view } }) => ({ resourceType, id: basename(file, '.json'), ...view })); // prettier-ignore
  const own = [...corrected, ...typed, ...operations, ...shown].map(withoutMarks);
  const definitions = [...own, ...(guides.length === 0 ? [] : await besides(own, guides))];
  // The generator says so in its own words.
  if (faults.length > 0) {
    process.stderr.write(`kiln: corrections that do not apply: ${faults.join('; ')}\n`);
    return false;
  }
  const index = [];
  const blocks = [];
  const params = { [constants.BROTLI_PARAM_QUALITY]: 9, [constants.BROTLI_PARAM_LGWIN]: 24 };
  for (let at = 0; at < definitions.length; at += BLOCK) {
    const some = definitions.slice(at, at + BLOCK);
    const block = brotliCompressSync(some.map((each) => JSON.stringify(each)).join('\n'), { params });
    index.push([block.length, some.map(({ resourceType, id, url }) => [resourceType, id, url ?? ''])]);
    blocks.push(block);
  }
  writeFileSync(target, Buffer.concat([Buffer.from(`${JSON.stringify(index)}\n`), ...blocks]));
  return true;
}

/**
 * The definitions of guides that are shown beside those of the server: not what it has itself, and under other ids where theirs are taken.
 */
async function besides(own, guides) {
  const { derivedId } = await load('runtime/packages/plan.js');
  const urls = new Set(own.map(({ resourceType, url }) => `${resourceType} ${url}`));
  const ids = new Set(own.map(({ resourceType, id }) => `${resourceType}/${id}`));
  return guides
    .filter(({ resourceType }) => OF_GUIDES.test(`${resourceType}-x.json`) || SHIPPED.test(`${resourceType}-x.json`))
    .filter(({ resourceType, url }) => !urls.has(`${resourceType} ${url}`))
    .map((resource) => {
      const { resourceType: type, id, url, version } = resource;
      const free = id !== undefined && !ids.has(`${type}/${id}`) ? id : derivedId({ id, url, version });
      ids.add(`${type}/${free}`);
      return { ...resource, id: free };
    });
}

/** Without the extensions that only the generator reads: their URLs are names. */
function withoutMarks({ extension, ...definition }) {
  const shown = extension?.filter(({ url }) => url.includes(':')) ?? [];
  return shown.length === 0 ? definition : { ...definition, extension: shown };
}

/** Deletes below dist/FOLDER every output whose source is gone, and the folders that this empties. */
function removeStale(folder) {
  for (const entry of readdirSync(join(dist, folder), { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) removeStale(path);
    else if (!hasSource(path)) rmSync(join(dist, path));
  }
  if (folder !== '' && readdirSync(join(dist, folder)).length === 0) rmdirSync(join(dist, folder));
}

function hasSource(path) {
  if (
    path === '.tsbuildinfo' ||
    path === BUILT ||
    [PACKED, TERMINOLOGY, CONFORMANCE, OPENAPI].includes(path) ||
    path.startsWith(PAGES)
  )
    return true;
  const source = EMITTED.test(path) ? path.replace(EMITTED, '.ts') : path; // an imported .json keeps its name
  return existsSync(join(root, source));
}

if (process.argv[1] === fileURLToPath(import.meta.url)) process.exitCode = await build(tellSteps());
