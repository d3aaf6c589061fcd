import type { IndexEntry, ReferenceEntry } from '../../../runtime/indexing/entry.js';
import type { Condition } from '../../../runtime/search/query/query.js';
import { composite, number, of, reference, text, token, uri } from './behaviour-search-helpers.js';

/** What a condition on a type finds: ids in their order, with a space between. */
export type LinkFinding = readonly [what: string, type: string, where: Condition, ids: string];

/** Resources that refer to each other by type and id, and what is found among them. */
export interface LinkCase {
  readonly name: string;
  readonly resources: Readonly<Record<string, readonly IndexEntry[]>>;
  /** Those of them, or others, that are deleted afterwards. */
  readonly deleted?: readonly string[];
  /** Those that are deleted, then written again with other entries. */
  readonly revived?: Readonly<Record<string, readonly IndexEntry[]>>;
  readonly findings: readonly LinkFinding[];
}

type Place = { readonly [field in keyof ReferenceEntry]?: ReferenceEntry[field] };

/** A reference of a parameter to `Type/id`, or to what else a place says. */
export function ref(param: string, to: string | Place): IndexEntry {
  if (typeof to !== 'string') return of(param, reference(to));
  const [type, id] = to.split('/');
  return of(param, reference({ type, id }));
}

export const named = (name: string): IndexEntry => of('name', text(name));
export const coded = (code: string): IndexEntry => of('code', token(code));
/** The name and the version of what canonicals lead to. */
export const known = (url: string, ...versions: string[]): IndexEntry[] => [
  of('url', uri(url)),
  ...versions.map((version) => of('version', token(version))),
];

export const all = (...conditions: Condition[]): Condition => ({ all: conditions });
export const some = (...conditions: Condition[]): Condition => ({ some: conditions });
export const not = (condition: Condition): Condition => ({ not: condition });
export const name = (folded: string): Condition => ({ param: 'name', any: [{ is: 'string-begins', folded }] });
export const code = (value: string): Condition => ({ param: 'code', any: [{ is: 'token', code: value }] });
export const ids = (...list: string[]): Condition => ({ ids: list });
export const ANY = all();
export const NONE = some();

/** A chain to types, with one condition for all of them. */
export const chain = (param: string, types: string, where: Condition): Condition => ({
  param,
  chain: types.split(' ').map((type) => ({ type, where })),
});

export const has = (type: string, param: string, where: Condition): Condition => ({ has: { type, param, where } });

const PEOPLE: LinkCase = {
  name: 'by type and id',
  resources: {
    'Organization/o1': [named('acme'), ref('part-of', 'Organization/o2')],
    'Organization/o2': [named('bolt'), ref('part-of', 'Organization/o3'), of('size', number(5))],
    'Organization/o3': [named('core'), ref('part-of', 'Organization/o3')],
    'Organization/o4': [named('dead'), ref('part-of', 'Organization/o1')],
    'Organization/o5': [named('old'), ref('part-of', 'Organization/o1')],
    'Organization/x': [named('shared')],
    'Patient/p1': [named('ann'), ref('organization', 'Organization/o1')],
    'Patient/p2': [named('bob'), ref('organization', { type: 'Organization', id: 'o2', version: '1' }), ref('link', 'Patient/p1')], // prettier-ignore
    'Patient/p3': [named('cid'), ref('organization', 'Organization/o4')],
    'Patient/p4': [named('ann'), ref('organization', { type: 'Organization', id: 'o1', base: 'http://x/fhir' })],
    'Patient/p5': [named('dot'), ref('organization', 'Organization/o5'), ref('organization', 'Organization/o3')],
    'Patient/p6': [ref('organization', 'Organization/o9')],
    'Patient/x': [named('shared'), ref('organization', 'Organization/x'), ref('link', 'Patient/x')],
    'Group/g1': [named('ann'), ref('member', 'Patient/p1'), ref('member', 'Patient/p2'), ref('member', 'Device/x')],
    'Group/x': [named('shared'), ref('member', 'Patient/p3')],
    'Observation/a': [coded('c1'), ref('subject', 'Patient/p1')],
    'Observation/b': [coded('c1'), coded('c2'), ref('subject', 'Patient/p2'), ref('performer', 'Organization/o2')],
    'Observation/c': [coded('c2'), ref('subject', 'Group/g1')],
    'Observation/d': [coded('c2'), ref('subject', 'Patient/p4'), ref('performer', 'Patient/p1')],
    'Observation/e': [coded('c1')],
    'Observation/f': [coded('c3'), ref('subject', 'Patient/x')],
    'Observation/g': [coded('c3'), ref('subject', 'Group/x')],
    'Observation/h': [coded('c1'), ref('subject', { type: 'Patient', identifier: { value: 'p1' } })],
    'Observation/i': [coded('c1'), ref('subject', 'Patient/p6'), ref('performer', 'Organization/o1')],
    'Observation/j': [coded('c1'), ref('subject', { type: 'Patient', id: 'p1', base: 'http://x' })],
    'Observation/k': [coded('c9'), ref('subject', 'Patient/p1')],
    'Observation/l': [coded('c2'), ref('subject', 'Patient/p3'), ref('subject', { type: 'Patient', id: 'p2', version: '7' })], // prettier-ignore
    'Observation/m': [coded('c1'), of('both', composite([reference({ type: 'Patient', id: 'p1' })], [token('z')]))],
  },
  deleted: ['Organization/o4', 'Observation/k'],
  revived: { 'Organization/o5': [named('new'), ref('part-of', 'Organization/x')] },
  findings: [
    ['a chain to one type', 'Observation', chain('subject', 'Patient', name('ann')), 'a d'],
    ['a chain to another', 'Observation', chain('subject', 'Group', name('ann')), 'c'],
    ['a chain to several types', 'Observation', chain('subject', 'Patient Group', name('ann')), 'a c d'],
    ['types that have no resources', 'Observation', chain('subject', 'Device Group Nothing', name('ann')), 'c'],
    ['a type that has none', 'Observation', chain('subject', 'Nothing', ANY), ''],
    ['other conditions for other types', 'Observation', { param: 'subject', chain: [{ type: 'Patient', where: name('bob') }, { type: 'Group', where: name('shared') }] }, 'b g l'], // prettier-ignore
    ['an id that is there in two types', 'Observation', chain('subject', 'Patient', name('shared')), 'f'],
    ['of another parameter', 'Observation', chain('performer', 'Patient', name('ann')), 'd'],
    ['a parameter that nothing has', 'Observation', chain('none', 'Patient', ANY), ''],
    ['any target that lives', 'Observation', chain('subject', 'Patient Group', ANY), 'a b c d f g i l'],
    ['any target, of a type', 'Observation', chain('subject', 'Group', ANY), 'c g'],
    ['no target', 'Observation', chain('subject', 'Patient Group', NONE), ''],
    ['ids of the target', 'Observation', chain('subject', 'Patient', ids('p2', 'p6', 'g1')), 'b i l'],
    ['ids of a deleted one', 'Patient', chain('organization', 'Organization', ids('o4', 'o9')), ''],
    ['when the target was written', 'Observation', chain('subject', 'Group', { updated: [{ low: { gte: 0 } }] }), 'c g'], // prettier-ignore
    ['when it was not', 'Observation', chain('subject', 'Group', { updated: [{ low: { lt: 0 } }] }), ''],
    ['what the target lacks', 'Observation', chain('subject', 'Patient', not({ param: 'name', present: 'string' })), 'i'], // prettier-ignore
    ['a target that is not so', 'Observation', chain('subject', 'Patient', not(name('ann'))), 'b f i l'],
    ['no target that is so', 'Observation', not(chain('subject', 'Patient', name('ann'))), 'b c e f g h i j l m'],
    ['a reference of two', 'Observation', chain('subject', 'Patient', name('cid')), 'l'],
    ['two of one target', 'Observation', chain('subject', 'Patient', all(name('bob'), name('cid'))), ''],
    ['two of two targets', 'Observation', all(chain('subject', 'Patient', name('bob')), chain('subject', 'Patient', name('cid'))), 'l'], // prettier-ignore
    ['a deleted target', 'Patient', chain('organization', 'Organization', name('dead')), ''],
    ['the same name elsewhere', 'Patient', chain('organization', 'Organization', name('acme')), 'p1'],
    ['a version in the reference', 'Patient', chain('organization', 'Organization', name('bolt')), 'p2'],
    ['a revived target, as it was', 'Patient', chain('organization', 'Organization', name('old')), ''],
    ['a revived target, as it is', 'Patient', chain('organization', 'Organization', name('new')), 'p5'],
    ['the resource itself', 'Organization', chain('part-of', 'Organization', name('core')), 'o2 o3'],
    ['itself, again and again', 'Organization', chain('part-of', 'Organization', chain('part-of', 'Organization', chain('part-of', 'Organization', name('core')))), 'o1 o2 o3'], // prettier-ignore
    ['two links', 'Observation', chain('subject', 'Patient', chain('organization', 'Organization', name('acme'))), 'a'],
    ['three links', 'Observation', chain('subject', 'Patient', chain('organization', 'Organization', chain('part-of', 'Organization', name('bolt')))), 'a'], // prettier-ignore
    ['three links over several types', 'Observation', { param: 'subject', chain: [{ type: 'Patient', where: chain('organization', 'Organization', name('acme')) }, { type: 'Group', where: chain('member', 'Patient', chain('organization', 'Organization', name('bolt'))) }] }, 'a c'], // prettier-ignore
    ['a chain and a plain one', 'Observation', all(code('c2'), chain('subject', 'Patient', name('bob'))), 'b l'],
    ['a plain one and a chain', 'Observation', all(chain('subject', 'Patient', name('bob')), code('c1')), 'b'],
    ['some of a chain and a plain one', 'Observation', some(code('c3'), chain('subject', 'Patient', name('bob'))), 'b f g l'], // prettier-ignore
    ['some of two chains', 'Observation', some(chain('performer', 'Organization', name('acme')), chain('subject', 'Group', name('ann'))), 'c i'], // prettier-ignore
    ['a chain that it must not be', 'Observation', all(code('c1'), not(chain('subject', 'Patient', ANY))), 'e h j m'],
    ['some inside a chain', 'Observation', chain('subject', 'Patient', some(name('bob'), chain('organization', 'Organization', name('acme')))), 'a b l'], // prettier-ignore
    ['all inside a chain', 'Observation', chain('subject', 'Patient', all(name('ann'), chain('organization', 'Organization', ANY))), 'a'], // prettier-ignore
    ['not a chain inside a chain', 'Observation', chain('subject', 'Patient', not(chain('organization', 'Organization', ANY))), 'd i l'], // prettier-ignore
    ['not, twice', 'Observation', not(not(chain('subject', 'Group', name('ann')))), 'c'],
    ['a parameter of the target of the same name', 'Observation', chain('subject', 'Patient', code('c1')), ''],
    ['a type that is the own one', 'Patient', chain('link', 'Patient', name('ann')), 'p2'],
    ['the same twice', 'Observation', some(chain('subject', 'Patient', name('bob')), chain('subject', 'Patient', name('bob'))), 'b l'], // prettier-ignore

    ['has', 'Patient', has('Observation', 'subject', code('c1')), 'p1 p2 p6'],
    ['has, of another type', 'Group', has('Observation', 'subject', code('c2')), 'g1'],
    ['has, an id that is there in two types', 'Group', has('Observation', 'subject', code('c3')), 'x'],
    ['has, by another parameter', 'Organization', has('Observation', 'performer', code('c1')), 'o1 o2'],
    ['has, of a parameter that nothing has', 'Patient', has('Observation', 'none', ANY), ''],
    ['has, of a type without resources', 'Patient', has('Nothing', 'subject', ANY), ''],
    ['has any', 'Patient', has('Observation', 'subject', ANY), 'p1 p2 p3 p4 p6 x'],
    ['has none', 'Patient', not(has('Observation', 'subject', ANY)), 'p5'],
    ['has nothing', 'Patient', has('Observation', 'subject', NONE), ''],
    ['has one that is deleted', 'Patient', has('Observation', 'subject', code('c9')), ''],
    ['has an id', 'Patient', has('Observation', 'subject', ids('a', 'l', 'k', 'zz')), 'p1 p2 p3'],
    ['has one that is not so', 'Patient', has('Observation', 'subject', not(code('c1'))), 'p2 p3 p4 x'],
    ['has none that is so', 'Patient', not(has('Observation', 'subject', code('c1'))), 'p3 p4 p5 x'],
    ['has one that is both', 'Patient', has('Observation', 'subject', all(code('c1'), code('c2'))), 'p2'],
    ['has two, one for each', 'Patient', all(has('Observation', 'subject', code('c1')), has('Observation', 'subject', code('c2'))), 'p2'], // prettier-ignore
    ['has one of two', 'Patient', some(has('Observation', 'performer', ANY), has('Group', 'member', ANY)), 'p1 p2 p3'],
    ['has itself', 'Patient', has('Patient', 'link', name('shared')), 'x'],
    ['has another of its type', 'Patient', has('Patient', 'link', ANY), 'p1 x'],
    ['has, and a plain one', 'Patient', all(name('ann'), has('Observation', 'subject', code('c2'))), 'p4'],
    ['has, or a plain one', 'Patient', some(name('dot'), has('Observation', 'subject', code('c3'))), 'p5 x'],
    ['nested has', 'Organization', has('Patient', 'organization', has('Observation', 'subject', code('c1'))), 'o1 o2'],
    ['nested has, of three', 'Organization', has('Organization', 'part-of', has('Patient', 'organization', has('Observation', 'subject', code('c2')))), 'o3'], // prettier-ignore
    ['has one that has none', 'Organization', has('Patient', 'organization', not(has('Observation', 'subject', ANY))), 'o3 o5'], // prettier-ignore
    ['a chain in has', 'Patient', has('Group', 'member', chain('member', 'Patient', name('bob'))), 'p1 p2'],
    ['a chain in has, to other types', 'Patient', has('Observation', 'subject', chain('performer', 'Organization', name('acme'))), 'p6'], // prettier-ignore
    ['has in a chain', 'Observation', chain('subject', 'Patient', has('Group', 'member', name('ann'))), 'a b l'],
    ['has in a chain to several types', 'Observation', chain('subject', 'Patient Group', has('Observation', 'subject', code('c3'))), 'f g'], // prettier-ignore
    ['has in a chain in has', 'Organization', has('Patient', 'organization', chain('link', 'Patient', has('Observation', 'performer', ANY))), 'o2'], // prettier-ignore
    ['a chain and has', 'Patient', all(chain('organization', 'Organization', ANY), has('Observation', 'subject', code('c2'))), 'p2'], // prettier-ignore
    ['a chain, and has not', 'Patient', all(chain('organization', 'Organization', ANY), not(has('Observation', 'subject', ANY))), 'p5'], // prettier-ignore
    ['neither', 'Patient', not(some(chain('organization', 'Organization', ANY), has('Observation', 'subject', code('c1')))), 'p3 p4'], // prettier-ignore
    ['its id, and a chain', 'Observation', all(ids('a', 'b', 'c'), chain('subject', 'Patient', ANY)), 'a b'],
    ['its id, and has', 'Patient', all(ids('p3', 'p5', 'zz'), has('Observation', 'subject', ANY)), 'p3'],
  ],
};

/** A deep chain: each refers to the next. */
const DEPTH = 8;
const deep = (depth: number): Condition =>
  depth === 0 ? name('end') : chain('next', 'Node', deep(depth - 1)); // prettier-ignore
const deepHas = (depth: number): Condition =>
  depth === 0 ? name('begin') : has('Node', 'next', deepHas(depth - 1)); // prettier-ignore

const NODES: LinkCase = {
  name: 'as deep as chains go',
  resources: Object.fromEntries(
    Array.from({ length: DEPTH + 2 }, (_, n) => [
      `Node/n${n}`,
      [named(n === 0 ? 'begin' : n > DEPTH ? 'end' : 'between'), ref('next', `Node/n${n + 1}`), ref('next', 'Node/n0')],
    ]),
  ),
  findings: [
    ['a chain', 'Node', deep(DEPTH), 'n1'],
    ['has', 'Node', deepHas(DEPTH), 'n0 n1 n2 n3 n4 n5 n6 n7 n8'],
    ['has one that has nothing of the kind', 'Node', deepHas(1), 'n0 n1'],
    ['a chain of two', 'Node', deep(2), 'n7'],
  ],
};

const CANONICALS: LinkCase = {
  name: 'by canonicals',
  resources: {
    'Plan/q1': [...known('http://q', '1'), named('one'), coded('p')],
    'Plan/q2': [...known('http://q', '2'), named('two'), coded('p')],
    'Plan/q3': [...known('http://q'), named('three')],
    'Plan/q4': [...known('http://r', '1'), named('four')],
    'Plan/q5': [...known('http://q', '3'), named('five')],
    'Plan/q6': [of('source', uri('http://q')), of('version', token('1')), named('six')],
    'Plan/q7': [...known('http://m', '1', '2'), ...known('http://n'), named('seven')],
    'Plan/q8': [...known('http://v'), of('other', token('1')), of('version', text('1')), named('eight')],
    'Plan/q9': [of('url', text('http://q')), of('url', token('http://q')), named('nine')],
    'Other/w1': [...known('http://q', '1'), named('other'), ref('plan', { url: 'http://q' })],
    'Answer/a': [ref('plan', { url: 'http://q' })],
    'Answer/b': [ref('plan', { url: 'http://q', version: '1' })],
    'Answer/c': [ref('plan', { url: 'http://q', version: '9' })],
    'Answer/d': [ref('plan', { url: 'http://r', version: '1' })],
    'Answer/e': [ref('plan', { url: 'http://r', version: '2' })],
    'Answer/f': [ref('plan', { url: 'http://q', version: '3' })],
    'Answer/g': [ref('plan', { url: 'http://q', type: 'Plan' })],
    'Answer/h': [ref('plan', { url: 'http://q', type: 'Other' })],
    'Answer/i': [ref('plan', { url: 'http://r', fragment: 'f' })],
    'Answer/j': [ref('plan', 'Plan/q3')],
    'Answer/k': [ref('plan', { url: 'http://Q' })],
    'Answer/l': [ref('plan', { url: 'http://q', version: '2' }), ref('plan', { url: 'http://r', version: '1' })],
    'Answer/m': [ref('plan', { url: 'http://m', version: '2' })],
    'Answer/n': [ref('plan', { url: 'http://n', version: '1' })],
    'Answer/o': [ref('plan', { url: 'http://v', version: '1' })],
    'Answer/p': [ref('plan', { url: 'http://q', identifier: { value: 'v' } }), coded('x')],
    'Answer/q': [ref('other', { url: 'http://q' })],
    'Answer/r': [of('plan', uri('http://q'))],
  },
  deleted: ['Plan/q5'],
  findings: [
    ['without a version, whichever there is', 'Answer', chain('plan', 'Plan', name('two')), 'a g l p'],
    ['with a version that one', 'Answer', chain('plan', 'Plan', name('one')), 'a b g p'],
    ['with a version, never one without', 'Answer', chain('plan', 'Plan', name('three')), 'a g j p'],
    ['another url', 'Answer', chain('plan', 'Plan', name('four')), 'd i l'],
    ['a deleted one', 'Answer', chain('plan', 'Plan', name('five')), ''],
    ['what is no url', 'Answer', chain('plan', 'Plan', some(name('six'), name('nine'))), ''],
    ['several versions and urls of one', 'Answer', chain('plan', 'Plan', name('seven')), 'm n'],
    ['what is no version', 'Answer', chain('plan', 'Plan', name('eight')), ''],
    ['another type', 'Answer', chain('plan', 'Other', ANY), 'a b h p'],
    ['either type', 'Answer', chain('plan', 'Plan Other', ANY), 'a b d g h i j l m n p'],
    ['neither', 'Answer', not(chain('plan', 'Plan Other', ANY)), 'c e f k o q r'],
    ['several of one url', 'Answer', chain('plan', 'Plan', code('p')), 'a b g l p'],
    ['its id', 'Answer', chain('plan', 'Plan', ids('q1', 'q4')), 'a b d g i l p'],
    ['has, by canonicals', 'Plan', has('Answer', 'plan', ANY), 'q1 q2 q3 q4 q7'],
    ['has, by one with a version', 'Plan', has('Answer', 'plan', ids('b')), 'q1'],
    ['has, by one without', 'Plan', has('Answer', 'plan', ids('a')), 'q1 q2 q3'],
    ['has, by one that names a type', 'Plan', has('Answer', 'plan', ids('g')), 'q1 q2 q3'],
    ['has, by one that names another', 'Plan', has('Answer', 'plan', ids('h')), ''],
    ['has, by one that names its type', 'Other', has('Answer', 'plan', ids('h')), 'w1'],
    ['has, by two', 'Plan', has('Answer', 'plan', ids('l')), 'q2 q4'],
    ['has, by a place', 'Plan', has('Answer', 'plan', ids('j')), 'q3'],
    ['has, by an identifier too', 'Plan', has('Answer', 'plan', code('x')), 'q1 q2 q3'],
    ['has none', 'Plan', not(has('Answer', 'plan', ANY)), 'q6 q8 q9'],
    ['has, from both types', 'Plan', all(has('Other', 'plan', ANY), has('Answer', 'plan', ids('b', 'l'))), 'q1 q2'],
    ['itself by its url', 'Other', chain('plan', 'Other', name('other')), 'w1'],
    ['has itself by its url', 'Other', has('Other', 'plan', name('other')), 'w1'],
    ['a chain to what others refer to', 'Answer', chain('plan', 'Plan', has('Answer', 'plan', ids('l'))), 'a d g i l p'], // prettier-ignore
  ],
};

const HOSTILE = [
  "'; DROP TABLE resource; --",
  '$gt',
  'a.b',
  '%',
  '_',
  'Type/id',
  '{"$ne":1}',
  'ä\u{1f525}',
  '|1',
  '\\',
];

const TEXTS: LinkCase = {
  name: 'by hostile texts',
  resources: {
    ...Object.fromEntries(HOSTILE.map((text, n) => [`Plan/h${n}`, [...known(text, text), coded(`n${n}`)]])),
    ...Object.fromEntries(
      HOSTILE.map((text, n) => [`Answer/h${n}`, [ref('plan', { url: text, version: text }), coded(text)]]),
    ),
    'Answer/z': HOSTILE.map((text, n) => ref('plan', { url: text, version: HOSTILE[(n + 1) % HOSTILE.length]! })),
  },
  findings: [
    ...HOSTILE.map((text, n): LinkFinding => [text, 'Answer', chain('plan', 'Plan', code(`n${n}`)), `h${n}`]),
    ...HOSTILE.map((text, n): LinkFinding => [text, 'Plan', has('Answer', 'plan', code(text)), `h${n}`]),
    ['has what refers to nothing', 'Plan', has('Answer', 'plan', ids('z')), ''],
    ['params that mean something', 'Answer', chain('$where', 'Plan', ANY), ''],
    ['types that mean something', 'Answer', chain('plan', "Plan'--", ANY), ''],
    ['has params that mean something', 'Plan', has('Answer', "pl'an", ANY), ''],
  ],
};

/** https://hl7.org/fhir/R5/search.html#chaining, #has: what links find, and what they must not. */
/** Each of these has its value, and its reference, twice. */
const TWICE: LinkCase = {
  name: 'of what has a value twice',
  resources: {
    'Ward/w': [coded('x'), coded('x'), ...known('http://w'), ...known('http://w')],
    'Bed/a': [ref('ward', 'Ward/w'), ref('ward', 'Ward/w'), coded('y'), coded('y')],
    'Bed/b': [ref('ward', { url: 'http://w' }), ref('ward', 'Ward/w'), coded('y')],
    'Sheet/s': [ref('bed', 'Bed/a'), ref('bed', 'Bed/b'), ref('bed', 'Bed/a')],
  },
  findings: [
    ['a chain', 'Bed', chain('ward', 'Ward', code('x')), 'a b'],
    ['a chain of two', 'Sheet', chain('bed', 'Bed', chain('ward', 'Ward', code('x'))), 's'],
    ['has', 'Ward', has('Bed', 'ward', code('y')), 'w'],
    ['has one that has', 'Ward', has('Bed', 'ward', has('Sheet', 'bed', ANY)), 'w'],
    ['a chain to one that has', 'Sheet', chain('bed', 'Bed', has('Sheet', 'bed', ANY)), 's'],
  ],
};

export const LINK_CASES: readonly LinkCase[] = [PEOPLE, NODES, CANONICALS, TEXTS, TWICE];
