import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';

import { exampleFiles, readExample } from '../../conformance/formats/examples.js';
import { startKiln, type KilnProcess } from '../../service/kiln-process.js';
import { commandOf } from '../../workers/entries.mjs';

const ROOT = new URL('../../../', import.meta.url).pathname;
const PACKAGES = join(ROOT, 'test/packages/node_modules');

/**
 * Files that are refused, and why: an outcome without issues is invalid; a search parameter that has the code of a built-in one would change
 * what others search, and an age in years is no date.
 */
const REFUSED: Readonly<Record<string, readonly string[]>> = {
  'hl7.terminology.r5': ['validation-oo.json'],
  'hl7.fhir.uv.extensions.r5': [
    'SearchParameter-codesystem-extensions-CodeSystem-effective.json',
    'SearchParameter-patient-extensions-Patient-age.json',
    'SearchParameter-valueset-extensions-ValueSet-effective.json',
    'validation-oo.json',
  ],
};

/** The packages of HL7 that nearly every guide needs, loaded whole. @param store an empty one */
export function terminologyPackages(store: string): void {
  const refusedOf = async (base: string): Promise<readonly string[]> => {
    const refused: string[] = [];
    const left = exampleFiles().values();
    const post = async (): Promise<void> => {
      for (const file of left) {
        const { resource } = readExample(file);
        const answer = await fetch(`${base}/${String(resource['resourceType'])}`, {
          method: 'POST',
          headers: { 'content-type': 'application/fhir+json' },
          body: JSON.stringify({ ...resource, id: undefined }),
        });
        await answer.arrayBuffer();
        if (answer.status >= 300) refused.push(file);
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
  const load = (name: string): readonly string[] => {
    const args = [commandOf(ROOT).pathname, 'load', '--store', store, join(PACKAGES, name)];
    const { stderr, stdout } = spawnSync(process.execPath, args, { encoding: 'utf8', maxBuffer: 2 ** 28 });
    const failed = [...`${stdout}\n${stderr}`.matchAll(/^\S*\/([^/\s]+\.json): /gm)];
    return failed.map(([, file = '']) => file);
  };

  it('are loaded whole, and official examples are judged the same before and after', async () => {
    const before = await judged();
    for (const [name, refused] of Object.entries(REFUSED)) {
      expect(existsSync(join(PACKAGES, name))).toBe(true);
      expect([...new Set(load(name))].sort(), name).toEqual([...refused].sort());
    }
    expect(await judged()).toEqual(before);
  });
}
