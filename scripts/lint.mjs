// ESLint, Prettier, the import rules, code that no program uses, and spelling and links of the pages that people write, side by side, because one after the other they
// take twice as long. With --all, on a tree that is built, also whether the types are right and the generated files and tables current.
// Says all that any of them found.
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const modules = join(root, 'node_modules');

const OF_BUILT = [
  { name: 'types', run: ['typescript/bin/tsc', '-p', 'tsconfig.json'] },
  { name: 'generated files', run: ['../dist/runtime/cli/main.js', 'generate', '--check'] },
  { name: 'tables of docs/ (mend with: npm run generate)', run: ['../scripts/docs.mjs', '--check'] },
];

const LINTS = [
  { name: 'eslint', run: ['eslint/bin/eslint.js', '.', '--max-warnings', '0'] },
  {
    name: 'prettier (mend with: npm run format)',
    run: ['prettier/bin/prettier.cjs', '--check', '--log-level', 'warn', '.'],
  },
  {
    name: 'import rules',
    run: [
      'dependency-cruiser/bin/dependency-cruise.mjs',
      '--config',
      '.dependency-cruiser.cjs',
      '--output-type',
      'err',
      'generator',
      'runtime',
      'generated',
    ],
  },
  {
    // Tests do not count: an export that only they use is dead, and what they show of it is not what runs.
    name: 'exports and files that nothing but tests uses (knip.json)',
    run: ['knip/bin/knip.js', '--production', '--include', 'exports,types,files', '--no-progress'],
  },
  { name: 'spelling (words of our own: cspell-words.txt)', run: ['cspell/bin.mjs', '--no-progress', '--no-summary'] },
  { name: 'doc comments and names of types', run: ['../scripts/count-names.mjs'] },
  { name: 'sizes of rooms', run: ['../scripts/count-rooms.mjs'] },
  { name: 'links and README', run: ['../scripts/check-links.mjs'] },
];

const checks = process.argv.includes('--all') ? [...OF_BUILT, ...LINTS] : LINTS;
const results = await Promise.all(checks.map(result));
for (const { name, code, output } of results.filter((each) => each.code !== 0)) {
  process.stderr.write(`\n${name} (exit ${code}):\n${output.trim()}\n`);
  process.exitCode = 1;
}

function result({ name, run: [script, ...args] }) {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [join(modules, script), ...args], {
      cwd: root,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let output = '';
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (text) => (output += text));
    child.on('error', reject);
    child.on('close', (code, signal) => resolve({ name, code: code ?? signal, output }));
  });
}
