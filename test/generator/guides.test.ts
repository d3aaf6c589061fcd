import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';

import { makeFiles, makeGuided, type MadeModel } from '../../generator/generate.js';
import { describeGuideChanges } from '../../generator/guide-changes.js';
import { projectRoot } from '../../generator/project-root.js';
import { codeSystem, guideFile, makePackage } from '../guides/make-package.js';
import { PATIENCE, temporaryFolders } from './command.js';

const GUIDE = 'http://example.org/guide';
const newFolder = temporaryFolders();

/** An OperationDefinition of a guide. */
const operation = (id: string, code: string, resource: string, url = `${GUIDE}/OperationDefinition/${id}`): object => ({
  ...{
    resourceType: 'OperationDefinition',
    id,
    url,
    version: '1.0.0',
    name: 'Any',
    status: 'active',
    kind: 'operation',
  },
  ...{ code, resource: [resource], system: false, type: true, instance: false, affectsState: false },
});

const searchParameter = (id: string, code: string, expression: string): object => ({
  ...{ resourceType: 'SearchParameter', id, url: `${GUIDE}/SearchParameter/${id}`, version: '1.0.0', name: 'Any' },
  ...{ status: 'active', description: 'Any.', code, base: ['Patient'], type: 'token', expression },
});

describe('a model with guides', () => {
  let made: MadeModel;
  let plain: MadeModel;
  let files: ReadonlyMap<string, string>;
  beforeAll(async () => {
    const folder = newFolder('guides');
    const more = makePackage(
      folder,
      { name: 'more.guide', version: '1.0.0', dependencies: { 'needed.guide': '1.0.0' } },
      [
        operation('Patient-match', 'count-beds', 'Location'),
        operation('own-everything', 'everything', 'Patient'),
        searchParameter('taken', 'gender', 'Patient.gender'),
        searchParameter('wrong', 'wrong', 'Patient.nothing'),
      ],
    );
    makePackage(folder, { name: 'needed.guide', version: '1.0.0' }, [searchParameter('sex', 'sex', 'Patient.gender')]);
    plain = await makeGuided();
    made = await makeGuided({ guides: { files: [guideFile('example.guide-1.0.0'), more] } });
    files = makeFiles(made.model);
  }, 4 * PATIENCE);

  it('has their search parameters as rows behind those of the core, which stay as they are', () => {
    const rowsOf = ({ model }: MadeModel) => model.search.find(({ type }) => type === 'Patient')!.parameters;
    const added = rowsOf(made).slice(rowsOf(plain).length);
    expect(rowsOf(made).slice(0, rowsOf(plain).length)).toEqual(rowsOf(plain));
    expect(added.map(({ code, url }) => [code, url])).toEqual([
      ['ward', `${GUIDE}/SearchParameter/patient-ward`],
      ['sex', `${GUIDE}/SearchParameter/sex`],
    ]);
    expect(added.every((row) => !('isStored' in row) && row.slot === undefined)).toBe(true);
  });

  it('names what has no effect, and stops for none of it', () => {
    expect(made.withoutEffect).toEqual([
      expect.stringContaining(`OperationDefinition ${GUIDE}/OperationDefinition/own-everything: $everything is http`),
      expect.stringContaining(
        `SearchParameter ${GUIDE}/SearchParameter/taken: code Patient has the built-in parameter gender`,
      ),
      expect.stringContaining(`SearchParameter ${GUIDE}/SearchParameter/wrong: expression`),
    ]);
  });

  it('has operations under ids of their own, so that no handler of the server takes their calls', () => {
    expect(made.model.operations.filter(({ name }) => name === 'count-beds').map(({ id }) => id)).toEqual(['more.guide-Patient-match']); // prettier-ignore
    expect(files.get('tables/routes.table.ts')).toContain("path: 'Location/$count-beds'");
  });

  it('claims profiles of guides that were named, and has rows of them, also where there was no snapshot', () => {
    const observation = made.model.capabilities.find(({ type }) => type === 'Observation')!;
    expect(observation.supportedProfiles?.at(-1)).toBe(`${GUIDE}/StructureDefinition/ward-pulse`);
    const urls = made.model.profiles.map(({ url }) => url);
    for (const id of ['ward-patient', 'ward-pulse', 'ward'])
      expect(urls).toContain(`${GUIDE}/StructureDefinition/${id}`);
  });

  it('names packages, digests and counts, for the server and for the lock', () => {
    const manifest = JSON.parse(files.get('manifest.json')!) as { guides: readonly { name: string; sha256: string }[] };
    expect(manifest.guides.map(({ name }) => name)).toEqual(['needed.guide', 'example.guide', 'more.guide']);
    expect(made.guides.map(({ pin }) => [pin.role, pin.expect])).toEqual([
      ['dependency', {}],
      ['guide', { CapabilityStatement: 1, CodeSystem: 1, ImplementationGuide: 1, SearchParameter: 1, StructureDefinition: 3, ValueSet: 1 }], // prettier-ignore
      ['guide', { OperationDefinition: 2, SearchParameter: 2 }],
    ]);
    expect(files.get('tables.ts')).toContain(`guide: '${GUIDE}/ImplementationGuide/example.guide|1.0.0'`);
  });

  it('has types of profiles: cardinality, fixed values and the types of choices', () => {
    const text = files.get('types/guides/example-guide.ts')!;
    expect(text).toContain('export type WardPatientOfExampleGuide = Patient & {');
    expect(text).toContain("{ birthDate: NonNullable<Patient['birthDate']> } | {");
    expect(text).toContain("system?: 'http://unitsofmeasure.org'; code?: '/min'");
    expect(text).toContain('valueString?: never');
    expect(files.get('types/index.ts')).toContain("from './guides/example-guide.js'");
  });

  it('another version is described on less than a screen', async () => {
    const newer = await makeGuided({ guides: { files: [guideFile('example.guide-1.1.0')] } });
    const pins = made.guides.map(({ pin }) => pin);
    const lines = await describeGuideChanges(pins, newer.guides, projectRoot(), '5.0.0');
    expect(lines).toContain('example.guide: 1.0.0 → 1.1.0');
    expect(lines).toContain('more.guide@1.0.0 is gone');
    expect(lines.join('\n')).toContain('~ CodeSystem/wards');
    expect(lines.length).toBeLessThan(40);
  });
});

describe('guides that are not taken', () => {
  it('all faults are named at once: what is missing, what is for another version of FHIR, what is no package', async () => {
    const folder = newFolder('refused');
    mkdirSync(join(folder, 'other'));
    const guide = makePackage(folder, { name: 'a.guide', version: '1.0.0', dependencies: { 'b.guide': '2.0.0', 'c.guide': 'current' } }); // prettier-ignore
    makePackage(folder, { name: 'b.guide', version: '1.0.0' }, [codeSystem('b', 'http://b.example')]);
    const refused = makeGuided({ guides: { files: [guide] } });
    await expect(refused).rejects.toMatchObject({
      details: [
        'b.guide@2.0.0 (needed by a.guide@1.0.0) is missing; 1.0.0 is here: --use b.guide@1.0.0',
        expect.stringContaining('c.guide@current (needed by a.guide@1.0.0) names no fixed version'),
      ],
    });
    const old = makePackage(join(folder, 'other'), { name: 'd.guide', version: '1.0.0', fhirVersions: ['4.0.1'] });
    await expect(makeGuided({ guides: { files: [old] } })).rejects.toMatchObject({ details: [expect.stringContaining('4.0.1')] }); // prettier-ignore
  });
});
