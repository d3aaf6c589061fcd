// Installs test/packages (the FHIR packages that only tests read, 300 MB unpacked) when it is missing or its lock file has
// changed. Called before every test run: costs a millisecond when there is nothing to do.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const home = join(root, 'test', 'packages');
// Inside node_modules, because `npm ci` begins by deleting that: a broken install never looks finished.
const stamp = join(home, 'node_modules', '.installed-lock');
const guard = join(root, '.cache', 'test-packages.lock');
const GIVE_UP_MS = 10 * 60_000;

const wanted = createHash('sha256')
  .update(readFileSync(join(home, 'package-lock.json')))
  .digest('hex');

if (!installed()) {
  await enter();
  try {
    if (!installed()) install();
  } finally {
    rmSync(guard, { force: true });
  }
}

function installed() {
  return textOf(stamp) === wanted;
}

function install() {
  process.stderr.write('kiln: installing the FHIR packages that the tests read (test/packages)\n');
  const run = spawnSync('npm', ['ci', '--no-audit', '--no-fund', '--loglevel=error'], {
    cwd: home,
    encoding: 'utf8',
    shell: process.platform === 'win32',
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  if (run.status === 0) {
    writeFileSync(stamp, wanted);
    return;
  }
  const said = [run.error?.message, run.stderr, run.stdout].filter(Boolean).join('\n').trim();
  process.stderr.write(
    `${said}\n\nkiln: could not install test/packages; see above, then try: npm ci --prefix test/packages\n`,
  );
  process.exitCode = 1;
}

/** Waits until no other process installs, then holds the guard. The guard of a process that died does not count. */
async function enter() {
  mkdirSync(join(root, '.cache'), { recursive: true });
  for (const end = Date.now() + GIVE_UP_MS; Date.now() < end; await sleep(200)) {
    try {
      writeFileSync(guard, String(process.pid), { flag: 'wx' });
      return;
    } catch (error) {
      if (error.code !== 'EEXIST') throw error;
    }
    if (abandoned()) rmSync(guard, { force: true });
  }
  process.stderr.write(`kiln: another process seems to be installing test/packages; if none is, delete ${guard}\n`);
  process.exit(1);
}

function abandoned() {
  const pid = Number(textOf(guard));
  // Empty for the instant between its creation and its first byte.
  if (!pid) return ageOf(guard) > 5_000;
  try {
    process.kill(pid, 0);
    return false;
  } catch (error) {
    return error.code === 'ESRCH';
  }
}

function ageOf(file) {
  return Date.now() - (statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? Date.now());
}

function textOf(file) {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
}
