import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';

import { exampleFiles, readExample } from '../../conformance/formats/examples.js';
import { ENVIRONMENT } from '../../service/environment.js';
import { startKiln, type KilnProcess } from '../../service/kiln-process.js';
import { commandOf } from '../../workers/entries.mjs';

const ROOT = new URL('../../../', import.meta.url).pathname;
const PACKAGES = join(ROOT, 'test/packages/node_modules');

/**
 * Every third official example, and one that follows an earlier version of an extension than the package has. To judge all of them on both
 * stores takes ten minutes; a third has each kind of resource, and a dozen that the extensions of the package would refuse.
 */
const EXAMPLES = exampleFiles().filter(
  (file, i) => i % 3 === 0 || file === 'Patient-patient-example-sex-and-gender.json',
);

/** The packages of HL7 that nearly every guide needs, loaded whole. @param store an empty one */
export function terminologyPackages(store: string): void {
  const refusedOf = async (base: string): Promise<readonly string[]> => {
    const refused: string[] = [];
    const left = EXAMPLES.values();
    const post = async (): Promise<void> => {
      for (const file of left) {
        const { resource } = readExample(file);
        const body = JSON.stringify({ ...resource, id: undefined });
        const status = await statusOf(`${base}/${String(resource['resourceType'])}`, body);
        expect(status, file).toBeLessThan(500);
        if (status >= 300) refused.push(file);
      }
    };
    await Promise.all(Array.from({ length: 6 }, post));
    return refused.sort();
  };
  const judged = async (): Promise<readonly string[]> => {
    const server: KilnProcess = startKiln(['serve', '--auth', 'open', '--port', '0', '--store', store]);
    try {
      return await refusedOf(await server.started);
    } finally {
      server.child.kill();
      await server.ended;
    }
  };
  const load = (name: string): { readonly status: number | null; readonly text: string } => {
    const args = [commandOf(ROOT).pathname, 'load', '--store', store, join(PACKAGES, name)];
    const options = { encoding: 'utf8', maxBuffer: 2 ** 28, env: ENVIRONMENT } as const;
    const { status, stderr, stdout } = spawnSync(process.execPath, args, options);
    return { status, text: `${stdout}\n${stderr}` };
  };

  it('are loaded whole, and official examples are judged the same before and after', async () => {
    const before = await judged();
    const first = load('hl7.terminology.r5');
    expect(first.text).toMatch(/^4096 resources .* 0 failed/m);
    const second = load('hl7.fhir.uv.extensions.r5');
    expect(second.text).toMatch(/^823 resources .* 0 failed/m);
    expect([first.status, second.status]).toEqual([0, 0]);
    // Those that could take effect do; the others are named.
    const idle = [...second.text.matchAll(/SearchParameter\/(\S+) is active and not in effect/g)].map(([, id]) => id);
    expect(idle).toEqual([
      'codesystem-extensions-CodeSystem-effective',
      'patient-extensions-Patient-age',
      'valueset-extensions-ValueSet-effective',
    ]);
    expect(await judged()).toEqual(before);
  });
}

/** The status of a creation; a busy store is asked again. */
async function statusOf(url: string, body: string): Promise<number> {
  for (;;) {
    const answer = await fetch(url, { method: 'POST', headers: { 'content-type': 'application/fhir+json' }, body });
    await answer.arrayBuffer();
    if (answer.status !== 503) return answer.status;
    await sleep(500);
  }
}
