import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, describe, expect, it } from 'vitest';

import { openStore } from '../../contract/open-store.js';
import { useBundleServer } from '../../http/bundles/bundle-server.js';

const run = promisify(execFile);

/** An installation that takes longer is given up, and said to be not tested. In milliseconds. */
const PATIENCE = { timeout: 240_000 };

/** What is installed stays for the next run. */
const HOME = new URL('../../../.cache/other-clients/', import.meta.url).pathname;
const SCRIPTS = new URL('.', import.meta.url).pathname;

/** Of npm, and of PyPI. */
const NPM = ['fhir-kit-client@2.0.3', 'fhirclient@2.6.3'];
const PYPI = ['fhirpy==2.3.1', 'fhir.resources==8.3.0'];

/** Installs, once for these versions. @returns why it could not */
async function install(
  name: string,
  wanted: readonly string[],
  steps: () => Promise<void>,
): Promise<string | undefined> {
  const stamp = join(HOME, `${name}-${wanted.join('-').replace(/[^\w.-]/g, '_')}`);
  if (existsSync(stamp)) return undefined;
  mkdirSync(HOME, { recursive: true });
  try {
    await steps();
    writeFileSync(stamp, '');
    return undefined;
  } catch (error) {
    const why = (error as Error).message.split('\n').slice(0, 3).join(' ');
    process.stderr.write(`NOT TESTED: ${wanted.join(', ')}: ${why}\n`);
    return why;
  }
}

const node = await install('npm', NPM, async () => {
  writeFileSync(join(HOME, 'package.json'), '{ "private": true }');
  await run('npm', ['install', '--no-audit', '--no-fund', '--no-save', '--ignore-scripts', ...NPM], {
    cwd: HOME,
    ...PATIENCE,
  });
});
const PYTHON = join(HOME, 'venv', 'bin', 'python');
const python = await install('pypi', PYPI, async () => {
  await run('python3', ['-m', 'venv', join(HOME, 'venv')], PATIENCE);
  await run(PYTHON, ['-m', 'pip', 'install', '-q', ...PYPI], PATIENCE);
});

const store = await openStore('sqlite::memory:');

describe('clients of other people', () => {
  const server = useBundleServer(store);
  afterAll(() => store.close());

  it.skipIf(node !== undefined).each(['fhir-kit-client', 'fhirclient'])('%s', async (name) => {
    const { stdout } = await run(process.execPath, [join(SCRIPTS, `${name}.mjs`), `${server.url}/fhir`, HOME]);
    expect(stdout).toBe('written\nsearched\ndone\n');
  });

  it.skipIf(python !== undefined)('fhirpy and fhir.resources', async () => {
    const { stdout } = await run(PYTHON, [join(SCRIPTS, 'clients.py'), `${server.url}/fhir`]);
    expect(stdout).toBe('written\nsearched\nrefused\ndone\n');
  });
});
