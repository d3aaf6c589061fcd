import type { Resource } from '../../../runtime/fhir/resource.js';
import type { FindQuery, IncludePlan, Store } from '../../../runtime/store/store.js';
import { createRandom, mrn, pick } from '../data/clinic.js';
import { toPut } from '../data/load-clinic.js';
import { readConditions } from '../data/read-conditions.js';
import { PAGE, toColumns, type ByHand } from './by-hand.js';

/** One piece of work; each has another serial. */
export type Work = (serial: number) => Promise<unknown>;

/** Work of the store, and the same by hand. */
export interface GoalRow {
  readonly name: string;
  readonly ours: Work;
  readonly theirs: Work;
  /** What is counted; absent: requests. */
  readonly unit?: string;
  /** How many of them one piece of work is. */
  readonly each?: number;
}

/** Observations come with their Patients. */
const PATIENTS: IncludePlan = {
  directives: [{ isReverse: false, source: 'Observation', params: ['subject'], iterates: false }],
  most: 1000,
  rounds: 1,
};

/** Entries of a transaction. */
const ENTRIES = 100;

/** What is compared: the requests that the goals of performance name. @param resources those that both sides hold */
export function goalRows(store: Store, byHand: ByHand, resources: readonly Resource[]): readonly GoalRow[] {
  const random = createRandom(3);
  const patients = resources.filter(({ resourceType }) => resourceType === 'Patient');
  const observations = resources.filter(({ resourceType }) => resourceType === 'Observation');
  const anyOf = (n: number): Resource => observations[n % observations.length]!;
  const anyId = (n: number): string => String(anyOf(n)['id']);
  const anyMrn = (): string => mrn(Math.floor(random() * patients.length));
  const anyCode = (): string => String(toColumns(pick(random, observations)).code);
  const { sameKeys } = byHand;
  const isOurs = openTurns(observations);
  const isTheirs = openTurns(observations);

  const find = (type: string, query: [string, string][], more: Partial<FindQuery> = {}) =>
    store.find({ type, where: { all: readConditions(type, query) }, sort: [], count: PAGE, total: 'cheap', ...more });
  const copies = (n: number): Resource[] =>
    Array.from({ length: ENTRIES }, (_, i) => ({ ...anyOf(n + i), id: `copy-${n}-${i}` }));

  return [
    {
      name: 'read',
      ours: (n) => store.read('Observation', anyId(n)),
      theirs: (n) => byHand.read('Observation', anyId(n)),
    },
    {
      name: 'search by identifier',
      ours: () => find('Patient', [['identifier', anyMrn()]]),
      theirs: () => byHand.find('Patient', 'mrn', anyMrn().split('|')[1]!),
    },
    {
      name: 'quantity',
      ours: () =>
        find('Observation', [
          ['code-value-quantity', 'http://loinc.org|8480-6$gt190|http://unitsofmeasure.org|mm[Hg]'],
        ]),
      theirs: () => byHand.quantity('8480-6', 'mm[Hg]', 190),
    },
    {
      name: 'chain of two',
      ours: () => find('Observation', [['encounter.subject:Patient.identifier', anyMrn()]]),
      theirs: () => byHand.chain(anyMrn().split('|')[1]!),
    },
    {
      name: '_include',
      ours: () => find('Observation', [['code', `http://loinc.org|${anyCode()}`]], { include: PATIENTS }),
      theirs: () => byHand.include(anyCode()),
    },
    {
      name: 'exact count of 7,000',
      ours: () => find('Observation', [['status', 'final']], { count: 0, total: 'accurate' }),
      theirs: () => byHand.count('final'),
    },
    {
      name: 'three pages of a code, by date',
      ours: async () => {
        const where = { all: readConditions('Observation', [['code', `http://loinc.org|${anyCode()}`]]) };
        const sort = [{ param: 'date', by: 'date', isDescending: true }] as const;
        let next: string | undefined;
        for (let i = 0; i < 3; i++) {
          const query: FindQuery = { type: 'Observation', where, sort, count: PAGE, total: 'none' };
          ({ next } = await store.find(next === undefined ? query : { ...query, after: next }));
        }
      },
      theirs: () => byHand.pagesByDate(anyCode(), 3),
    },
    // After the searches: what is to be done after writes is done then, beside what is measured next.
    {
      name: 'create',
      ours: (n) => store.write([toPut({ ...anyOf(n), id: `new-${n}` })]),
      theirs: (n) => byHand.create({ ...anyOf(n), id: `new-${n}` }),
    },
    ...(sameKeys === undefined
      ? []
      : [
          {
            name: 'create, by hand with the same keys of indexes',
            ours: (n: number) => store.write([toPut({ ...anyOf(n), id: `same-${n}` })]),
            theirs: sameKeys.create,
          },
        ]),
    {
      name: 'update',
      ours: async (n) => store.write([updateOf(isOurs(n))]),
      theirs: async (n) => {
        const { resource, version } = isTheirs(n);
        await byHand.update(resource, version);
      },
    },
    {
      name: 'update, by hand without a copy of the old version',
      ours: async (n) => store.write([updateOf(isOurs(n))]),
      theirs: async (n) => {
        const { resource, version } = isTheirs(n);
        await byHand.replace(resource, version);
      },
    },
    {
      name: 'history of a type',
      ours: () => store.history({ type: 'Observation', count: PAGE }),
      theirs: () => byHand.history('Observation'),
    },
    {
      name: 'history of the system',
      ours: () => store.history({ count: PAGE }),
      theirs: () => byHand.history(),
    },
    // The last, for they add many.
    {
      name: `a transaction of ${ENTRIES}`,
      unit: 'resources',
      each: ENTRIES,
      ours: (n) => store.write(copies(n).map(toPut)),
      theirs: (n) => byHand.transaction(copies(n)),
    },
    ...(sameKeys === undefined
      ? []
      : [
          {
            name: `a transaction of ${ENTRIES}, by hand with the same keys of indexes`,
            unit: 'resources',
            each: ENTRIES,
            ours: (n: number) => store.write(copies(n).map(toPut)),
            theirs: (n: number) => sameKeys.transaction(n, ENTRIES),
          },
        ]),
  ];
}

interface Turn {
  readonly resource: Resource;
  readonly version: number;
}

/** The next resource of a client that no other client updates, and the version that it has. */
function openTurns(resources: readonly Resource[]): (n: number) => Turn {
  const versions = new Map<Resource, number>();
  return (n) => {
    const resource = resources[n % resources.length]!;
    const version = versions.get(resource) ?? 1;
    versions.set(resource, version + 1);
    return { resource, version };
  };
}

function updateOf({ resource, version }: Turn) {
  return { ...toPut(resource), expected: version };
}
