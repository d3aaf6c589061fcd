import { cpSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import type { StructureDefinition } from '../../../generator/load/fhir-json.js';
import { changeJson, forgetUnpacked, pack } from '../../generator/tarball.js';
import { checkoutCopy, ROOT } from './checkout-copy.js';

const CORE = 'hl7.fhir.r5.core';
const JSON_TYPE = { 'content-type': 'application/fhir+json' };

describe('kiln generate --package, and a build', () => {
  const { folder, run, serve } = checkoutCopy();
  let file = '';

  beforeAll(async () => {
    const dir = join(folder, 'tarball');
    cpSync(join(ROOT, 'node_modules', CORE), join(dir, 'package'), { recursive: true });
    changeJson<StructureDefinition>(join(dir, 'package', 'StructureDefinition-Patient.json'), (patient) => {
      const element = patient.snapshot.element.map((each) => (each.path === 'Patient.gender' ? { ...each, min: 1 } : each)); // prettier-ignore
      return { ...patient, snapshot: { element } };
    });
    file = pack(dir);
  });
  afterAll(() => forgetUnpacked(file));

  it('enforce and show the same Patient: that of the package', async () => {
    const generated = await run('dist/runtime/cli/main.js', 'generate', '--package', file);
    expect(generated.code, generated.text).toBe(0);
    const built = await run('scripts/build.mjs');
    expect(built.code, built.text).toBe(0);
    const base = await serve();
    const post = (body: object): Promise<number> =>
      fetch(`${base}/Patient`, { method: 'POST', headers: JSON_TYPE, body: JSON.stringify(body) }).then(({ status }) => status); // prettier-ignore
    expect(await post({ resourceType: 'Patient' })).toBe(400);
    expect(await post({ resourceType: 'Patient', gender: 'other' })).toBe(201);
    const shown = (await (await fetch(`${base}/StructureDefinition/Patient`)).json()) as StructureDefinition;
    expect(shown.snapshot.element.find(({ path }) => path === 'Patient.gender')?.min).toBe(1);
    const page = readFileSync(join(folder, 'dist/generated/docs/patient.html'), 'utf8');
    expect(/gender[^]{0,400}?1\.\.1/.test(page)).toBe(true);
  });

  it('a build is refused where the package is no longer there, and says what to do', async () => {
    forgetUnpacked(file);
    const built = await run('scripts/build.mjs');
    expect(built.code).toBe(1);
    expect(built.text).toContain(`generated/ was made from ${CORE}@5.0.0, whose files are no longer here`);
    expect(built.text).toMatch(/node_modules\/hl7\.fhir\.r5\.core has other files: not those with sha256 [0-9a-f]{64}/);
    expect(built.text).toContain('To mend: npm run generate');
    // What it names does mend it: the package of the definitions.
    const generated = await run('dist/runtime/cli/main.js', 'generate');
    expect(generated.code, generated.text).toBe(0);
    const manifest = (dir: string): string => readFileSync(join(dir, 'generated', 'manifest.json'), 'utf8');
    expect(manifest(folder)).toBe(manifest(ROOT));
    expect((await run('scripts/build.mjs')).code).toBe(0);
  });
});
