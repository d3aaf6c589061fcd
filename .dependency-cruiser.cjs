// The import rules of the project, run by `npm run lint`. test/unit/repository/import-rules.test.ts shows each of them biting.
// Paths are regular expressions on paths from the repository's root.

// What each room of runtime/ may import besides itself, `contract` and `fhir`. A room missing here may import all.
const port = 'store/[^/]+$'; // the port and what stands beside it, not the stores in its folders
const access = 'auth/(?:access|scopes)/'; // access decisions, as data and pure functions
const below = ['format', 'path', 'patch', 'validate', 'indexing', 'search', port, access]; // all that the kernel builds on
const kernel = [...below, 'core', 'search-execution'];
const shared = 'operations/(?:common|export)/'; // arguments, jobs and filters, for operations that live in the room of their subject
const rooms = {
  format: [],
  path: [],
  patch: ['path', 'format'],
  validate: ['path'],
  indexing: ['path'],
  search: ['path', 'indexing'],
  store: ['indexing', 'search'],
  core: [...below, 'observe'],
  'search-execution': [...below, 'core'],
  exchange: kernel,
  interactions: [...kernel, 'exchange', 'observe'],
  subscriptions: [...kernel, shared, 'observe'],
  terminology: [...kernel, shared],
  jobs: [...kernel, 'views', 'observe'],
  graphql: [...kernel, shared],
  hfql: [...kernel, shared],
  views: [...kernel, shared, 'interactions', 'jobs'],
  'patient-identity': [...kernel, shared, 'interactions', 'jobs'],
  operations: [
    ...kernel,
    'exchange',
    'interactions',
    'jobs',
    'subscriptions',
    'terminology',
    'graphql',
    'hfql',
    'views',
    'patient-identity',
  ],
  auth: ['path', 'indexing', 'search', port],
  audit: ['auth'],
  'body-workers': [...kernel, 'exchange', 'interactions'],
  observe: [],
  pages: kernel,
  openapi: [...kernel, 'interactions'],
  http: [
    'core',
    'patch',
    'subscriptions',
    'terminology',
    'search-execution',
    'interactions',
    'operations',
    'openapi',
    'pages',
    'auth',
    'format',
    'observe',
  ],
};

// Entry files of worker threads are composition roots: they may live in any room, and see what server.ts sees.
const worker = '-worker[.]ts$';

/** Matches any of these npm packages, installed or not, and their types. */
function packages(...names) {
  return names.flatMap((name) => [
    `(?:^|/)node_modules/${name}/`,
    `(?:^|/)node_modules/@types/${name}/`,
    `^${name}(?:/|$)`, // not installed, or not in package.json
  ]);
}

function forbid(name, comment, from, to) {
  return { name, comment, severity: 'error', from, to };
}

/** For a package that one place keeps to itself. */
function only(place, name, ...names) {
  return forbid(
    name,
    `Only ${place} knows ${names.join(', ')}.`,
    { pathNot: `^${place}` },
    { path: packages(...names) },
  );
}

const NAMES = {
  [port]: 'the store port',
  [access]: 'auth/access and auth/scopes',
  [shared]: 'operations/common and operations/export',
};

const roomRules = Object.entries(rooms).map(([room, others]) => {
  const allowed = ['contract/', 'fhir/', `${room}/`, ...others.map((other) => (other in NAMES ? other : `${other}/`))];
  const list = others.map((other) => NAMES[other] ?? other).join(', ');
  return forbid(
    `room-${room}`,
    `runtime/${room} may import contract, fhir${list && ', '}${list}; see the table of rooms.`,
    { path: `^runtime/${room}/`, pathNot: worker },
    { path: '^runtime/', pathNot: `^runtime/(?:${allowed.join('|')})` },
  );
});

const runtimeRules = [
  forbid(
    'room-contract',
    'runtime/contract holds the row types and imports nothing.',
    { path: '^runtime/contract/' },
    { pathNot: '^runtime/contract/' },
  ),
  forbid(
    'room-fhir',
    'runtime/fhir may import contract.',
    { path: '^runtime/fhir/' },
    { path: '^runtime/', pathNot: '^runtime/(?:contract|fhir)/' },
  ),
  forbid(
    'store-knows-search-by-type',
    'A store compiles the query that search made. It takes what says how a query compares, prints and weighs, and the types of search; how criteria are read and entries made is none of its business.',
    { path: '^runtime/store/', pathNot: worker },
    {
      path: '^runtime/(?:indexing|search)/',
      pathNot:
        '^runtime/(?:indexing/(?:entry|places/(?:cells|regions|sphere)|text/parameters|values/fold)|search/(?:query/(?:compare-text|criterion|match|print|query|sort|uri)|text/has-words))\\.ts$',
      dependencyTypesNot: ['type-only'],
    },
  ),
  forbid(
    'no-store-imports-the-other',
    'What two stores share belongs into the port, or into the planner.',
    { path: '^runtime/store/([^/]+)/' },
    { path: '^runtime/store/[^/]+/', pathNot: ['^runtime/store/$1/', '^runtime/store/plan/'] },
  ),
  forbid(
    'concrete-store-only-in-server',
    'Everyone else takes the port, and is given a store by server.ts.',
    { path: '^runtime/', pathNot: ['^runtime/server[.]ts$', worker, '^runtime/store/[^/]+/'] },
    { path: '^runtime/store/[^/]+/' },
  ),
  forbid(
    'generated-only-in-tables',
    'A server reads the tables as the build packed them. Types may be had from kiln/contract.',
    { path: '^(?:runtime|generator)/', pathNot: ['^runtime/(?:tables|hooks)[.]ts$', '^runtime/client/'] },
    { path: '^generated/' },
  ),
  forbid(
    'tables-only-in-server',
    'Tables are passed in, so that tests run on a toy package.',
    { path: '^runtime/', pathNot: ['^runtime/server[.]ts$', worker] },
    { path: '^runtime/tables[.]ts$' },
  ),
  forbid(
    'worker-entries-are-started-by-url',
    'A worker entry sees everything; imported, but for its types, it would pass that on to the room that imports it.',
    {},
    { path: worker, dependencyTypesNot: ['type-only'] },
  ),
  forbid(
    'no-transport-or-driver-in-the-middle',
    'The middle of the server knows neither Express nor a database driver.',
    {
      path: '^runtime/(?:core|search-execution|patient-identity|patch|audit|exchange|interactions|operations|jobs|subscriptions|terminology|graphql|hfql|views|indexing|search|validate)/',
      pathNot: worker,
    },
    { path: packages('express', 'mongodb', 'better-sqlite3') },
  ),
  forbid(
    'runtime-without-generator',
    'The runtime ships without generator and definitions.',
    { path: '^runtime/', pathNot: '^runtime/(?:cli|packages|conformance|doctor)/' },
    { path: '^(?:generator|definitions)/' },
  ),
  forbid(
    'cli-loads-generator-when-asked',
    'Only `generate` and `explain` need the generator, and it is absent where Kiln is installed: use `await import()`.',
    { path: '^runtime/(?:cli|packages|conformance|doctor)/' },
    { path: '^generator/', dynamic: false },
  ),
  forbid(
    'cli-without-definitions',
    'The generator reads the definitions.',
    { path: '^runtime/(?:cli|packages|conformance|doctor)/' },
    { path: '^definitions/' },
  ),
  forbid(
    'runtime-without-development-tools',
    'The runtime ships without TypeScript tooling and FHIR packages.',
    { path: '^runtime/' },
    {
      path: packages(
        'typescript',
        'ts-morph',
        'ts-node',
        'tsx',
        'esbuild',
        'rolldown',
        'prettier',
        'eslint',
        'vite',
        'vitest',
        'openapi-typescript',
        'hl7[.]fhir[.][a-z0-9.]+',
      ),
    },
  ),
  forbid(
    'runtime-uses-only-dependencies',
    'What runs must be in "dependencies" of package.json; types may come from "devDependencies".',
    { path: '^runtime/' },
    { dependencyTypes: ['npm-dev', 'npm-no-pkg', 'npm-unknown'], dependencyTypesNot: ['type-only'] },
  ),
  only(
    'runtime/format/xml',
    'xml-library-only-in-format-xml',
    'saxes',
    'xmlbuilder2',
    'fast-xml-parser',
    '@xmldom/xmldom',
  ),
  only('runtime/(?:auth|client)/', 'jose-only-in-auth', 'jose'),
  forbid(
    'client-stands-alone',
    'The client ships to browsers: it knows types of the definitions and jose, and nothing of the server.',
    { path: '^runtime/client/' },
    { path: '^runtime/', pathNot: '^runtime/client/' },
  ),
  only('runtime/graphql/', 'graphql-library-only-in-graphql', 'graphql'),
  only('(?:runtime/pages|generator/print)/', 'templates-only-in-pages', 'handlebars'),
];

// The phases of a search, in their order; `interactions/search/search.ts` runs them.
const phases = ['parse', 'authorize', 'execute', 'present'];

const searchRules = phases.slice(0, -1).map((phase, i) => {
  const later = phases.slice(i + 1);
  return forbid(
    `search-${phase}`,
    `A search runs in phases: ${phases.join(', ')}. What one phase needs of a later one belongs into the earlier one.`,
    { path: `^runtime/search-execution/${phase}/` },
    { path: `^runtime/search-execution/(?:${later.join('|')})/` },
  );
});

const generatedRules = [
  forbid(
    'generated-imports-only-contract',
    'Generated files are tables and types: no behaviour, no library.',
    { path: '^generated/' },
    // kiln/contract is the package's own export: its name where dist/ is not built, its file there otherwise.
    { pathNot: '^generated/|^kiln/contract$|^(?:dist/)?runtime/contract/' },
  ),
  forbid(
    'generated-takes-contract-by-type',
    'A table must load without the runtime.',
    { path: '^generated/' },
    // Unknown: kiln/contract before dist/ is built, when nobody can tell.
    { pathNot: '^generated/', dependencyTypesNot: ['type-only', 'unknown'] },
  ),
];

const generatorRules = [
  ['load', ['model', 'verify', 'emit', 'print'], 'knows nothing of our output'],
  ['model', ['verify', 'emit', 'print'], 'knows nothing of what comes after it'],
  ['verify', ['emit', 'print'], 'judges the model, not the output'],
  ['emit', ['load'], 'makes files from the model, not from FHIR JSON'],
  ['print', ['load', 'model', 'verify'], 'knows nothing of FHIR'],
]
  .map(([room, others, because]) =>
    forbid(
      `generator-${room}`,
      `generator/${room} ${because}.`,
      { path: `^generator/${room}/` },
      { path: `^generator/(?:${others.join('|')})/` },
    ),
  )
  .concat(
    forbid(
      'emit-does-no-io',
      'An emitter turns the model into files in memory; generator/write.ts writes them.',
      { path: '^generator/emit/' },
      { path: '^(?:node:)?(?:fs|net|http|https|http2|tls|dgram|dns|child_process|worker_threads)(?:/|$)' },
    ),
    only('generator/print/', 'printers-only-in-print', 'ts-morph'),
  );

module.exports = {
  forbidden: [
    ...roomRules,
    ...runtimeRules,
    ...searchRules,
    ...generatedRules,
    ...generatorRules,
    forbid(
      'no-circular',
      'Two files that need each other are one, or lack a third. (FHIR types are recursive, so generated ones may be.)',
      { path: '^(?:runtime|generator)/' },
      { circular: true },
    ),
  ],
  options: {
    doNotFollow: { path: '(?:^|/)node_modules/|^dist/' },
    // Type-only imports count: a room that takes another's types knows it.
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'node', 'types', 'default'],
      mainFields: ['main', 'types'],
    },
  },
};
