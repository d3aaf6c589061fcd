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
  Observation: ['status=final', 'code=http://x.example|a', 'subject=Patient/p1', 'value-quantity=gt50', 'category=lab'],
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
const CONDITIONS: Readonly<Record<string, readonly string[]>> = {
  Patient: ["gender = 'female'", 'active', 'name.exists()', 'birthDate >= @1990-01-01'],
  Observation: ["status = 'final'", 'value.ofType(Quantity).value > 20', 'subject.exists()'],
  Organization: ['active', "name = 'A'"],
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
  const where = chance(0.5) ? [{ path: pick(CONDITIONS[type]!) }] : [];
  return {
    resourceType: 'ViewDefinition',
    status: 'active',
    resource: type,
    select: [{ column }, ...names],
    ...(where.length > 0 && { where }),
  };
}

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
    ...(chance(0.7) && { birthDate: `19${70 + below(30)}-0${1 + below(9)}-11` }),
    ...(chance(0.5) && { managingOrganization: { reference: `Organization/o${below(3)}` } }),
    ...(chance(0.7) && { name: Array.from({ length: 1 + below(2) }, (__, n) => ({ family: `F${i}${n}` })) }),
  }));
  const observations = Array.from({ length: COUNT }, (_, i) => ({
    ...{ resourceType: 'Observation', id: `ob${i}`, status: pick(['final', 'amended', 'preliminary']) },
    code: { coding: [{ system: 'http://x.example', code: pick(['a', 'b', 'c']) }] },
    ...(chance(0.8) && { subject: { reference: `Patient/p${below(10)}` } }),
    ...(chance(0.6) && { valueQuantity: { value: below(100) } }),
    ...(chance(0.5) && { category: [{ coding: [{ code: 'lab' }] }] }),
  }));
  return [...organizations, ...patients, ...observations] as unknown as readonly Resource[];
}
