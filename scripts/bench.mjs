// Runs the benches of test/bench, all or those named: npm run bench -- extraction
// Those of MongoDB need the address of one: npm run bench -- --store=mongodb://127.0.0.1:27017
// To compare with another build: npm run bench -- builds --build=FOLDER [--store=…]
// What searches cost as the data grow, to a million resources: npm run bench -- growth --large
// They are compiled first: under vitest each call between modules takes a detour, and the floor would look too near.
import { fork, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const self = fileURLToPath(import.meta.url);
/** These need a database, or another build. */
const WITH_OPTION = ['mongo', 'builds'];

process.chdir(root);
if (process.send) await runOne(process.argv[2]);
else await runAll(readArguments(process.argv.slice(2)));

/** With a store and no names, what concerns that store. */
function readArguments(args) {
  const optionOf = (option) => args.find((arg) => arg.startsWith(option))?.slice(option.length);
  const [store, build] = ['--store=', '--build='].map(optionOf);
  const names = args.filter((arg) => !/^--(?:store=|build=|large$)/.test(arg));
  if (args.includes('--large')) process.env.KILN_BENCH_LARGE = 'yes';
  if (store !== undefined) process.env.KILN_BENCH_STORE = store;
  if (build !== undefined) process.env.KILN_BENCH_BUILD = build;
  return store !== undefined && names.length === 0 ? ['mongo'] : names;
}

async function runAll(asked) {
  const known = [...benches().keys()].sort();
  const unknown = asked.filter((name) => !known.includes(name));
  if (unknown.length > 0)
    return fail(`no such bench: ${unknown.join(', ')}; there is ${known.join(', ') || 'none yet'}`);
  if (known.length === 0) return fail('no file of test/bench exports `bench`');
  if (!compile()) return fail('the benches do not compile');

  const rows = [];
  const all = known.filter((name) => !WITH_OPTION.includes(name));
  for (const name of asked.length > 0 ? asked : all) {
    const some = await inProcessOfItsOwn(name);
    if (some) rows.push(...some);
    else fail(`${name} failed`);
  }
  print(rows);
  for (const row of rows) for (const missed of missedGoals(row)) fail(`${row.name}: ${missed}`);
}

/** The files of test/bench that export `bench`, without their ending, by name; the others help them. */
function benches() {
  const folder = join(root, 'test', 'bench');
  const files = readdirSync(folder, { recursive: true })
    .filter((file) => file.endsWith('.ts'))
    .filter((file) => /^export (?:const|(?:async )?function) bench\b/m.test(readFileSync(join(folder, file), 'utf8')))
    .map((file) => file.slice(0, -3));
  return new Map(files.map((file) => [basename(file), file]));
}

/** One bench, here, in the child: its rows go to the parent. */
async function runOne(name) {
  const { bench } = await import(
    pathToFileURL(join(root, '.cache', 'bench', 'test', 'bench', `${benches().get(name)}.js`)).href
  );
  process.send(await bench());
  process.disconnect();
}

/** Each bench starts with a fresh heap and code that no other bench has shaped. */
async function inProcessOfItsOwn(name) {
  const child = fork(self, [name], { execArgv: ['--expose-gc'] });
  let rows;
  child.on('message', (message) => (rows = message));
  const [code] = await once(child, 'close');
  return code === 0 ? rows : undefined;
}

function compile() {
  const tsc = createRequire(import.meta.url).resolve('typescript/bin/tsc');
  const args = [tsc, '-p', 'scripts/tsconfig.bench.json'];
  return spawnSync(process.execPath, args, { stdio: 'inherit' }).status === 0;
}

function perSecond({ count, wallMs }) {
  return (count * 1000) / wallMs;
}

function perCpuSecond({ count, cpuMs }) {
  return (count * 1000) / cpuMs;
}

function ratioOf({ measured, floor }) {
  return floor && perCpuSecond(measured) / perCpuSecond(floor.measured);
}

function missedGoals(row) {
  const { rate, ratio, times, longest, p50 } = row.goal ?? {};
  const missed = [];
  if (rate !== undefined && perCpuSecond(row.measured) < rate) missed.push(`below ${amount(rate)} ${row.unit}/CPU-s`);
  if (ratio !== undefined && !(ratioOf(row) >= ratio))
    missed.push(`below ${ratio} times ${row.floor?.name ?? 'its floor'}`);
  const usual = row.measured.times?.p50;
  if (p50 !== undefined && !(usual <= p50))
    missed.push(`half of the ${row.unit} took ${usual?.toFixed(1)} ms, not ${p50}`);
  const slowest = row.measured.times?.longest;
  if (longest !== undefined && !(slowest <= longest))
    missed.push(`one of the ${row.unit} took ${slowest?.toFixed(0)} ms, not ${longest}`);
  for (const [name, factor] of Object.entries(times === undefined ? {} : timesOf(row))) {
    if (!(factor <= times))
      missed.push(`${name} is ${factor.toFixed(2)} times that of ${row.floor.name}, not ${times}`);
  }
  return missed;
}

/** How many times as long as the floor's a piece takes, in the middle and at worst. */
function timesOf({ measured, floor }) {
  const [ours, base] = [measured.times, floor?.measured.times];
  return ours && base ? { p50: ours.p50 / base.p50, p99: ours.p99 / base.p99 } : {};
}

function print(rows) {
  const head = ['bench', 'unit', 'per s', 'per CPU-s', 'floor', 'its per CPU-s', 'ratio', 'p50', 'p99', 'longest'];
  const lines = rows.map((row) => [
    row.name,
    row.unit,
    amount(perSecond(row.measured)),
    amount(perCpuSecond(row.measured)),
    row.floor?.name ?? '',
    row.floor ? amount(perCpuSecond(row.floor.measured)) : '',
    row.floor ? ratioOf(row).toFixed(2) : '',
    ...['p50', 'p99', 'longest'].map((name) => printTime(row, name)),
  ]);
  const widths = head.map((_, i) => Math.max(...[head, ...lines].map((line) => line[i].length)));
  const isText = (i) => i === 0 || i === 1 || i === 4;
  for (const line of [head, widths.map((width) => '-'.repeat(width)), ...lines]) {
    const cells = line.map((cell, i) => (isText(i) ? cell.padEnd(widths[i]) : cell.padStart(widths[i])));
    process.stdout.write(`${cells.join('  ').trimEnd()}\n`);
  }
}

/** Milliseconds, and how many times as long as the floor's. */
function printTime(row, name) {
  const time = row.measured.times?.[name];
  const factor = timesOf(row)[name];
  return typeof time !== 'number'
    ? ''
    : `${time.toFixed(2)} ms${factor === undefined ? '' : `, ${factor.toFixed(2)} x`}`;
}

function amount(number) {
  return number.toLocaleString('en-US', { maximumSignificantDigits: 3 });
}

function fail(message) {
  process.stderr.write(`bench: ${message}\n`);
  process.exitCode = 1;
}
