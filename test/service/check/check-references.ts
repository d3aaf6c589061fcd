import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';

import { command } from '../auth.js';

/** `kiln check references`, whatever the store. @param makeStore given a folder for files */
export function checkReferences(makeStore: (folder: string) => string): void {
  let folder: string;
  let store: string;

  const load = async (...resources: readonly object[]): Promise<{ code: number; err: string }> => {
    const file = join(folder, 'data.ndjson');
    writeFileSync(file, resources.map((resource) => JSON.stringify(resource)).join('\n'));
    return command('load', file, '--store', store);
  };
  const basic = (id: string, more: object): object => ({ resourceType: 'Basic', id, code: { text: 'x' }, ...more });
  const to = (reference: string): object => ({ reference });

  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'kiln-check-'));
    store = makeStore(folder);
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  it('finds nothing where all leads somewhere: exit code 0', { timeout: 60_000 }, async () => {
    const { code, err } = await load(
      { resourceType: 'Patient', id: 'p' },
      basic('right', {
        subject: to('Patient/p'),
        author: to('Patient/p/_history/1'),
        extension: [
          { url: 'urn:x', valueReference: to('StructureDefinition/Patient') },
          { url: 'urn:x', valueReference: to('http://other.example/fhir/Patient/none') },
          { url: 'urn:x', valueCanonical: 'Questionnaire/none' },
        ],
      }),
      { resourceType: 'Bundle', id: 'b', type: 'collection', entry: [{ fullUrl: 'urn:uuid:8f6b4f5e-31fa-4a8a-9d0c-4c1d0b7c9b11', resource: basic('x', { subject: to('Patient/none') }) }] }, // prettier-ignore
    );
    expect(code, err).toBe(0);
    const checked = await command('check', 'references', '--store', store);
    expect(checked).toMatchObject({ code: 0, out: '' });
    expect(checked.err).toContain('0 of the references of 3 resources lead to nothing');
  });

  it('lists what leads to nothing, with exit code 1, and changes nothing', { timeout: 60_000 }, async () => {
    const contained = [{ resourceType: 'Basic', id: 'c', code: { text: 'y' }, subject: to('Patient/none') }];
    const { code, err } = await load(
      basic('wrong', {
        subject: to('Patient/none'),
        contained,
        extension: [
          { url: 'urn:x', valueReference: to('Patient/p/_history/7') },
          { url: 'urn:y', valueReference: to('#c') },
        ],
      }),
      { resourceType: 'Patient', id: 'q', generalPractitioner: [{ display: 'x' }, to('Organization/none')] },
    );
    expect(code, err).toBe(0);
    for (let n = 0; n < 2; n++) {
      const all = await command('check', 'references', '--store', store);
      expect(all.code).toBe(1);
      expect(all.out.split('\n').sort()).toEqual([
        'Basic/wrong: Basic.contained[0].subject refers to Patient/none',
        'Basic/wrong: Basic.extension[0].value refers to Patient/p/_history/7',
        'Basic/wrong: Basic.subject refers to Patient/none',
        'Patient/q: Patient.generalPractitioner[1] refers to Organization/none',
      ]);
      expect(all.err).toContain('4 of the references of 5 resources lead to nothing');
    }
    const some = await command('check', 'references', '--type', 'Patient', '--csv', '--store', store);
    expect([some.code, some.out]).toEqual([
      1,
      'resource,element,target\nPatient/q,Patient.generalPractitioner[1],Organization/none',
    ]);
  });

  it('kiln load refuses what leads to nothing where the setting says so', { timeout: 60_000 }, async () => {
    const file = join(folder, 'more.ndjson');
    writeFileSync(file, JSON.stringify(basic('more', { subject: to('Patient/none') })));
    const { code, err } = await command('load', file, '--store', store, '--integrity', 'written');
    expect(code).toBe(1);
    expect(err).toContain('There is no Patient/none');
    expect((await command('check', 'references', '--type', 'Basic', '--store', store)).out).not.toContain('Basic/more');
  });

  it('is called wrongly with an unknown type, and without a store', async () => {
    await expect(command('check', 'references', '--type', 'Patint', '--store', store)).resolves.toMatchObject({
      code: 2,
      err: expect.stringContaining('did you mean Patient?') as string,
    });
    expect((await command('check', 'references', '--store', `sqlite:${join(folder, 'none.db')}`)).code).toBe(1);
  });
}
