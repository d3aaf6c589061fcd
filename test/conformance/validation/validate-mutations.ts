import { choiceKey, type Json, type Slot } from './validate-slots.js';

/** A number from 0 to just below 1, the next of a seeded sequence. */
export type Random = () => number;

/** Same seed, same sequence (mulberry32). */
export function seeded(seed: number): Random {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}

/** One of them. */
export function pick<T>(pool: readonly T[], random: Random): T {
  return pool[Math.floor(random() * pool.length)]!;
}

/** A way to change one place of a valid resource. */
export interface Mutation {
  readonly kind: string;
  /** What the specification says of the outcome. */
  readonly isValid: boolean;
  /** Changes the object; returns what it did in words, or undefined where this place does not lend itself. */
  readonly apply: (slot: Slot, random: Random) => string | undefined;
}

/** Values that a primitive type allows, not all of them common. */
export const GOOD: Readonly<Record<string, readonly unknown[]>> = {
  base64Binary: ['AAAA', 'AA==', 'AAA=', 'ab+/'],
  boolean: [true, false],
  canonical: ['http://example.org/x|1.0', '#a'],
  code: ['x', 'two words', 'ä'],
  date: ['2020', '2020-02', '2020-02-29', '0001-01-01', '9999-12-31'],
  dateTime: ['2020', '2020-02', '2020-02-29', '2020-02-29T23:59:60Z', '2020-01-01T00:00:00.123456789+14:00'],
  decimal: [0, -1, 0.1, 1e-7, 12345678.9, 1e17],
  id: ['a', 'A-1.b', '1'],
  instant: ['2020-02-29T23:59:60Z', '2020-01-01T00:00:00.1-13:59'],
  integer: [0, -1, 2147483647, -2147483648],
  integer64: ['0', '-1', '9223372036854775807', '-9223372036854775808'],
  markdown: ['# x\n\n\ty ', '\n\u00a0'],
  oid: ['urn:oid:1.2.3', 'urn:oid:2.0.10'],
  positiveInt: [1, 2147483647],
  string: ['x', ' x ', 'ä\u00a0', '\u007f'],
  time: ['00:00:00', '23:59:60', '12:00:00.5'],
  unsignedInt: [0, 2147483647],
  uri: ['x', 'urn:x', 'http://example.org/ä', 'a"b'],
  url: ['x', 'http://example.org'],
  uuid: ['urn:uuid:c757873d-ec9a-4326-a141-556f43239520'],
};

/** Values of the right JSON type that a primitive type does not allow. */
export const BAD: Readonly<Record<string, readonly unknown[]>> = {
  base64Binary: ['A', 'AAAAA', 'A===', 'ä', 'AA=A'],
  canonical: ['a b', ' ', 'x\n', 'a\u00a0b'],
  code: [' x', 'x ', 'two  words', 'a\tb', ' ', '\u0001'],
  date: ['20', '2020-1', '2020-13', '2020-02-30', '2019-02-29', '0000', '2020-01-01T00:00:00Z', '2020-', 'x'],
  dateTime: [
    '2020-01-01T00:00',
    '2020-01-01T00:00:00',
    '2021-02-29',
    '2020-01-01T24:00:00Z',
    '2020Z',
    '2020-01-01 00:00:00Z',
  ],
  decimal: [1e18, -1e20, 0.0000012345678901234567],
  id: ['a b', 'a_b', 'x'.repeat(65), 'ä'],
  instant: [
    '2020',
    '2020-01-01T00:00:00',
    '2020-02-30T00:00:00Z',
    '2020-01-01T00:00:00+14:30',
    '2020-01-01T00:00:00.Z',
  ],
  integer: [0.5, 2147483648, -2147483649, 1e300],
  integer64: ['x', '0x1', '1.0', '01', '9223372036854775808', '1 ', '--1'],
  markdown: ['\u0000', 'x\u001f', ' '],
  oid: ['urn:oid:3.1', 'urn:oid:1', 'urn:oid:1..2', 'urn:oid:1.02', '1.2.3'],
  positiveInt: [0, -1, 1.5, 2147483648],
  string: ['\u0000', 'x\u0008y', '\n', '   '],
  time: ['24:00:00', '12:00', '12:00:00Z', '12:60:00', '12:00:00.', 'x'],
  unsignedInt: [-1, 0.5, 2147483648],
  uri: ['a b', '\t', 'x\u2028'],
  url: ['a b', ' x'],
  uuid: ['urn:uuid:C757873D-ec9a-4326-a141-556f43239520', 'urn:uuid:1', 'c757873d-ec9a-4326-a141-556f43239520'],
};

const EXTENSION = { url: 'http://example.org/e', valueString: 'x' };

/** All ways in which the tests change a resource. */
export const MUTATIONS: readonly Mutation[] = [
  bad('required element dropped', ({ object, element, key, type }) => {
    if (!element.min) return undefined;
    delete object[key];
    delete object[`_${key}`];
    return type;
  }),
  bad('extra property', ({ object, holder, elements }, random) => {
    const name = pick(
      ['zz', 'Id', 'constructor', 'toString', 'extensio', '_extension', 'fhir_comments', 'resourcetype'],
      random,
    );
    if (elements.some((element) => element.name === name)) return undefined;
    object[name] = pick<unknown>(['x', 1, [], {}, null], random);
    return `${holder.name}.${name}`;
  }),
  bad('resourceType in a datatype', ({ object, holder, elements }) => {
    if (holder.kind === 'resource' || elements.some(({ name }) => name === 'resourceType')) return undefined;
    object['resourceType'] = holder.name;
    return holder.name;
  }),
  bad('type that a choice lacks', ({ object, element, key }) => {
    if (!element.choice || element.types.includes('Meta')) return undefined;
    object[choiceKey(element.name, 'Narrative')] = object[key];
    delete object[key];
    delete object[`_${key}`];
    return element.name;
  }),
  bad('wrong JSON type', (slot, random) => {
    const value = firstOf(slot);
    const other = pick(
      [1, 'x', true, { id: 'x' }, [['x']]].filter((one) => typeof one !== typeof value),
      random,
    );
    return replace(slot, other);
  }),
  bad('bad primitive', (slot, random) => {
    // Ids of elements are text, whatever the type in the definition.
    const pool = slot.isPrimitive ? BAD[slot.type] : undefined;
    return pool && `${slot.type} ${replace(slot, pick(pool, random))}`;
  }),
  bad('one value in an array', ({ object, element, key }) => {
    if (element.max === '*') return undefined;
    object[key] = [object[key]];
    return '';
  }),
  bad('repeating element without array', ({ object, element, key, path }) => {
    if (element.max !== '*') return undefined;
    object[key] = [object[key]].flat()[0];
    return path.join('.');
  }),
  bad('empty array', ({ object, element, key }) => {
    if (element.max !== '*') return undefined;
    object[key] = [];
    return '';
  }),
  bad('empty object', (slot) => (slot.isPrimitive ? undefined : replace(slot, {}))),
  bad('empty string', (slot) => (typeof firstOf(slot) === 'string' ? `${slot.type} ${replace(slot, '')}` : undefined)),
  bad('null', ({ object, key }) => {
    object[key] = null;
    return '';
  }),
  bad('null in an array', ({ object, element, key }) => {
    if (element.max !== '*' || object[`_${key}`] !== undefined) return undefined;
    (object[key] as unknown[]).push(null);
    return '';
  }),
  bad('two types of a choice', ({ object, element, key }, random) => {
    const others = element.types.filter((type) => choiceKey(element.name, type) !== key && GOOD[type]);
    if (!element.choice || others.length === 0) return undefined;
    const type = pick(others, random);
    object[choiceKey(element.name, type)] = pick(GOOD[type]!, random);
    return type;
  }),
  bad('siblings not aligned', ({ object, element, key, isPrimitive }, random) => {
    if (!isPrimitive || element.max !== '*') return undefined;
    const length = (object[key] as unknown[]).length + pick([1, 2], random);
    object[`_${key}`] = Array.from({ length }, () => ({ extension: [EXTENSION] }));
    return '';
  }),
  bad('malformed sibling', (slot, random) => {
    if (!hasSibling(slot)) return undefined;
    const sibling = pick<unknown>([{}, 'x', null, 1, [], { foo: 1 }, { extension: [] }, { extension: {} }], random);
    slot.object[`_${slot.key}`] = sibling;
    return JSON.stringify(sibling);
  }),
  bad('sibling with an id for a value', (slot) => {
    if (!hasSibling(slot) || slot.element.max === '*') return undefined;
    delete slot.object[slot.key];
    slot.object[`_${slot.key}`] = { id: 'x' };
    return '';
  }),
  bad('sibling where there are no extensions', ({ object, element, key, isPrimitive, holder }) => {
    if (isPrimitive && !isPlain({ element, holder })) return undefined;
    object[`_${key}`] = { extension: [EXTENSION] };
    return key;
  }),
  bad('malformed extension', ({ object, elements }, random) => {
    if (!elements.some(({ name }) => name === 'extension')) return undefined;
    const { url } = EXTENSION;
    const forms: readonly object[] = [
      { url },
      { url, valueString: 'x', extension: [EXTENSION] },
      { url, extension: [{ url }] },
      { valueString: 'x' },
      { url, valueHumanname: {} },
      { url: 1, valueString: 'x' },
    ];
    const at = Math.floor(random() * forms.length);
    object['extension'] = [...((object['extension'] as unknown[] | undefined) ?? []), structuredClone(forms[at])];
    return JSON.stringify(forms[at]);
  }),
  bad('not a resource', (slot, random) => {
    const { object, elements, type } = slot;
    const forms = [
      { resourceType: 'HumanName', family: 'x' },
      { id: 'x' },
      'x',
      { resourceType: 1 },
      { resourceType: 'Resource' },
    ];
    const form = pick(forms, random);
    if (type === 'Resource') return replace(slot, form);
    if (!elements.some(({ name }) => name === 'contained') || object['contained'] !== undefined) return undefined;
    object['contained'] = [form];
    return JSON.stringify(form);
  }),

  good('extension added', ({ object, elements, holder }) => {
    if (!elements.some(({ name }) => name === 'extension')) return undefined;
    // An extension with a value has no extensions.
    if (holder.name === 'Extension' && object['extension'] === undefined) return undefined;
    object['extension'] = [...((object['extension'] as unknown[] | undefined) ?? []), structuredClone(EXTENSION)];
    return '';
  }),
  good('id added to an element', ({ object, holder }, random) => {
    if (holder.kind === 'resource' || object['id'] !== undefined) return undefined;
    object['id'] = pick(['x', 'Observation.value[x]:y', 'a/b'], random);
    return '';
  }),
  good('extension for a value', (slot) => {
    if (!hasSibling(slot) || slot.element.max === '*') return undefined;
    delete slot.object[slot.key];
    slot.object[`_${slot.key}`] = { id: 'x', extension: [structuredClone(EXTENSION)] };
    return '';
  }),
  good('extension beside a value', (slot) => {
    if (!hasSibling(slot) || slot.element.max === '*') return undefined;
    slot.object[`_${slot.key}`] = { id: 'x' };
    return '';
  }),
  good('null filled up with extensions', ({ object, element, key, isPrimitive }) => {
    if (!isPrimitive || element.max !== '*' || object[`_${key}`] !== undefined) return undefined;
    const values = object[key] as unknown[];
    object[`_${key}`] = [...values.map(() => null), { extension: [structuredClone(EXTENSION)] }];
    values.push(null);
    return '';
  }),
  good('another value', (slot, random) => {
    const isElementId = slot.key === 'id' && slot.holder.kind !== 'resource';
    const pool = slot.isPrimitive ? GOOD[isElementId ? 'string' : slot.type] : undefined;
    return pool && replace(slot, pick(pool, random));
  }),
  good('contained resource', ({ object, elements }) => {
    if (!elements.some(({ name }) => name === 'contained') || object['contained'] !== undefined) return undefined;
    object['contained'] = [{ resourceType: 'Basic', id: 'x', code: { text: 'x' } }];
    return '';
  }),
];

function bad(kind: string, apply: Mutation['apply']): Mutation {
  return { kind, isValid: false, apply };
}

function good(kind: string, apply: Mutation['apply']): Mutation {
  return { kind, isValid: true, apply };
}

function hasSibling(slot: Slot): boolean {
  return slot.isPrimitive && !isPlain(slot);
}

/** Ids, urls of extensions and texts of narratives. */
function isPlain({ element, holder }: Pick<Slot, 'element' | 'holder'>): boolean {
  const isId = holder.kind === 'resource' && element.name === 'id';
  return isId || element.xml === 'attribute' || element.types.includes('xhtml');
}

function firstOf({ object, key, element }: Slot): unknown {
  return element.max === '*' ? (object[key] as unknown[])[0] : object[key];
}

/** Puts another value in the place of the first. */
function replace({ object, key, element }: Slot, value: unknown): string {
  const holder = element.max === '*' ? (object[key] as unknown[] as unknown as Json) : object;
  holder[element.max === '*' ? 0 : key] = value;
  return JSON.stringify(value);
}
