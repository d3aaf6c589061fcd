import type { IndexEntry } from '../../../runtime/indexing/entry.js';
import type { IncludeDirective } from '../../../runtime/store/store.js';
import { of, token } from './behaviour-search-helpers.js';
import { known, named, ref, type LinkCase } from './behaviour-search-link-cases.js';

/** What comes with a page. */
export interface IncludeCase {
  readonly what: string;
  /** `Type/id+id`, or `Type/*` for all. */
  readonly page: string;
  readonly include: readonly IncludeDirective[];
  /** `Type/id` for the first version, or `Type/id/version`; in any order. */
  readonly expected: readonly string[];
  readonly most?: number;
  readonly rounds?: number;
  readonly cut?: 'most' | 'rounds';
}

/** A directive of one parameter: `Source:param`, or `< Source:param` for those that refer to the page. */
export function directive(text: string, more: Partial<IncludeDirective> = {}): IncludeDirective {
  const [, reverse, source, params] = /^(< )?(\w+):(.*)$/.exec(text)!;
  return { isReverse: reverse !== undefined, source: source!, params: params!.split('+'), iterates: false, ...more };
}

export const next = (to: string): IndexEntry[] => [ref('next', to)];

/** Resources that refer to each other; `Organization/o1` gets a second version afterwards. */
export const INCLUDED_RESOURCES: LinkCase = {
  name: 'includes',
  resources: {
    'Organization/o1': [named('acme'), ref('part-of', 'Organization/o3')],
    'Organization/o2': [named('bolt'), ref('part-of', 'Organization/o3')],
    'Organization/o3': [named('core'), ref('part-of', 'Organization/o1')],
    'Organization/o4': [named('dead'), ref('part-of', 'Organization/o1')],
    'Organization/o5': [named('own'), ref('part-of', 'Organization/o5')],
    'Practitioner/d1': [named('doe')],
    'Practitioner/d2': [named('dent')],
    'Patient/p1': [ref('organization', 'Organization/o1'), ref('gp', 'Practitioner/d1'), ref('gp', 'Organization/o2')],
    'Patient/p2': [ref('organization', { type: 'Organization', id: 'o1', version: '1' }), ref('gp', 'Practitioner/d1')],
    'Patient/p3': [ref('organization', 'Organization/o9'), ref('organization', 'Organization/o4')],
    'Patient/p4': [ref('organization', { type: 'Organization', id: 'o1', base: 'http://x' }), ref('link', 'Patient/p4'), ref('link', 'Patient/p1')], // prettier-ignore
    'Patient/p5': [ref('organization', { type: 'Organization', id: 'o2', version: '1' })],
    'Patient/p6': [ref('organization', { type: 'Organization', id: 'o1', version: '9' }), ref('organization', { type: 'Organization', id: 'o2', version: 'x' })], // prettier-ignore
    'Patient/p7': [ref('organization', { type: 'Organization', id: 'o4', version: '1' }), ref('gp', { type: 'Organization', id: 'o4', version: '2' })], // prettier-ignore
    'Patient/p8': [ref('organization', 'Organization/o1'), ref('organization', { type: 'Organization', id: 'o1', version: '2' })], // prettier-ignore
    'Patient/p9': [ref('link', { type: 'Patient', id: 'p9', version: '1' }), ref('gp', { type: 'Organization', identifier: { value: 'o1' } })], // prettier-ignore
    'Group/g1': [ref('member', 'Patient/p1'), ref('member', 'Patient/p5'), ref('member', 'Device/p1')],
    'Device/p1': [],
    'Observation/a': [ref('subject', 'Patient/p1')],
    'Observation/b': [ref('subject', { type: 'Patient', id: 'p1', version: '7' }), ref('performer', 'Practitioner/d2')],
    'Observation/c': [ref('subject', 'Patient/p2'), ref('performer', 'Patient/p1')],
    'Observation/d': [ref('subject', 'Group/g1'), ref('from', 'Observation/a')],
    'Observation/e': [ref('subject', 'Device/p1'), ref('from', 'Observation/d')],
    'Observation/f': [ref('subject', { type: 'Patient', id: 'p1', base: 'http://x' }), ref('from', 'Observation/e')],
    'Observation/g': [ref('subject', 'Patient/p1')],
    'Plan/q1': [...known('http://q', '1')],
    'Plan/q2': [...known('http://q', '2')],
    'Plan/q3': [...known('http://q', '3')],
    'Plan/q4': [...known('http://r', '1'), ref('after', { url: 'http://q' })],
    'Other/w1': [...known('http://q', '1')],
    'Answer/a': [ref('plan', { url: 'http://q' })],
    'Answer/b': [ref('plan', { url: 'http://q', version: '1' })],
    'Answer/c': [ref('plan', { url: 'http://q', version: '9' }), ref('plan', { url: 'http://none' })],
    'Answer/d': [ref('plan', { url: 'http://q', type: 'Other' }), of('plan', token('http://r'))],
    'Answer/e': [ref('plan', { url: 'http://r', version: '1' }), ref('plan', { url: 'http://r' })],
    'Answer/f': [ref('plan', 'Plan/q2')],
  },
  deleted: ['Organization/o4', 'Observation/g', 'Plan/q3'],
  findings: [],
};

const again = { iterates: true };

export const INCLUDE_CASES: readonly IncludeCase[] = [
  { what: 'what a reference leads to', page: 'Patient/p1', include: [directive('Patient:organization')], expected: ['Organization/o1/2'] }, // prettier-ignore
  { what: 'several references of one parameter', page: 'Patient/p1', include: [directive('Patient:gp')], expected: ['Practitioner/d1', 'Organization/o2'] }, // prettier-ignore
  { what: 'targets of a type', page: 'Patient/p1', include: [directive('Patient:gp', { targets: ['Practitioner', 'Device'] })], expected: ['Practitioner/d1'] }, // prettier-ignore
  { what: 'targets of no type', page: 'Patient/p1', include: [directive('Patient:gp', { targets: [] })], expected: [] },
  { what: 'several parameters', page: 'Patient/p1', include: [directive('Patient:organization+gp')], expected: ['Organization/o1/2', 'Practitioner/d1', 'Organization/o2'] }, // prettier-ignore
  { what: 'several directives', page: 'Patient/p1', include: [directive('Patient:gp'), directive('Patient:organization')], expected: ['Organization/o1/2', 'Practitioner/d1', 'Organization/o2'] }, // prettier-ignore
  { what: 'duplicates once', page: 'Patient/p1+p2', include: [directive('Patient:gp'), directive('Patient:gp', { targets: ['Practitioner'] })], expected: ['Practitioner/d1', 'Organization/o2'] }, // prettier-ignore
  { what: 'a parameter that it lacks', page: 'Patient/p1', include: [directive('Patient:link')], expected: [] },
  { what: 'a parameter of another type', page: 'Patient/p1', include: [directive('Observation:organization')], expected: [] }, // prettier-ignore
  { what: 'a version', page: 'Patient/p2', include: [directive('Patient:organization')], expected: ['Organization/o1/1'] }, // prettier-ignore
  { what: 'a version, and the current one', page: 'Patient/p1+p2', include: [directive('Patient:organization')], expected: ['Organization/o1/1', 'Organization/o1/2'] }, // prettier-ignore
  { what: 'a version that is the current one', page: 'Patient/p5', include: [directive('Patient:organization')], expected: ['Organization/o2'] }, // prettier-ignore
  { what: 'the current one, twice', page: 'Patient/p8', include: [directive('Patient:organization')], expected: ['Organization/o1/2'] }, // prettier-ignore
  { what: 'versions that nobody gave', page: 'Patient/p6', include: [directive('Patient:organization')], expected: [] },
  { what: 'the version that is named, of what is deleted too', page: 'Patient/p7', include: [directive('Patient:organization+gp')], expected: ['Organization/o4/1'] }, // prettier-ignore
  { what: 'what is not there, or deleted', page: 'Patient/p3', include: [directive('Patient:organization')], expected: [] }, // prettier-ignore
  { what: 'what is elsewhere', page: 'Patient/p4', include: [directive('Patient:organization')], expected: [] },
  { what: 'itself never', page: 'Patient/p4', include: [directive('Patient:link')], expected: ['Patient/p1'] },
  { what: 'its own version never', page: 'Patient/p9', include: [directive('Patient:link+gp')], expected: [] },
  { what: 'what is on the page never', page: 'Patient/*', include: [directive('Patient:link')], expected: [] },

  { what: 'those that refer to it', page: 'Patient/p1', include: [directive('< Observation:subject')], expected: ['Observation/a', 'Observation/b'] }, // prettier-ignore
  { what: 'those that refer to it by several parameters', page: 'Patient/p1', include: [directive('< Observation:subject+performer')], expected: ['Observation/a', 'Observation/b', 'Observation/c'] }, // prettier-ignore
  { what: 'several types that refer to it', page: 'Patient/p1', include: [directive('< Observation:subject'), directive('< Group:member'), directive('< Patient:link')], expected: ['Observation/a', 'Observation/b', 'Group/g1', 'Patient/p4'] }, // prettier-ignore
  { what: 'those that refer to the same id of another type', page: 'Device/p1', include: [directive('< Observation:subject'), directive('< Group:member')], expected: ['Observation/e', 'Group/g1'] }, // prettier-ignore
  { what: 'those that refer to any of the page, once', page: 'Patient/*', include: [directive('< Group:member'), directive('< Observation:subject')], expected: ['Group/g1', 'Observation/a', 'Observation/b', 'Observation/c'] }, // prettier-ignore
  { what: 'those that refer to a type that is not on the page', page: 'Patient/p1', include: [directive('< Observation:subject', { targets: ['Group'] })], expected: [] }, // prettier-ignore
  { what: 'those that refer to a type that is', page: 'Patient/p1', include: [directive('< Observation:subject', { targets: ['Group', 'Patient'] })], expected: ['Observation/a', 'Observation/b'] }, // prettier-ignore
  { what: 'those that refer to it, never itself', page: 'Patient/p4', include: [directive('< Patient:link')], expected: [] }, // prettier-ignore
  { what: 'forwards and backwards', page: 'Patient/p2', include: [directive('Patient:gp'), directive('< Observation:subject')], expected: ['Practitioner/d1', 'Observation/c'] }, // prettier-ignore

  { what: 'a canonical, all that it names', page: 'Answer/a', include: [directive('Answer:plan')], expected: ['Plan/q1', 'Plan/q2', 'Other/w1'] }, // prettier-ignore
  { what: 'a canonical, of a type', page: 'Answer/a', include: [directive('Answer:plan', { targets: ['Plan'] })], expected: ['Plan/q1', 'Plan/q2'] }, // prettier-ignore
  { what: 'a canonical with a version', page: 'Answer/b', include: [directive('Answer:plan')], expected: ['Plan/q1', 'Other/w1'] }, // prettier-ignore
  { what: 'canonicals that name nothing', page: 'Answer/c', include: [directive('Answer:plan')], expected: [] },
  { what: 'a canonical that names a type', page: 'Answer/d', include: [directive('Answer:plan')], expected: ['Other/w1'] }, // prettier-ignore
  { what: 'a canonical that names another type', page: 'Answer/d', include: [directive('Answer:plan', { targets: ['Plan'] })], expected: [] }, // prettier-ignore
  { what: 'two canonicals of one', page: 'Answer/e', include: [directive('Answer:plan')], expected: ['Plan/q4'] },
  { what: 'canonicals of many', page: 'Answer/*', include: [directive('Answer:plan')], expected: ['Plan/q1', 'Plan/q2', 'Plan/q4', 'Other/w1'] }, // prettier-ignore
  { what: 'those that refer to it by canonicals', page: 'Plan/q1', include: [directive('< Answer:plan'), directive('< Plan:after')], expected: ['Answer/a', 'Answer/b', 'Plan/q4'] }, // prettier-ignore
  { what: 'those that refer to it by canonicals and places', page: 'Plan/q2', include: [directive('< Answer:plan')], expected: ['Answer/a', 'Answer/f'] }, // prettier-ignore
  { what: 'those that refer to it by canonicals that name its type', page: 'Other/w1', include: [directive('< Answer:plan')], expected: ['Answer/a', 'Answer/b', 'Answer/d'] }, // prettier-ignore
  { what: 'canonicals, again and again', page: 'Answer/e', include: [directive('Answer:plan'), directive('Plan:after', again)], expected: ['Plan/q4', 'Plan/q1', 'Plan/q2', 'Other/w1'] }, // prettier-ignore

  { what: 'no further without :iterate', page: 'Observation/a', include: [directive('Observation:subject'), directive('Patient:organization')], expected: ['Patient/p1'] }, // prettier-ignore
  { what: 'further with :iterate', page: 'Observation/a', include: [directive('Observation:subject'), directive('Patient:organization', again)], expected: ['Patient/p1', 'Organization/o1/2'] }, // prettier-ignore
  { what: 'further, and in a circle', page: 'Observation/a', include: [directive('Observation:subject'), directive('Patient:organization', again), directive('Organization:part-of', again)], expected: ['Patient/p1', 'Organization/o1/2', 'Organization/o2', 'Organization/o3'] }, // prettier-ignore
  { what: 'in whatever order it is asked for', page: 'Observation/a', include: [directive('Organization:part-of', again), directive('Patient:organization', again), directive('Observation:subject')], expected: ['Patient/p1', 'Organization/o1/2', 'Organization/o2', 'Organization/o3'] }, // prettier-ignore
  { what: 'a circle of one', page: 'Organization/o5', include: [directive('Organization:part-of', again)], expected: [] }, // prettier-ignore
  { what: 'a circle that the page is part of', page: 'Organization/o1', include: [directive('Organization:part-of', again)], expected: ['Organization/o2', 'Organization/o3'] }, // prettier-ignore
  { what: 'a circle, backwards', page: 'Organization/o1', include: [directive('< Organization:part-of', again)], expected: ['Organization/o2', 'Organization/o3'] }, // prettier-ignore
  { what: 'backwards, again and again', page: 'Observation/a', include: [directive('< Observation:from', again)], expected: ['Observation/d', 'Observation/e', 'Observation/f'] }, // prettier-ignore
  { what: 'backwards, then forwards', page: 'Patient/p1', include: [directive('< Group:member'), directive('Group:member', again)], expected: ['Group/g1', 'Patient/p5', 'Device/p1'] }, // prettier-ignore
  { what: 'forwards, then backwards', page: 'Group/g1', include: [directive('Group:member', { targets: ['Patient'] }), directive('< Observation:subject', again)], expected: ['Patient/p1', 'Patient/p5', 'Observation/a', 'Observation/b', 'Observation/d'] }, // prettier-ignore
  { what: 'one round of it', page: 'Observation/a', include: [directive('< Observation:from', again)], rounds: 1, expected: ['Observation/d', 'Observation/e'], cut: 'rounds' }, // prettier-ignore
  { what: 'no more than there is, in as many rounds', page: 'Observation/a', include: [directive('< Observation:from', again)], rounds: 2, expected: ['Observation/d', 'Observation/e', 'Observation/f'] }, // prettier-ignore
  { what: 'no further from a version', page: 'Patient/p2', include: [directive('Patient:organization'), directive('Organization:part-of', again)], expected: ['Organization/o1/1'] }, // prettier-ignore
  { what: 'further from the current one, though its version came before', page: 'Patient/p5+p1', include: [directive('Patient:organization'), directive('Patient:gp'), directive('Organization:part-of', again)], expected: ['Practitioner/d1', 'Organization/o1/2', 'Organization/o2', 'Organization/o3'] }, // prettier-ignore
  { what: 'further from the current one, though both come from one', page: 'Patient/p8', include: [directive('Patient:organization'), directive('Organization:part-of', again)], expected: ['Organization/o1/2', 'Organization/o2', 'Organization/o3'] }, // prettier-ignore
];
