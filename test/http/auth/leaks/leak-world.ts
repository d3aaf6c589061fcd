import type { Random } from '../../../contract/random.js';
import { boundaryOf } from '../../../unit/store/mongo/boundary.js';
import { CATEGORY } from '../support.js';

/** One version of a resource; without content: its deletion. */
export interface DraftVersion {
  /** Lies within the constraints that the policies have. */
  readonly isOpen: boolean;
  readonly content?: Readonly<Record<string, unknown>>;
}

/** A resource and its versions, oldest first. */
export interface Draft {
  readonly type: string;
  readonly id: string;
  readonly versions: readonly DraftVersion[];
  /** `Type/id` of what decides on who sees it. */
  readonly context?: string;
}

/** What a maker of contents has to work with. */
interface Making {
  readonly random: Random;
  readonly word: () => string;
  readonly refer: (...types: readonly string[]) => { readonly reference: string };
}

type Maker = (making: Making) => Record<string, unknown>;

const coded = (code: string) => ({ coding: [{ system: 'http://codes.example', code }], text: code });
const instant = ({ random }: Making) => `2024-0${1 + random.below(9)}-1${random.below(9)}T10:00:00Z`;
const identified = ({ word }: Making) => [{ system: 'http://ids.example', value: word() }];

const narrative = (text: string) => ({
  status: 'generated',
  div: `<div xmlns="http://www.w3.org/1999/xhtml">${text}</div>`,
});

/** Somewhere, with a boundary: a square that some of the others lie in. */
const placed = ({ random }: Making) => {
  const [x, y] = [random.below(8), random.below(8)];
  const square = [[x - 2, y - 2], [x + 2, y - 2], [x + 2, y + 2], [x - 2, y + 2], [x - 2, y - 2]]; // prettier-ignore
  return {
    position: { latitude: y, longitude: x },
    extension: [boundaryOf({ type: 'Polygon', coordinates: [square] })],
  };
};

/** Types with references among each other: to where chains, includes, compartments and hierarchies can lead. */
const MAKERS: Readonly<Record<string, Maker>> = {
  Organization: (m) => ({ name: m.word(), identifier: identified(m), partOf: m.refer('Organization') }),
  Practitioner: (m) => ({ name: [{ family: m.word() }], identifier: identified(m) }),
  Location: (m) => ({
    name: m.word(),
    partOf: m.refer('Location'),
    managingOrganization: m.refer('Organization'),
    ...placed(m),
  }),
  Patient: (m) => ({
    name: [{ family: m.word(), given: [m.word()] }],
    identifier: identified(m),
    gender: m.random.pick(['male', 'female']),
    birthDate: `19${10 + m.random.below(90)}-01-01`,
    generalPractitioner: [m.refer('Practitioner')],
    managingOrganization: m.refer('Organization'),
    link: [{ other: m.refer('Patient'), type: 'seealso' }],
  }),
  Encounter: (m) => ({
    status: m.random.pick(['planned', 'completed']),
    subject: m.refer('Patient'),
    partOf: m.refer('Encounter'),
    location: [{ location: m.refer('Location') }],
    serviceProvider: m.refer('Organization'),
    actualPeriod: { start: instant(m) },
  }),
  Observation: (m) => ({
    status: m.random.pick(['final', 'amended']),
    code: coded(m.word()),
    subject: m.refer('Patient'),
    encounter: m.refer('Encounter'),
    performer: [m.refer('Practitioner', 'Organization')],
    effectiveDateTime: instant(m),
    valueQuantity: { value: m.random.below(50), system: 'http://unitsofmeasure.org', code: 'mg', unit: 'mg' },
    hasMember: [m.refer('Observation')],
    derivedFrom: [m.refer('Observation', 'DocumentReference')],
    note: [{ text: m.word() }],
  }),
  Condition: (m) => ({
    clinicalStatus: {
      coding: [{ system: 'http://terminology.hl7.org/CodeSystem/condition-clinical', code: 'active' }],
    },
    code: coded(m.word()),
    subject: m.refer('Patient'),
    encounter: m.refer('Encounter'),
    evidence: [{ reference: m.refer('Observation') }],
  }),
  List: (m) => ({
    status: 'current',
    mode: 'working',
    title: m.word(),
    subject: [m.refer('Patient')],
    entry: [{ item: m.refer('Patient', 'Observation') }, { item: m.refer('Observation', 'Condition') }],
  }),
  Group: (m) => ({
    type: 'person',
    membership: 'enumerated',
    name: m.word(),
    member: [{ entity: m.refer('Patient'), inactive: m.random.chance(0.5) }, { entity: m.refer('Patient') }],
  }),
  DocumentReference: (m) => ({
    status: 'current',
    type: coded(m.word()),
    subject: m.refer('Patient'),
    author: [m.refer('Practitioner', 'Organization')],
    content: [{ attachment: { url: `http://files.example/${m.word()}`, title: m.word() } }],
    relatesTo: [{ code: coded('replaces'), target: m.refer('DocumentReference') }],
  }),
  Provenance: (m) => ({
    target: [m.refer('Patient', 'Observation', 'Binary'), m.refer('Observation', 'Encounter')],
    recorded: instant(m),
    agent: [{ who: m.refer('Practitioner') }],
  }),
  Binary: (m) => ({ contentType: 'text/plain', data: Buffer.from(m.word()).toString('base64') }),
  Basic: (m) => ({
    code: coded(m.word()),
    subject: m.refer('Patient', 'Observation'),
    author: m.refer('Practitioner'),
  }),
  GraphDefinition: (m) => graph(m),
  ViewDefinition: ({ word, random }) => ({
    ...{ url: `http://views.example/${word()}`, name: word(), status: 'active' },
    ...{
      resource: random.pick(['Patient', 'Observation', 'Encounter']),
      select: [{ column: [{ name: word(), path: 'id' }] }],
    },
  }),
};

/** Ways from one of the types above to another, as links of graphs have them. */
const WAYS: readonly (readonly [source: string, target: string, way: object])[] = [
  ['Patient', 'Practitioner', { path: 'Patient.generalPractitioner' }],
  ['Patient', 'Patient', { path: 'link.other' }],
  ['Patient', 'Observation', { params: 'patient={ref}' }],
  ['Patient', 'Resource', { path: 'Patient.managingOrganization' }],
  ['Patient', 'List', { params: 'item={ref}' }],
  ['Observation', 'Patient', { path: 'subject' }],
  ['Observation', 'Observation', { params: 'has-member={ref}&patient.family:missing=false' }],
  ['Observation', 'Encounter', { path: 'encounter', compartment: [{ use: 'requires', rule: 'identical', code: 'Patient' }] }], // prettier-ignore
  ['Observation', 'Provenance', { params: 'target={ref}' }],
  ['Encounter', 'Condition', { params: '_has:Provenance:target:agent:missing=false&encounter={ref}' }],
  ['Encounter', 'Location', { path: 'Encounter.location.location' }],
  [
    'List',
    'Resource',
    { path: 'List.entry.item', compartment: [{ use: 'where', rule: 'different', code: 'Patient' }] },
  ],
  ['List', 'Observation', { path: 'List.entry.item' }],
  ['Provenance', 'Binary', { path: 'Provenance.target' }],
];

/** Most of them can be followed. */
function graph({ random, word }: Making): Record<string, unknown> {
  const ways = WAYS.filter(() => random.chance(0.6));
  const types = [...new Set(['Patient', ...ways.flatMap(([source, target]) => [source, target])])];
  return {
    url: `http://graphs.example/${word()}`,
    name: 'G',
    status: 'active',
    start: random.pick(['Patient', 'Observation', 'List'].filter((type) => types.includes(type))),
    node: types.map((type) => ({ nodeId: type, type })),
    link: ways.map(([sourceId, targetId, way]) => ({ sourceId, targetId, ...way })),
  };
}
/** Types that the drafts are of. */
export const DRAFT_TYPES: readonly string[] = Object.keys(MAKERS);

/** Types of what is within others. */
const CONTAINED_TYPES = ['Patient', 'Observation', 'Organization', 'Location'] as const;

/** Without it a resource within another would have to be referred to. */
const WITHIN = { url: 'http://ways.example/within', valueReference: { reference: '#' } };

/** So many resources of each type. */
const EACH = 4;

/** Ids of one type, those that nobody has too. */
export function idsOfType(type: string): readonly string[] {
  return Array.from({ length: EACH + 1 }, (_, n) => `${type.slice(0, 3).toLowerCase()}-${n}`);
}

/**
 * Makes contents of a type, open ones or not, that nothing else is like.
 *
 * @param from a number that words begin to be counted from; two makers whose numbers lie far apart have no word in common
 */
export function contentMaker(random: Random, from = 0): (type: string, isOpen: boolean) => Record<string, unknown> {
  let n = from;
  const word = (): string => `${random.pick(['ka', 'lo', 'mi', 'ru', 'te'])}${random.pick(['na', 'so', 'vi'])}${n++}`;
  const refer = (...types: readonly string[]) => {
    const type = random.pick(types);
    return { reference: `${type}/${random.pick(idsOfType(type))}` };
  };
  /** Resources within another, which they refer to, each as if it were open or not by itself. */
  const contain = () =>
    ['c1', 'c2'].map((id) => {
      const type = random.pick(CONTAINED_TYPES);
      const language = random.pick(['en', 'de']);
      const made = MAKERS[type]!({ random, word, refer });
      const extension = [...((made['extension'] ?? []) as readonly object[]), WITHIN];
      return { resourceType: type, id, language, ...made, extension };
    });
  return (type, isOpen) => {
    const category = { coding: [{ system: CATEGORY, code: isOpen ? 'laboratory' : 'vital-signs' }] };
    return pointInto(random, {
      resourceType: type,
      // No tag: an update keeps those that were there.
      language: isOpen ? 'en' : 'de',
      ...(type !== 'Binary' && random.chance(0.5) && { text: narrative(`${word()} ${word()}`) }),
      ...(type === 'Observation' && { category: [category] }),
      ...MAKERS[type]!({ random, word, refer }),
      ...(type !== 'Binary' && random.chance(0.5) && { contained: contain() }),
    });
  };
}

/** Some references of a resource, and of what is within it, lead to what is within it where that has the type. */
function pointInto<T extends object>(random: Random, content: T & { readonly contained?: readonly object[] }): T {
  const within = (content.contained ?? []) as readonly { readonly resourceType: string; readonly id: string }[];
  if (within.length === 0) return content;
  const text = JSON.stringify(content).replace(/"reference":"([A-Z]\w+)\/[\w.-]+"/g, (whole, type: string) => {
    const target = within.find(({ resourceType }) => resourceType === type);
    return target === undefined || random.chance(0.4) ? whole : `"reference":"#${target.id}"`;
  });
  return JSON.parse(text) as T;
}

/**
 * Resources of each type, of one to three versions, some open, some not, some that end deleted.
 *
 * @param isSecured some Binaries have a `securityContext`
 */
export function makeDrafts(
  random: Random,
  make: ReturnType<typeof contentMaker>,
  isSecured: boolean,
): readonly Draft[] {
  return DRAFT_TYPES.flatMap((type) =>
    idsOfType(type)
      .slice(0, EACH)
      .map((id, n) => {
        const target = random.pick(['Observation', 'Patient', 'Encounter', 'Binary']);
        const context =
          type === 'Binary' && n > 0 && isSecured ? `${target}/${random.pick(idsOfType(target))}` : undefined;
        // One of each type is open and one is not, all the time.
        const isOpen = (): boolean => (n < 2 ? n === 0 : random.chance(0.5));
        const versions: DraftVersion[] = Array.from({ length: 1 + random.below(3) }, () => {
          const open = isOpen();
          const secured = context !== undefined && { securityContext: { reference: context } };
          return { isOpen: open, content: { ...make(type, open), ...secured, id } };
        });
        if (n > 1 && random.chance(0.25)) versions.push({ isOpen: versions.at(-1)!.isOpen });
        return { type, id, versions, ...(context !== undefined && { context }) };
      }),
  );
}
