import { cruise, type ICruiseResult, type IReporterOutput } from 'dependency-cruiser';
import extractDepcruiseOptions from 'dependency-cruiser/config-utl/extract-depcruise-options';
import extractTSConfig from 'dependency-cruiser/config-utl/extract-ts-config';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

const options = await extractDepcruiseOptions(resolve('.dependency-cruiser.cjs'));

/** Rule, importing file, what it imports. `type` and `await` before the target make the import type-only or dynamic. */
type Case = readonly [rule: string, from: string, to: string];

const FORBIDDEN: readonly Case[] = [
  ['room-contract', 'runtime/contract/rows.ts', 'runtime/fhir/decimal.ts'],
  ['room-contract', 'runtime/contract/clock.ts', 'node:perf_hooks'],
  ['room-fhir', 'runtime/fhir/upward.ts', 'runtime/format/json.ts'],
  ['room-format', 'runtime/format/upward.ts', 'runtime/path/evaluate.ts'],
  ['room-path', 'runtime/path/upward.ts', 'type runtime/search/query.ts'],
  ['room-patch', 'runtime/patch/upward.ts', 'runtime/core/call.ts'],
  ['room-validate', 'runtime/validate/upward.ts', 'runtime/search/query.ts'],
  ['room-search', 'runtime/search/upward.ts', 'runtime/store/store.ts'],
  ['room-indexing', 'runtime/indexing/upward.ts', 'runtime/search/query.ts'],
  ['room-store', 'runtime/store/upward.ts', 'runtime/interactions/read.ts'],
  ['room-core', 'runtime/core/upward.ts', 'runtime/interactions/read.ts'],
  ['room-core', 'runtime/core/upward.ts', 'runtime/auth/server/endpoint.ts'],
  ['room-search-execution', 'runtime/search-execution/upward.ts', 'runtime/interactions/read.ts'],
  ['room-exchange', 'runtime/exchange/upward.ts', 'runtime/interactions/read.ts'],
  ['room-interactions', 'runtime/interactions/upward.ts', 'runtime/operations/diff.ts'],
  ['room-interactions', 'runtime/interactions/upward.ts', 'runtime/auth/server/endpoint.ts'],
  ['room-operations', 'runtime/operations/upward.ts', 'runtime/http/app.ts'],
  ['room-subscriptions', 'runtime/subscriptions/upward.ts', 'runtime/interactions/read.ts'],
  ['room-patient-identity', 'runtime/patient-identity/upward.ts', 'runtime/operations/diff.ts'],
  ['room-terminology', 'runtime/terminology/upward.ts', 'runtime/operations/expand.ts'],
  ['room-jobs', 'runtime/jobs/upward.ts', 'runtime/operations/diff.ts'],
  ['room-jobs', 'runtime/jobs/upward.ts', 'runtime/auth/token.ts'],
  ['room-graphql', 'runtime/graphql/upward.ts', 'runtime/operations/diff.ts'],
  ['room-hfql', 'runtime/hfql/upward.ts', 'runtime/operations/diff.ts'],
  ['room-views', 'runtime/views/upward.ts', 'runtime/operations/diff.ts'],
  ['room-openapi', 'runtime/openapi/upward.ts', 'runtime/http/app.ts'],
  ['room-body-workers', 'runtime/body-workers/upward.ts', 'runtime/http/app.ts'],
  ['room-auth', 'runtime/auth/upward.ts', 'runtime/http/app.ts'],
  ['room-audit', 'runtime/audit/upward.ts', 'runtime/http/app.ts'],
  ['room-observe', 'runtime/observe/upward.ts', 'runtime/store/store.ts'],
  ['room-pages', 'runtime/pages/upward.ts', 'runtime/http/app.ts'],
  ['room-http', 'runtime/http/upward.ts', 'runtime/store/store.ts'],
  ['room-http', 'runtime/http/root.ts', 'runtime/config.ts'],

  ['store-knows-search-by-type', 'runtime/store/mongo/compile.ts', 'runtime/search/query.ts'],
  ['no-store-imports-the-other', 'runtime/store/mongo/shared.ts', 'runtime/store/sqlite/schema.ts'],
  ['concrete-store-only-in-server', 'runtime/cli/load.ts', 'runtime/store/sqlite/schema.ts'],
  ['concrete-store-only-in-server', 'runtime/store/open.ts', 'await runtime/store/sqlite/schema.ts'],
  ['generated-only-in-tables', 'runtime/tables-by-type.ts', 'generated/tables.ts'],
  ['generated-only-in-tables', 'generator/load/shortcut.ts', 'generated/tables.ts'],
  ['tables-only-in-server', 'runtime/config.ts', 'runtime/tables.ts'],
  ['worker-entries-are-started-by-url', 'runtime/search/parallel.ts', 'runtime/search/index-worker.ts'],

  ['search-parse', 'runtime/search-execution/parse/shortcut.ts', 'type runtime/search-execution/authorize/bounds.ts'],
  ['search-parse', 'runtime/search-execution/parse/shortcut.ts', 'runtime/search-execution/present/bundle.ts'],
  [
    'search-authorize',
    'runtime/search-execution/authorize/shortcut.ts',
    'runtime/search-execution/execute/find-page.ts',
  ],
  ['search-execute', 'runtime/search-execution/execute/shortcut.ts', 'runtime/search-execution/present/bundle.ts'],

  ['no-transport-or-driver-in-the-middle', 'runtime/interactions/web.ts', 'express'],
  ['no-transport-or-driver-in-the-middle', 'runtime/operations/web.ts', 'type express'],
  ['no-transport-or-driver-in-the-middle', 'runtime/search/driver.ts', 'mongodb'],
  ['no-transport-or-driver-in-the-middle', 'runtime/validate/driver.ts', 'await better-sqlite3'],

  ['runtime-without-generator', 'runtime/server-tools.ts', 'await generator/load/read.ts'],
  ['runtime-without-generator', 'runtime/http/errata.ts', 'definitions/errata.json'],
  ['cli-loads-generator-when-asked', 'runtime/cli/explain.ts', 'generator/load/read.ts'],
  ['cli-without-definitions', 'runtime/cli/errata.ts', 'definitions/errata.json'],
  ['runtime-without-development-tools', 'runtime/cli/compile.ts', 'await typescript'],
  ['runtime-without-development-tools', 'runtime/cli/print.ts', 'type ts-morph'],
  ['runtime-without-development-tools', 'runtime/http/core.ts', 'hl7.fhir.r5.core/package.json'],
  ['runtime-uses-only-dependencies', 'runtime/http/dev.ts', 'a-dev-dependency'],
  ['runtime-uses-only-dependencies', 'runtime/http/unlisted.ts', 'an-unlisted-package'],
  ['xml-library-only-in-format-xml', 'runtime/format/json-by-xml.ts', 'saxes'],
  ['xml-library-only-in-format-xml', 'runtime/http/xml.ts', 'xmlbuilder2'],
  ['jose-only-in-auth', 'runtime/http/token.ts', 'jose'],
  ['client-stands-alone', 'runtime/client/shortcut.ts', 'type runtime/fhir/resource.ts'],
  ['graphql-library-only-in-graphql', 'runtime/operations/schema.ts', 'graphql'],

  ['generated-imports-only-contract', 'generated/behaviour.ts', 'type runtime/fhir/decimal.ts'],
  ['generated-imports-only-contract', 'generated/library.ts', 'type express'],
  ['generated-takes-contract-by-type', 'generated/value.ts', 'kiln/contract'],
  ['generated-takes-contract-by-type', 'generated/value-by-path.ts', 'runtime/contract/index.ts'],

  ['generator-load', 'generator/load/ahead.ts', 'generator/print/print.ts'],
  ['generator-model', 'generator/model/ahead.ts', 'generator/emit/types.ts'],
  ['generator-verify', 'generator/verify/ahead.ts', 'generator/emit/types.ts'],
  ['generator-emit', 'generator/emit/back.ts', 'generator/load/read.ts'],
  ['generator-print', 'generator/print/back.ts', 'type generator/model/model.ts'],
  ['emit-does-no-io', 'generator/emit/file.ts', 'node:fs/promises'],
  ['emit-does-no-io', 'generator/emit/process.ts', 'child_process'],
  ['printers-only-in-print', 'generator/emit/morph.ts', 'ts-morph'],
  ['templates-only-in-pages', 'generator/write.ts', 'handlebars'],
  ['templates-only-in-pages', 'runtime/http/page.ts', 'handlebars'],

  ['no-circular', 'runtime/interactions/ring-a.ts', 'runtime/interactions/ring-b.ts'],
];

/** A ring is reported once; this is its other half. */
const RING = ['runtime/interactions/ring-b.ts', 'type runtime/interactions/ring-a.ts'] as const;

const ALLOWED: readonly (readonly [from: string, to: string])[] = [
  ['runtime/fhir/decimal.ts', 'runtime/contract/index.ts'],
  ['runtime/format/json.ts', 'runtime/fhir/decimal.ts'],
  ['runtime/format/xml-reader.ts', 'saxes'],
  ['runtime/validate/closures.ts', 'runtime/path/evaluate.ts'],
  ['runtime/indexing/extract.ts', 'runtime/path/evaluate.ts'],
  ['runtime/search/query.ts', 'runtime/indexing/entry.ts'],
  ['runtime/store/store.ts', 'type runtime/search/query.ts'],
  ['runtime/store/sqlite/schema.ts', 'runtime/store/store.ts'],
  ['runtime/store/sqlite/open.ts', 'better-sqlite3'],
  ['runtime/interactions/read.ts', 'runtime/store/store.ts'],
  ['runtime/interactions/search.ts', 'runtime/search/query.ts'],
  ['runtime/interactions/search.ts', 'runtime/auth/access/decide.ts'],
  ['runtime/search-execution/execute/find-page.ts', 'runtime/search-execution/parse/request.ts'],
  ['runtime/operations/diff.ts', 'runtime/validate/closures.ts'],
  ['runtime/operations/export.ts', 'runtime/jobs/export.ts'],
  ['runtime/jobs/export.ts', 'runtime/core/call.ts'],
  ['runtime/auth/token.ts', 'jose'],
  ['runtime/http/app.ts', 'express'],
  ['runtime/http/types.ts', 'type express'],
  ['runtime/http/dispatch.ts', 'runtime/interactions/read.ts'],
  ['runtime/tables.ts', 'await generated/tables.ts'],
  ['runtime/server.ts', 'runtime/tables.ts'],
  ['runtime/server-of-sqlite.ts', 'runtime/http/app.ts'],
  ['runtime/search/index-worker.ts', 'runtime/tables.ts'],
  ['runtime/store/sqlite/reader-worker.ts', 'runtime/search/query.ts'],
  ['runtime/cli/generate.ts', 'await generator/load/read.ts'],
  ['runtime/cli/serve.ts', 'runtime/server.ts'],
  ['generator/model/model.ts', 'generator/load/read.ts'],
  ['generator/load/read.ts', 'node:fs'],
  ['generator/emit/types.ts', 'generator/print/source.ts'],
  ['generator/print/print.ts', 'ts-morph'],
  ['generator/print/templates.ts', 'handlebars'],
  ['runtime/pages/engine.ts', 'handlebars'],
  ['generated/tables.ts', 'type kiln/contract'],
  ['generated/by-path.ts', 'type runtime/contract/index.ts'],
  ['generated/patient.ts', 'generated/tables.ts'],
  ['generated/recursive-a.ts', 'type generated/recursive-b.ts'],
  ['generated/recursive-b.ts', 'type generated/recursive-a.ts'],
];

const PACKAGE = {
  name: 'kiln',
  type: 'module',
  exports: { './contract': './dist/runtime/contract/index.js' },
  dependencies: Object.fromEntries(
    ['express', 'mongodb', 'better-sqlite3', 'saxes', 'jose', 'handlebars'].map((name) => [name, '1.0.0']),
  ),
  devDependencies: { 'a-dev-dependency': '1.0.0', typescript: '1.0.0', 'ts-morph': '1.0.0' },
};

const trees: string[] = [];
afterAll(() => trees.forEach((tree) => rmSync(tree, { recursive: true, force: true })));

describe('the import rules (architecture, tables of rooms)', () => {
  let reported: readonly (readonly [rule: string, from: string])[];
  beforeAll(async () => {
    reported = await violationsIn(treeOf([...FORBIDDEN.map(([, from, to]) => [from, to] as const), RING, ...ALLOWED]));
  }, 30_000);

  test.each(FORBIDDEN)('%s: %s may not import %s', (rule, from) => {
    expect(reported).toContainEqual([rule, from]);
  });

  test('each rule is shown to bite', () => {
    const rules = options.ruleSet?.forbidden?.map((rule) => rule.name);
    expect(rules?.filter((name) => !FORBIDDEN.some(([rule]) => rule === name))).toEqual([]);
  });

  test.each(ALLOWED)('%s may import %s', (from) => {
    expect(reported.filter(([, file]) => file === from)).toEqual([]);
  });
});

/** Writes a tree in which each file exists that a case names, with one import; installs what package.json lists. */
function treeOf(imports: readonly (readonly [from: string, to: string])[]): string {
  const tree = mkdtempSync(join(tmpdir(), 'kiln-import-rules-'));
  trees.push(tree);
  const write = (path: string, text: string): void => {
    mkdirSync(dirname(join(tree, path)), { recursive: true });
    writeFileSync(join(tree, path), text);
  };
  write('package.json', JSON.stringify(PACKAGE));
  write('dist/runtime/contract/index.js', 'export {};\n');
  // mongodb and jose stay away: a rule must also hold for what is not installed.
  for (const name of ['express', 'better-sqlite3', 'typescript', 'a-dev-dependency', 'an-unlisted-package']) {
    write(`node_modules/${name}/package.json`, JSON.stringify({ name, main: 'index.js' }));
    write(`node_modules/${name}/index.js`, '');
  }
  for (const [, to] of imports) {
    const path = to.replace(/^(?:type|await) /, '');
    if (/^(?:runtime|generator|generated|definitions)\//.test(path)) write(path, path.endsWith('.json') ? '{}' : '');
  }
  for (const [from, to] of imports) write(from, importOf(from, to));
  return tree;
}

function importOf(from: string, to: string): string {
  const [, how, path] = /^(?:(type|await) )?(.*)$/.exec(to)!;
  const isOurs = /^(?:runtime|generator|generated|definitions)\//.test(path!);
  const name = isOurs ? `./${relative(dirname(from), path!).replace(/\.ts$/, '.js')}` : path!;
  if (how === 'await') return `export const it = await import('${name}');\n`;
  return `import ${how === 'type' ? 'type ' : ''}{ it } from '${name}';\nexport { it };\n`;
}

async function violationsIn(tree: string): Promise<(readonly [rule: string, from: string])[]> {
  const { output }: IReporterOutput = await cruise(
    ['runtime', 'generator', 'generated'],
    { ...options, baseDir: tree, validate: true },
    undefined,
    { tsConfig: extractTSConfig(resolve('tsconfig.json')) },
  );
  return (output as ICruiseResult).summary.violations.map(({ rule, from }) => [rule.name, from]);
}
