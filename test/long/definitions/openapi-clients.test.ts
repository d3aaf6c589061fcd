import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { tables } from '../../../generated/tables.js';
import { createApp } from '../../../runtime/http/app.js';
import { listen } from '../../../runtime/http/listen.js';
import { extract } from '../../bench/data/load-clinic.js';
import { openStore } from '../../contract/open-store.js';
import { languages, type Language } from './openapi-clients.js';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const VERSION = '7.14.0';
const ARTIFACT = `org.openapitools:openapi-generator-cli:${VERSION}`;
const CACHE = join(ROOT, '.cache');
const GENERATOR = process.env['KILN_TEST_OPENAPI_GENERATOR'] ?? join(CACHE, `openapi-generator-cli-${VERSION}.jar`);
/** What clients need not know, and may not lose, is in it: a partial date with an extension, a contained resource, a number. */
const PATIENT = {
  resourceType: 'Patient',
  contained: [{ resourceType: 'Basic', id: 'a', code: { text: 'contained' } }],
  active: true,
  name: [{ family: 'x', given: ['Ada', 'Augusta'] }],
  gender: 'female',
  birthDate: '1815-12',
  _birthDate: { extension: [{ url: 'http://x.example/certainty', valueDecimal: 0.25 }] },
  multipleBirthInteger: 2,
  contact: [{ gender: 'male', name: { text: 'Byron' } }],
};

const runs = ([command = '', ...args]: readonly string[]): boolean =>
  spawnSync(command, args, { stdio: 'ignore', timeout: 300_000 }).status === 0;

/** Why clients cannot be generated here; undefined: they can. */
function whyNot(): string | undefined {
  if (!runs(['java', '-version'])) return 'there is no java';
  if (existsSync(GENERATOR)) return undefined;
  mkdirSync(CACHE, { recursive: true });
  const isFetched = runs(['mvn', '-q', 'dependency:copy', `-Dartifact=${ARTIFACT}`, `-DoutputDirectory=${CACHE}`]);
  if (isFetched && existsSync(GENERATOR)) return undefined;
  return `there is no ${GENERATOR}, and mvn cannot fetch ${ARTIFACT}`;
}

/** A suite or a test that is left out says so, and why. */
function skipping(name: string, reason: string): void {
  process.stderr.write(`\nSKIPPED: ${name}: ${reason}\n`);
}

const reason = whyNot();
const TITLE = 'clients that openapi-generator makes of ?primitives=plain';
if (reason !== undefined) skipping(TITLE, reason);

describe.skipIf(reason !== undefined)(TITLE, () => {
  const folder = mkdtempSync(join(tmpdir(), 'kiln-clients-'));
  let url = '';
  let close = (): Promise<void> => Promise.resolve();

  beforeAll(async () => {
    const store = await openStore('sqlite::memory:');
    const server = await listen(createApp({ tables, store, extract, subset: (resource) => resource }), '127.0.0.1', 0);
    url = server.url;
    close = async () => {
      await server.close(0);
      await store.close();
    };
    const answer = await fetch(`${url}/openapi/Patient.json?primitives=plain`);
    writeFileSync(join(folder, 'patient.json'), await answer.text());
  });
  afterAll(async () => {
    await close();
    rmSync(folder, { recursive: true });
  });

  /** Runs a command to its end. @returns what it printed @throws Error with that where it failed */
  const run = ([command = '', ...args]: readonly string[], cwd: string): Promise<string> =>
    new Promise((resolve, reject) => {
      const child = spawn(command, args, { cwd });
      let [out, all] = ['', ''];
      child.stdout.on('data', (text) => ((out += String(text)), (all += String(text))));
      child.stderr.on('data', (text) => (all += String(text)));
      child.once('error', reject);
      child.once('close', (code) => {
        if (code === 0) resolve(out);
        else reject(new Error(`${command} ${args.join(' ')} ended with ${code}: ${all.slice(-4000)}`));
      });
    });
  const generate = async ({ generator, options, file, program }: Language): Promise<string> => {
    const dir = join(folder, generator);
    const properties = 'apiTests=false,modelTests=false,apiDocs=false,modelDocs=false';
    const input = join(folder, 'patient.json');
    await run(['java', '-jar', GENERATOR, 'generate', '-i', input, '-g', generator, '-o', dir, '--global-property', properties, ...options], folder); // prettier-ignore
    mkdirSync(dirname(join(dir, file)), { recursive: true });
    writeFileSync(join(dir, file), program);
    return dir;
  };
  const at = (id: string): string => `${url}/fhir/Patient/${id}`;

  const tsc = join(ROOT, 'node_modules/typescript/bin/tsc');
  it.each(languages(tsc).map((each) => [each.generator, each] as const))(
    '%s: compiles, and a Patient that it read and wrote has lost nothing',
    async (generator, language) => {
      if (!runs(language.needs)) return skipping(generator, `${language.needs.join(' ')} fails`);
      const dir = await generate(language);
      const id = generator.split('-')[0]!;
      const sent = { ...PATIENT, id, name: [{ ...PATIENT.name[0], family: id }] };
      const headers = { 'content-type': 'application/fhir+json' };
      await fetch(at(id), { method: 'PUT', headers, body: JSON.stringify(sent) });
      let printed = '';
      for (const [index, command] of language.commands.entries()) {
        const isLast = index === language.commands.length - 1;
        printed = await run(isLast ? [...command, `${url}/fhir`, id] : command, dir);
      }
      expect(printed.trim().split(/\r?\n/)).toEqual(['female 1815-12 Ada Augusta male', id]);
      const { meta, ...stored } = (await (await fetch(at(id))).json()) as { meta: { versionId: string } };
      expect(stored).toEqual({ ...sent, gender: 'other' });
      expect(meta.versionId).toBe('2');
    },
  );
});
