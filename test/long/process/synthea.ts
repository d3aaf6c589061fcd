import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';

import { startKiln } from '../../service/kiln-process.js';
import { writeSynthea } from '../synthea.js';

const PATIENTS = 40;

/** Bundles as Synthea makes them are loaded in R5, and refused in R4, as docs/migrating.md says. */
export function loadsSynthea(newStore: () => string): void {
  const run = async (...args: string[]) => {
    const kiln = startKiln(args);
    return { code: await kiln.ended, ...kiln.output };
  };

  it(`loads ${PATIENTS} patients, whose references lead to what was loaded`, async () => {
    const folder = join(mkdtempSync(join(tmpdir(), 'kiln-synthea-')), 'fhir');
    const counts = writeSynthea(folder, PATIENTS, 'R5');
    const store = newStore();
    const loaded = await run('load', folder, '--bundles', 'apply', '--store', store);
    expect(loaded, loaded.err).toMatchObject({ code: 0 });
    const checked = await run('check', 'references', '--store', store);
    expect(checked, checked.out + checked.err).toMatchObject({ code: 0 });
    const kiln = startKiln(['serve', '--port', '0', '--auth', 'open', '--store', store, '--log-level', 'error']);
    try {
      const base = await kiln.started;
      const total = async (query: string): Promise<unknown> => {
        const answer = await fetch(`${base}/${query}`);
        return ((await answer.json()) as { total?: unknown }).total;
      };
      for (const [type, count] of Object.entries(counts))
        expect([type, await total(`${type}?_summary=count`)]).toEqual([type, count]);
      // The references of each kind were resolved: by `urn:uuid:` within the transaction, and by criteria to what came before it.
      const each = counts['Observation']! / PATIENTS;
      expect(await total('Observation?patient.family=Family7&_summary=count')).toBe(each);
      expect(
        await total('Encounter?participant.identifier=http://hl7.org/fhir/sid/us-npi|12999991&_summary=count'),
      ).toBe(counts['Encounter']! / 4);
      expect(await total('Condition?encounter.status=completed&_summary=count')).toBe(counts['Condition']);
    } finally {
      kiln.child.kill('SIGTERM');
      await kiln.ended;
    }
  });

  it('refuses what is of R4, names the file and the element, and loads nothing of that transaction', async () => {
    const folder = join(mkdtempSync(join(tmpdir(), 'kiln-synthea-')), 'fhir');
    writeSynthea(folder, 2, 'R4');
    const store = newStore();
    const { code, out, err } = await run('load', folder, '--bundles', 'apply', '--store', store);
    expect(code).toBe(1);
    for (const file of ['2-patient-00000.json', '2-patient-00001.json']) expect(out + err).toContain(file);
    for (const element of ['class', 'individual', 'period']) expect(out + err).toContain(element);
    const kiln = startKiln(['serve', '--port', '0', '--auth', 'open', '--store', store, '--log-level', 'error']);
    try {
      const answer = await fetch(`${await kiln.started}/Patient?_summary=count`);
      expect(await answer.json()).toMatchObject({ total: 0 });
    } finally {
      kiln.child.kill('SIGTERM');
      await kiln.ended;
    }
  });
}
