import { beforeAll, describe, expect, it } from 'vitest';

import { tables } from '../../../generated/tables.js';
import type { JsonObject, Resource } from '../../../runtime/fhir/resource.js';
import type { Store } from '../../../runtime/store/store.js';
import { compileView } from '../../../runtime/views/compile-view.js';
import { readView } from '../../../runtime/views/read-view.js';
import { RowError, ViewError } from '../../../runtime/views/view-error.js';
import { createRandom, type Random } from '../../contract/random.js';
import { scopedServer } from '../../http/auth/scoped.js';

const COUNT = 150;

/** Texts that an index, a query or a URL could take for others. */
const ODD = [
  ...['a', 'A', 'a ', 'b', 'a|b', '|a', 'a|', 'a,b', 'a$b', 'a\\b', '\\', '\\,', ',', '|', '$', 'a\nb', 'a\tb', 'a  b'],
  ...['é', 'e\u0301', '\u0301', '\u200B', '\u00A0a', 'ﬁ', 'ß', 'SS', '☃', '😀', 'true', 'false', '2020-01-01', '10:00'],
  ...[
    '10:00:00',
    'ge2020',
    'a&b=c',
    'a%2Cb',
    'a+b',
    '_',
    '...',
    '-',
    "a'b",
    'a"b',
    'null',
    'undefined',
    '0',
    '\uFEFFa',
  ],
  ...[
    'İ',
    'ı',
    'a\u0000b',
    '\u00E9'.repeat(200),
    'x'.repeat(200),
    'x'.repeat(201),
    'x'.repeat(5000),
    '\uD800',
    '\uFFFD',
  ],
];

/** Times of all precisions and zones, around the beginning of a year and at the ends of what can be written. */
const TIMES = [
  ...['2019', '2019-12', '2019-12-31', '2019-12-31T18:59:59-05:00', '2019-12-31T23:59:59Z', '2020-01-01T00:00:00Z'],
  ...['2020-01-01T01:30:00+14:00', '2020-01-01', '2020-01', '2020', '2020-01-01T00:00:00.001Z', '2021-05-05T05:05:05Z'],
  ...['2016-12-31T23:59:60Z', '2017-01-01T00:59:60.5+01:00', '0001-01-01', '0999-12-31', '0050', '1000', '8999-12-31'],
  ...[
    '9999-12-31',
    '9999',
    '9999-12-31T23:59:59-12:00',
    '9000-01-01T00:00:00Z',
    '2021-01-05',
    '2021-02-30',
    '2019-12-27',
  ],
  ...[
    '2019-12-31T10:00:00-12:00',
    '2020-01-01T00:00:00.123456789Z',
    '2019-02-29',
    '2020-02-29',
    '2020-12-31T24:00:00Z',
  ],
  ...[
    '2020-01-01T00:00:00+14:30',
    '2020-01-01T10:00Z',
    '2020-01-01T10:00:00',
    '2016-12-31T23:59:60-12:00',
    '2019-12-30',
  ],
];
const DATES = TIMES.filter((each) => each.length <= 10);

/** Times in FHIRPath, some of which no resource may have. */
const WRITTEN_TIMES = [
  ...TIMES,
  ...['2020-01-01T', '2020-01-01T10', '2020-01-01T10:00', '2020T', '2020-13-45', '2020-00-00', '2020-02-31'],
  ...['2020-01-05T00:00:00+99:00', '2019-12-28T00:00:00-99:00', '2020-01-01T99:00:00Z', 'T10:00', 'T10:00:00'],
];

const REFERENCES = [
  ...['Patient/p1', 'Patient/p2', 'Patient/p1/_history/1', 'patient/p1', 'http://other.example/Patient/p1', '#in', '#'],
  ...['urn:uuid:f0f0f0f0-0000-4000-8000-000000000001', 'Practitioner/p1', 'Foo/p1', 'Patient/p1#x', 'Patient/P1', 'p1'],
];

/** Random conditions over odd data: the run over what is stored gives the rows that each resource has by itself. */
export function narrowedAgainstWhole(store: Store, seed: number, views: number): void {
  describe(`narrowed views against all resources, seed ${seed}`, () => {
    const server = scopedServer(store);
    const random = createRandom(seed);
    const stored: Resource[] = [];
    beforeAll(async () => {
      for (const resource of oddWorld(random)) {
        const { status } = await server.all.send('PUT', `/${resource.resourceType}/${String(resource['id'])}`, resource); // prettier-ignore
        // What cannot be stored cannot be lost.
        if (status !== 201) continue;
        const read = await server.all.send('GET', `/${resource.resourceType}/${String(resource['id'])}`);
        stored.push(read.json() as Resource);
      }
      expect(stored.length).toBeGreaterThan(COUNT);
    });

    /** @returns how many rows both have; undefined: the view cannot be run over all resources */
    const compare = async (view: JsonObject): Promise<number | undefined> => {
      const wanted = wantedOf(view, stored);
      if (wanted === undefined) return undefined;
      const parameter = [{ name: 'subjectResource', resource: view }];
      const { status, text } = await server.all.send('POST', '/$sql-run', { resourceType: 'Parameters', parameter });
      const what = JSON.stringify(view['where']);
      expect(status, what + text).toBe(200);
      const rows = text.split('\n').filter((line) => line !== '').map((line) => (JSON.parse(line) as { id: string }).id);
      expect(rows.sort(), what).toEqual(wanted.sort());
      return rows.length;
    }; // prettier-ignore

    it('each text is found by what equals it', async () => {
      let found = 0;
      for (const text of ODD) {
        for (const path of ['name.family', 'identifier.value', 'communication.language.coding.code', 'address.city']) {
          const literal = quoted(text);
          const ways = [`${path} contains ${literal}`, `${path} in (${literal} | 'none')`, `${path}.exists($this = ${literal})`]; // prettier-ignore
          const rows = await compare({ ...oddView(random), resource: 'Patient', where: [{ path: random.pick(ways) }] });
          found += rows === undefined || rows === 0 ? 0 : 1;
        }
      }
      expect(found).toBeGreaterThan(2 * ODD.length);
    });

    it(`of ${views} views none loses a row`, async () => {
      let [shown, compared] = [0, 0];
      for (let n = 0; n < views; n++) {
        const rows = await compare(oddView(random));
        if (rows === undefined) continue;
        compared++;
        shown += rows;
      }
      expect(compared).toBeGreaterThan(views / 2);
      expect(shown).toBeGreaterThan(views);
    });
  });
}

/** Ids of the resources that a view has rows of; undefined: it cannot be run over all of them. */
function wantedOf(view: JsonObject, stored: readonly Resource[]): string[] | undefined {
  try {
    const compiled = compileView(readView(view), tables, { now: new Date() });
    return stored.flatMap((each) => compiled.rowsOf(each)).map(([id]) => String(id));
  } catch (error) {
    if (error instanceof RowError || error instanceof ViewError) return undefined;
    throw error;
  }
}

/** A literal of FHIRPath. */
function quoted(text: string): string {
  const escaped = (c: string): string => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`;
  return `'${text.replace(/[\\']/g, String.raw`\$&`).replace(/\p{C}/gu, (c) => [...Array(c.length).keys()].map((i) => escaped(c.charAt(i))).join(''))}'`; // prettier-ignore
}

/** Elements that search parameters index, and others: of texts, of codings and the like, of times, of booleans. */
const ELEMENTS: Readonly<Record<string, Readonly<Record<'text' | 'coded' | 'time' | 'boolean', readonly string[]>>>> = {
  Patient: {
    text: [
      ...['gender', 'name.family', 'name.given', 'identifier.value', 'identifier.system', 'telecom.value', 'id'],
      ...['address.city', 'name.text', 'managingOrganization.reference', 'contained.gender', 'communication.language.coding.code'],
    ],
    coded: ['identifier', 'communication.language.coding', 'meta.tag', 'maritalStatus.coding'],
    time: ['birthDate', 'deceased.ofType(dateTime)'],
    boolean: ['active', 'deceased.ofType(boolean)', 'communication.preferred'],
  },
  Observation: {
    text: [
      ...['status', 'code.coding.code', 'value.ofType(string)', 'value.ofType(CodeableConcept).coding.code'],
      ...['subject.reference', 'focus.reference', 'category.coding.code', 'component.code.coding.code', 'method.coding.code'],
    ],
    coded: ['code.coding', 'category.coding', 'value.ofType(CodeableConcept).coding', 'component.code.coding', 'identifier'],
    time: ['effective.ofType(dateTime)', 'value.ofType(dateTime)', 'issued', 'effective.ofType(instant)'],
    boolean: ['value.ofType(boolean)'],
  },
  Group: {
    text: ['type', 'code.coding.code', 'characteristic.code.coding.code', 'member.entity.reference', 'name', 'identifier.value'],
    coded: ['code.coding', 'characteristic.code.coding', 'identifier', 'characteristic.value.ofType(CodeableConcept).coding'],
    time: ['characteristic.period.start'],
    boolean: ['active', 'characteristic.exclude', 'member.inactive'],
  },
}; // prettier-ignore

const CONSTANTS: readonly JsonObject[] = [
  { name: 'text', valueString: 'a' },
  { name: 'clock', valueTime: '10:00:00' },
  { name: 'looks', valueString: '2020-01-01' },
  { name: 'day', valueDate: '2020-01-01' },
  { name: 'moment', valueDateTime: '2020-01-01T00:00:00Z' },
  { name: 'instant', valueInstant: '2019-12-31T23:59:59Z' },
  { name: 'long', valueInteger64: '0' },
  { name: 'flag', valueBoolean: true },
  { name: 'code', valueCode: 'male' },
  { name: 'amount', valueDecimal: 0 },
  { name: 'url', valueUri: 'urn:x' },
];

function oddView(random: Random): JsonObject {
  const type = random.pick(Object.keys(ELEMENTS));
  const where = Array.from({ length: random.chance(0.2) ? 2 : 1 }, () => ({ path: conditionOf(type, random, 3) }));
  return {
    ...{ resourceType: 'ViewDefinition', status: 'active', resource: type, constant: [...CONSTANTS], where },
    select: [{ column: [{ name: 'id', path: 'id' }] }],
  };
}

function conditionOf(type: string, random: Random, depth: number): string {
  const { pick, chance } = random;
  const below = (): string => conditionOf(type, random, depth - 1);
  if (depth > 0 && chance(0.5)) {
    const operator = pick(['and', 'and', 'or', 'or', 'implies', 'xor']);
    return chance(0.5) ? `(${below()}) ${operator} (${below()})` : `${below()} ${operator} ${below()}`;
  }
  const { text, coded, time, boolean } = ELEMENTS[type]!;
  const atoms: readonly (() => string)[] = [
    () => comparisonOf(from(pick(text), type, random), random),
    () => codedOf(from(pick(coded), type, random), type, random),
    () => timeOf(from(pick(time), type, random), random),
    () => truthOf(from(pick(boolean), type, random), random),
    () => `contained.exists(${pick(['Patient.', '$this.', '%resource.', ''])}gender = ${pick(["'male'", '%code'])})`,
    () => `${pick(boolean)} and ${pick(text)}.exists()`,
  ];
  return pick(atoms)();
}

/** Another way to write a path, which may leave out some of its values. */
function from(path: string, type: string, { pick, chance }: Random): string {
  if (chance(0.6)) return path;
  const steps = path.split('.');
  const at = 1 + (steps.length > 1 ? pick([0, steps.length - 1]) : 0);
  const some = pick([
    '.first()',
    '.last()',
    '[0]',
    '[1]',
    '.where(true)',
    ".where(id.empty() or id = 'x')",
    '.single()',
    '',
  ]);
  const cut = path.includes('ofType') ? path : [...steps.slice(0, at), ...steps.slice(at)].join('.');
  return pick([`${type}.${cut}`, `%resource.${cut}`, `%context.${cut}`, `$this.${cut}`, cut, path.includes('ofType') ? cut : `\`${cut.replaceAll('.', '`.`')}\``]).replace(/$/, some); // prettier-ignore
}

function literalsOf(path: string, { pick, chance }: Random): string {
  if (chance(0.1)) return pick(CONSTANTS.map(({ name }) => `%${String(name)}`));
  if (chance(0.05)) return `@${pick(WRITTEN_TIMES)}`;
  if (path.endsWith('reference')) return quoted(pick(REFERENCES));
  if (path.includes('gender')) return pick(["'male'", "'female'", "'Male'"]);
  if (path.includes('status')) return pick(["'final'", "'amended'", 'true']);
  if (chance(0.03)) return pick(['true', 'false', '0', '1.0', '{}', "0 'kg'"]);
  return quoted(chance(0.5) ? pick(['a', 'b', 'urn:x', 'urn:y']) : pick(ODD));
}

function comparisonOf(path: string, random: Random): string {
  const { pick } = random;
  const literal = (): string => literalsOf(path, random);
  const many = (): string => `(${Array.from({ length: 1 + random.below(3) }, literal).join(' | ')})`;
  return pick([
    () => `${path} = ${literal()}`,
    () => `${literal()} = ${path}`,
    () => `${path} in ${many()}`,
    () => `${path} contains ${literal()}`,
    () => `${literal()} in ${path}`,
    () => `${literal()} contains ${path}`,
    () => `${path} != ${literal()}`,
    () => `${path} ~ ${literal()}`,
    () => `${path} = ${literal()} = true`,
    () => `${path}.where($this = ${literal()}).exists()`,
    () => `${path}.exists($this = ${literal()} or $this in ${many()})`,
    () => `${path}.exists($this = ${literal()}, $this = ${literal()})`,
    () => `${path} <= ${literal()}`,
  ])();
}

function codedOf(path: string, type: string, random: Random): string {
  const { pick } = random;
  const code = (): string => literalsOf(path, random);
  const value = path.includes('identifier') ? 'value' : 'code';
  const system = pick(["'urn:x'", "'urn:y'", '%url', "'a|b'", "'urn:x '"]);
  const other = `%resource.${path.replace(/^(?:[A-Z]\w+|%\w+|\$this)\./, '')}.${value}`;
  return pick([
    () => `${path}.exists(system = ${system} and ${value} = ${code()})`,
    () => `${path}.exists(system = ${system} and ${value} in (${code()} | ${code()}))`,
    () => `${path}.where(system = ${system}).exists(${value} = ${code()})`,
    () => `${path}.where(system = ${system}).${value} = ${code()}`,
    () => `${path}.exists(system.empty() and ${value} = ${code()})`,
    () => `${path}.exists(system = ${system} and ${other} contains ${code()})`,
    () => `${path}.exists(${pick([type, 'Coding', 'Identifier'])}.system = ${system} and ${value} = ${code()})`,
    () => `${path}.exists((system = ${system} or ${value} = ${code()}) and ${value} = ${code()})`,
    () => `${path}.exists(${value} = ${code()} or ${value} = ${code()} or ${value} = ${code()})`,
    () => `${path}.exists(${value})`,
    () => `${path}.exists(${value} and system = ${system})`,
    () => `${path}.${value}.exists($this = ${code()})`,
  ])();
}

function timeOf(path: string, random: Random): string {
  const { pick, chance } = random;
  const written = chance(0.15) ? pick(['%day', '%moment', '%instant', '%looks', '%clock']) : `@${pick(WRITTEN_TIMES)}`;
  const literal = chance(0.1) ? quoted(pick(TIMES)) : written;
  const operator = pick(['<', '<=', '>', '>=', '=', '!=']);
  return chance(0.5) ? `${path} ${operator} ${literal}` : `${literal} ${operator} ${path}`;
}

function truthOf(path: string, { pick }: Random): string {
  return pick([
    path,
    ...[`${path} = true`, `${path} = false`, `${path} = 'true'`, `${path} in (true | false)`, `${path}.exists($this)`],
    ...[`${path}.not()`, `${path} and true`, `${path} contains true`, `${path} or ${path}`, `%flag = ${path}`],
  ]);
}

function oddWorld(random: Random): readonly Resource[] {
  const { pick, chance, below, some } = random;
  const text = (): string => (chance(0.5) ? pick(['a', 'b']) : pick(ODD));
  const maybe = (odds: number, make: () => object): object => (chance(odds) ? make() : {});
  const coding = (): object => ({
    ...maybe(0.7, () => ({ system: pick(['urn:x', 'urn:y']) })),
    ...maybe(0.8, () => ({ code: text() })),
    ...maybe(0.2, () => ({ display: 'a' })),
  });
  const identifier = (): object => ({ ...maybe(0.7, () => ({ system: pick(['urn:x', 'urn:y', 'urn:x|y']) })), value: text() }); // prettier-ignore
  const concept = (): object => ({ coding: [coding(), ...some(2, coding)] });
  const hollow = { extension: [{ url: 'http://x.example', valueString: 'a' }] };
  const truth = (name: string): object =>
    pick([{ [name]: true }, { [name]: false }, { [`_${name}`]: hollow }, { [name]: false, [`_${name}`]: hollow }]);
  const patient = (): object => ({
    ...maybe(0.8, () => ({ gender: pick(['male', 'female', 'other']) })),
    ...maybe(0.8, () => truth('active')),
    ...maybe(0.6, () => ({ identifier: [identifier(), ...some(2, identifier)] })),
    ...maybe(0.6, () => ({ birthDate: pick(DATES) })),
    ...pick([{}, truth('deceasedBoolean'), { deceasedDateTime: pick(TIMES) }]),
    ...maybe(0.5, () => ({ managingOrganization: { reference: pick(['Organization/o1', ...REFERENCES]) } })),
    ...maybe(0.7, () => ({ name: [{ family: text() }, ...some(2, () => ({ family: text(), given: [text(), text()] }))] })),
    ...maybe(0.3, () => ({ address: [{ city: text() }], telecom: [{ value: text() }] })),
    ...maybe(0.4, () => ({ communication: Array.from({ length: 1 + below(2) }, () => ({ language: concept(), ...truth('preferred') })) })),
    ...maybe(0.2, () => ({ contained: [{ resourceType: 'Patient', id: 'in', gender: 'male' }], link: [{ other: { reference: '#in' }, type: 'refer' }] })),
  }); // prettier-ignore
  const observation = (): object => ({
    ...{ status: pick(['final', 'amended', 'preliminary']), code: concept() },
    ...maybe(0.7, () => pick([{ effectiveDateTime: pick(TIMES) }, { effectiveInstant: pick(TIMES) }])),
    ...maybe(0.3, () => ({ issued: pick(TIMES) })),
    ...maybe(0.8, () => ({ subject: { reference: pick(REFERENCES) } })),
    ...maybe(0.3, () => ({ focus: [{ reference: pick(REFERENCES) }, { reference: pick(REFERENCES), type: 'Patient' }] })),
    ...pick([{}, { valueString: text() }, truth('valueBoolean'), { valueCodeableConcept: concept() }, { valueDateTime: pick(TIMES) }]),
    ...maybe(0.5, () => ({ category: [concept(), ...some(2, concept)] })),
    ...maybe(0.3, () => ({ component: [{ code: concept() }] })),
    ...maybe(0.3, () => ({ identifier: [identifier()] })),
  }); // prettier-ignore
  const group = (): object => ({
    ...{ type: 'person', membership: 'definitional' },
    ...maybe(0.7, () => truth('active')),
    ...maybe(0.5, () => ({ code: concept(), name: text() })),
    ...maybe(0.7, () => ({ characteristic: Array.from({ length: 1 + below(2) }, () => ({ code: concept(), valueCodeableConcept: concept(), ...truth('exclude') })) })),
    ...maybe(0.3, () => ({ identifier: [identifier()] })),
  }); // prettier-ignore
  const each = ODD.flatMap((value) => [
    { name: [{ family: value }] },
    { identifier: [{ value }] },
    { communication: [{ language: { coding: [{ code: value }] } }] },
    { address: [{ city: value }] },
  ]).map((more, i) => ({ resourceType: 'Patient', id: `odd${i}`, ...more }));
  const kinds = { Patient: patient, Observation: observation, Group: group };
  const others = Object.entries(kinds).flatMap(([resourceType, make]) =>
    Array.from({ length: COUNT }, (_, i) => ({ resourceType, id: `${resourceType[0]!.toLowerCase()}${i}`, ...make() })),
  );
  return [...each, ...others] as unknown as readonly Resource[];
}
