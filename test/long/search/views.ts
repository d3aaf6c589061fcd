import { beforeAll, describe, expect, it } from 'vitest';

import { tables } from '../../../generated/tables.js';
import type { JsonObject, Resource } from '../../../runtime/fhir/resource.js';
import type { Store } from '../../../runtime/store/store.js';
import { compileView } from '../../../runtime/views/compile-view.js';
import { readView } from '../../../runtime/views/read-view.js';
import { createRandom, type Random } from '../../contract/random.js';
import { scopedServer } from '../../http/auth/scoped.js';

const COUNT = 60;

/** Criteria that scopes narrow a type by. */
const CRITERIA: Readonly<Record<string, readonly string[]>> = {
  Patient: [
    'gender=female',
    'active=true',
    'birthdate=ge1990',
    'organization=Organization/o1',
    'gender:not=male',
    '_id=p1,p2,p30',
  ],
  Observation: [
    ...['status=final', 'code=http://x.example|a', 'subject=Patient/p1', 'value-quantity=gt50', 'category=lab'],
    ...['subject:Patient.gender=female', 'patient.organization.name=A', '_security=urn:s|open', '_tag:not=urn:t|x'],
  ],
  Organization: ['active=true', 'name=A'],
};
const TYPES = Object.keys(CRITERIA);

/** Columns and conditions; some are about what a token may hide. */
const PATHS: Readonly<Record<string, readonly string[]>> = {
  Patient: [
    'gender',
    'active',
    'birthDate',
    'managingOrganization.getReferenceKey(Organization)',
    'name.family.first()',
  ],
  Observation: [
    'status',
    'value.ofType(Quantity).value',
    'subject.getReferenceKey(Patient)',
    'code.coding.code.first()',
  ],
  Organization: ['name', 'active'],
};
/** Of many of them a search parameter tells where they may hold. */
const CONDITIONS: Readonly<Record<string, readonly string[]>> = {
  Patient: [
    ...["gender = 'female'", 'active', 'active = false', 'active.not()', 'name.exists()', "Patient.gender != 'male'"],
    ...['birthDate >= @1990-01-01', 'birthDate < @1985', '@1980-06 < birthDate', 'birthDate = @1975-03-11'],
    ...["gender in ('male' | 'other')", "gender = 'male' or gender = 'female'", "gender = 'male' or active"],
    ...["identifier.exists(system = 'urn:x' and value = '1')", "identifier.where(system = 'urn:x').value = '1'"],
    ...[
      "name.family = 'F00'",
      "name.where(family = 'F10').exists()",
      "managingOrganization.reference = 'Organization/o1'",
    ],
    ...[
      "id = 'p1'",
      "'p2' = getResourceKey()",
      '%wanted = gender',
      "$this.gender = 'female' and active = true",
      'gender and active',
      'gender and name.exists()',
    ],
    ...['birthDate > @1970-01-01 implies active', "iif(active, gender = 'male', true)", "gender.startsWith('f')"],
  ],
  Observation: [
    ...["status = 'final'", 'value.ofType(Quantity).value > 20', 'subject.exists()', "code.coding.code = 'a'"],
    ...["code.coding.exists(system = 'http://x.example' and code = 'a')", "code.coding.where(code = 'b').exists()"],
    ...["code.coding.where(system = 'http://y.example').exists(code = 'a')", "code.coding.exists(code = 'A')"],
    ...['code.coding.exists(code)', "code.coding.code contains 'a'", "code.exists(coding.exists(code = 'a'))"],
    ...["code.coding.first().code = 'c'", "code.coding[0].code = 'b'"],
    ...["code.coding.exists(system = 'http://x.example' or code = 'a')", "(status = 'final').not()"],
    ...["category.coding.code = 'lab'", "subject.reference = 'Patient/p1'", "subject.getReferenceKey(Patient) = 'p1'"],
    ...['effective.ofType(dateTime) >= @2020-01-01', 'effective.ofType(dateTime) < @2020-01-01T00:00:00Z'],
    ...['effective.ofType(dateTime) <= @2019-12-31T20:00:00-05:00', 'effective.ofType(dateTime) > @2020'],
    ...['@2020-01-01T02:00:00+14:00 > effective.ofType(dateTime)', "%wanted = 'final' and status = %wanted"],
  ],
  Organization: ['active', "name = 'A'", "name = 'a'"],
};

/** Random tokens × views: a view shows exactly what a search with the token shows. */
export function viewsAgainstSearches(store: Store, seed: number, pairs: number): void {
  describe(`views against searches with the same token, seed ${seed}`, () => {
    const server = scopedServer(store);
    const random = createRandom(seed);
    beforeAll(async () => {
      for (const resource of world(random)) {
        const { status, text } = await server.all.send(
          'PUT',
          `/${resource.resourceType}/${String(resource['id'])}`,
          resource,
        );
        expect(status, text).toBe(201);
      }
    });

    it(`of ${pairs} pairs none differs`, async () => {
      let shown = 0;
      for (let n = 0; n < pairs; n++) {
        const scopes = tokenOf(random);
        const type = random.pick(TYPES);
        const view = viewOf(type, random);
        const who = server.as(scopes);
        const limit = random.chance(0.2) ? random.below(10) : undefined;
        const run = await who.send('POST', '/$sql-run', {
          resourceType: 'Parameters',
          parameter: [
            { name: 'subjectResource', resource: view },
            ...(limit === undefined ? [] : [{ name: '_limit', valueInteger: limit }]),
          ],
        });
        const search = await who.send('GET', `/${type}?_count=1000`);
        const what = JSON.stringify({ n, scopes, view, limit });
        expect(run.status, what).toBe(search.status);
        if (search.status !== 200) continue;
        const { entry = [] } = search.json() as { entry?: readonly { readonly resource: Resource }[] };
        const compiled = compileView(readView(view), tables, { now: new Date() });
        const wanted = entry.flatMap(({ resource }) => compiled.rowsOf(resource)).map((row) => JSON.stringify(Object.fromEntries(compiled.columns.map(({ name }, i) => [name, row[i]])))); // prettier-ignore
        const rows = run.text.split('\n').filter((line) => line !== '');
        shown += rows.length;
        if (limit === undefined) expect(rows.sort(), what).toEqual(wanted.sort());
        else {
          expect(rows, what).toHaveLength(Math.min(limit, wanted.length));
          expect(wanted, what).toEqual(expect.arrayContaining(rows));
        }
      }
      expect(shown).toBeGreaterThan(pairs);
    });
  });
}

function tokenOf({ pick, chance }: Random): string {
  const parts = TYPES.filter(() => chance(0.7)).flatMap((type) => {
    if (chance(0.25)) return [`system/${type}.rs`];
    return Array.from(
      { length: chance(0.3) ? 2 : 1 },
      () => `system/${type}.${pick(['s', 'rs', 'cruds'])}?${pick(CRITERIA[type]!)}`,
    );
  });
  return parts.length === 0 ? 'system/Device.s' : parts.join(' ');
}

function viewOf(type: string, { pick, chance }: Random): JsonObject {
  const column = [
    { name: 'id', path: 'id' },
    ...PATHS[type]!.filter(() => chance(0.5)).map((path, i) => ({ name: `c${i}`, path })),
  ];
  const names =
    type === 'Patient' && chance(0.3) ? [{ forEachOrNull: 'name', column: [{ name: 'family', path: 'family' }] }] : [];
  const where = [0.7, 0.3].filter(chance).map(() => ({ path: pick(CONDITIONS[type]!) }));
  return {
    resourceType: 'ViewDefinition',
    status: 'active',
    resource: type,
    select: [{ column }, ...names],
    ...(where.length > 0 && { where }),
    constant: [{ name: 'wanted', valueCode: type === 'Patient' ? 'male' : 'final' }],
  };
}

/** Times around the beginning of a year, of several precisions and zones. */
const TIMES = [
  ...['2019', '2019-12', '2019-12-31', '2019-12-31T18:59:59-05:00', '2019-12-31T23:59:59Z', '2020-01-01T00:00:00Z'],
  ...['2020-01-01T01:30:00+14:00', '2020-01-01', '2020-01', '2020', '2020-01-01T00:00:00.001Z', '2021-05-05T05:05:05Z'],
];

function world({ pick, chance, below }: Random): readonly Resource[] {
  const organizations = ['A', 'B', 'C'].map((name, i) => ({
    resourceType: 'Organization',
    id: `o${i}`,
    name,
    active: i !== 1,
  }));
  const patients = Array.from({ length: COUNT }, (_, i) => ({
    ...{ resourceType: 'Patient', id: `p${i}`, gender: pick(['male', 'female', 'other']) },
    ...(chance(0.7) && { active: chance(0.5) }),
    ...(chance(0.5) && { identifier: Array.from({ length: 1 + below(2) }, () => ({ system: pick(['urn:x', 'urn:y']), value: pick(['1', '2']) })) }), // prettier-ignore
    ...(chance(0.7) && { birthDate: `19${70 + below(30)}-0${1 + below(9)}-11` }),
    ...(chance(0.5) && { managingOrganization: { reference: `Organization/o${below(3)}` } }),
    ...(chance(0.7) && { name: Array.from({ length: 1 + below(2) }, (__, n) => ({ family: `F${i}${n}` })) }),
  }));
  const observations = Array.from({ length: COUNT }, (_, i) => ({
    ...{ resourceType: 'Observation', id: `ob${i}`, status: pick(['final', 'amended', 'preliminary']) },
    code: {
      coding: Array.from({ length: 1 + below(2) }, () => ({
        system: pick(['http://x.example', 'http://y.example']),
        code: pick(['a', 'b', 'c']),
      })),
    },
    ...(chance(0.7) && { effectiveDateTime: pick(TIMES) }),
    ...(chance(0.8) && { subject: { reference: `Patient/p${below(10)}` } }),
    ...(chance(0.6) && { valueQuantity: { value: below(100) } }),
    ...(chance(0.7) && {
      meta: {
        security: [{ system: 'urn:s', code: pick(['open', 'shut']) }],
        tag: [{ system: 'urn:t', code: pick(['x', 'y']) }],
      },
    }),
    ...(chance(0.5) && { category: [{ coding: [{ code: 'lab' }] }] }),
  }));
  return [...organizations, ...patients, ...observations] as unknown as readonly Resource[];
}
