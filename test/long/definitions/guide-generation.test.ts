import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';

import { guideFile, makePackage } from '../../guides/make-package.js';
import { readExamples } from '../../guides/read-examples.js';
import { checkoutCopy } from './checkout-copy.js';

const GUIDE = 'http://example.org/guide';
const JSON_TYPE = { 'content-type': 'application/fhir+json' };
const HL7 = ['--use', 'hl7.terminology.r5@7.0.1', 'hl7.fhir.uv.extensions.r5@5.3.0-ballot-tc1'];

type Body = Readonly<Record<string, unknown>>;

describe('kiln generate --guide, and a build', () => {
  const { folder, run, serve } = checkoutCopy();
  const kiln = (...args: string[]) => run('dist/runtime/cli/main.js', ...args);
  const file = (name: string): string => join('guides', `${name}.tgz`);
  const packages = (): string => readFileSync(join(folder, 'definitions/packages.json'), 'utf8');

  beforeAll(() => {
    mkdirSync(join(folder, 'guides'));
    for (const name of ['example.guide-1.0.0', 'example.guide-1.1.0', 'ihe.iti.mhd-5.1.0'])
      copyFileSync(guideFile(name), join(folder, file(name)));
    makePackage(join(folder, 'guides'), { name: 'beds.guide', version: '1.0.0' }, [
      {
        ...{ resourceType: 'OperationDefinition', id: 'count-beds', url: `${GUIDE}/OperationDefinition/count-beds` },
        ...{ version: '1.0.0', name: 'CountBeds', status: 'active', kind: 'operation', code: 'count-beds' },
        ...{ resource: ['Location'], system: false, type: true, instance: false },
      },
    ]);
  });

  it('pins the guides, and a server has them without a store that knows them', async () => {
    const generated = await kiln('generate', '--guide', file('example.guide-1.0.0'), file('beds.guide-1.0.0'));
    expect(generated.code, generated.text).toBe(0);
    expect(JSON.parse(packages())).toMatchObject({
      packages: [{}, {}, { name: 'beds.guide', role: 'guide', file: 'guides/beds.guide-1.0.0.tgz' }, { name: 'example.guide', version: '1.0.0' }], // prettier-ignore
    });
    const built = await run('scripts/build.mjs');
    expect(built.code, built.text).toBe(0);
    expect((await kiln('generate', '--check')).code).toBe(0);
    const base = await serve();
    const send = async (method: string, path: string, body?: object) => {
      const answer = await fetch(`${base}/${path}`, { method, headers: JSON_TYPE, ...(body && { body: JSON.stringify(body) }) }); // prettier-ignore
      return { status: answer.status, body: (await answer.json()) as Body };
    };
    const claims = await send('GET', 'metadata');
    expect(claims.body).toMatchObject({ implementationGuide: [`${GUIDE}/ImplementationGuide/example.guide|1.0.0`] });
    expect(JSON.stringify(claims.body)).toContain(`"${GUIDE}/StructureDefinition/ward-patient"`);
    const { good, bad } = await readExamples(guideFile('example.guide-1.0.0'));
    for (const each of Object.values(good)) expect((await send('PUT', `${String(each['resourceType'])}/${String(each['id'])}`, each)).status).toBe(201); // prettier-ignore
    for (const each of Object.values(bad)) expect((await send('PUT', `${String(each['resourceType'])}/${String(each['id'])}`, each)).status).toBe(422); // prettier-ignore
    expect((await send('GET', 'Patient?ward=north')).body).toMatchObject({
      entry: [{ resource: { id: 'good-patient' } }],
    });
    const code = await send('GET', `CodeSystem/$validate-code?url=${GUIDE}/CodeSystem/wards&code=north`);
    expect(JSON.stringify(code.body)).toContain('"valueBoolean":true');
    for (const path of [
      'StructureDefinition/ward-pulse',
      'ImplementationGuide/example.guide',
      'SearchParameter/patient-ward',
    ])
      expect((await send('GET', path)).status, path).toBe(200);
    expect((await send('POST', 'Location/$count-beds', { resourceType: 'Parameters' })).status).toBe(501);
    expect(await (await fetch(new URL('../openapi/Patient.json', `${base}/`))).text()).toContain('"ward"');
    const store = `sqlite:${join(folder, 'guides.sqlite')}`;
    const added = await kiln('package', 'add', file('example.guide-1.1.0'), '--store', store);
    expect(added).toMatchObject({ code: 1, text: expect.stringContaining('is a part of the server itself') });
  });

  it('a newer version says what changes, and --check is for what is pinned', async () => {
    const newer = ['generate', '--guide', file('example.guide-1.1.0')];
    const before = packages();
    const checked = await kiln(...newer, '--check');
    expect(checked.code).toBe(1);
    expect(checked.text).toContain('example.guide: 1.0.0 → 1.1.0');
    expect(packages()).toBe(before);
    const generated = await kiln(...newer);
    expect(generated.code, generated.text).toBe(0);
    expect(generated.text.split('\n').length).toBeLessThan(40);
    expect(generated.text).toContain('~ CodeSystem/wards');
    expect((await kiln('generate', '--check')).text).not.toContain('.ts:');
    // What was pinned has to be there as it was.
    writeFileSync(join(folder, file('example.guide-1.1.0')), readFileSync(join(folder, file('example.guide-1.0.0'))));
    const changed = await kiln('generate', '--check');
    expect(changed.code).toBe(1);
    expect(changed.text).toContain('example.guide@1.1.0 has another content than was pinned');
    copyFileSync(guideFile('example.guide-1.1.0'), join(folder, file('example.guide-1.1.0')));
  });

  it('two guides with the packages of HL7 that one needs: from node_modules, locked', async () => {
    const generated = await kiln('generate', '--guide', file('ihe.iti.mhd-5.1.0'), ...HL7);
    expect(generated.code, generated.text).toBe(0);
    expect(JSON.parse(packages())).toMatchObject({
      packages: expect.arrayContaining([
        expect.objectContaining({ name: 'hl7.terminology.r5', version: '7.0.1', role: 'dependency' }),
        expect.objectContaining({ name: 'hl7.fhir.uv.extensions.r5', overridden: { 'hl7.terminology.r5': '6.5.0' } }),
      ]),
    });
    const built = await run('scripts/build.mjs');
    expect(built.code, built.text).toBe(0);
    const base = await serve();
    const claims = await (await fetch(`${base}/metadata`)).text();
    for (const each of ['SearchParameter/List-DesignationType', 'ImplementationGuide/ihe.iti.mhd|5.1.0'])
      expect(claims).toContain(`https://profiles.ihe.net/ITI/MHD/${each}`);
    const expanded = await fetch(`${base}/ValueSet/$expand?url=http://terminology.hl7.org/ValueSet/v3-ActPriority`);
    expect(await expanded.text()).toContain('"contains"');
  });
});
