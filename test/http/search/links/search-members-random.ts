import { beforeAll, expect, it } from 'vitest';

import type { Store } from '../../../../runtime/store/store.js';
import { createRandom, seedOfRun, type Random } from '../../../contract/random.js';
import { idsOf, putAll, useWholeServer, type Sendable } from '../../search-server.js';

/** An entry of a List, Group or CareTeam, as the oracle knows it: it goes by nothing that the server wrote. */
interface Member {
  readonly type: string;
  readonly id: string;
  readonly isElsewhere: boolean;
  readonly isActive: boolean;
}

interface Listing {
  readonly type: string;
  readonly id: string;
  readonly members: readonly Member[];
}

const IDS = ['a', 'b', 'c', 'd', 'e', 'f'];
const TYPES = ['Patient', 'Practitioner'];
const PERIODS: readonly (readonly [period: object | undefined, holds: boolean])[] = [
  [undefined, true],
  [{ start: '1990' }, true],
  [{ start: '1990', end: '2999-12' }, true],
  [{ end: '2000-12-31' }, false],
  [{ start: '2999-01-01' }, false],
];

/** Element of the entries, of their references, and what says that one is none any more. */
const FORMS: Readonly<Record<string, (member: object, isGone: boolean, period: object | undefined) => object>> = {
  List: (item, deleted) => ({ item, ...(deleted && { deleted }) }),
  Group: (entity, inactive, period) => ({ entity, ...(inactive && { inactive }), ...(period && { period }) }),
  CareTeam: (member, _, period) => ({ member, ...(period && { coveragePeriod: period }) }),
};
const HEADS: Readonly<Record<string, readonly [entries: string, rest: object]>> = {
  List: ['entry', { status: 'current', mode: 'changes' }],
  Group: ['member', { type: 'person', membership: 'enumerated' }],
  CareTeam: ['participant', {}],
};

function drawListing(random: Random, type: string, id: string): { resource: Sendable; listing: Listing } {
  const [name, rest] = HEADS[type]!;
  const entries: object[] = [];
  const members = random.some(7, (): Member => {
    const [period, holds] = type === 'List' ? [undefined, true] : random.pick(PERIODS);
    const isGone = type !== 'CareTeam' && random.chance(0.3);
    const isElsewhere = random.chance(0.1);
    const named = { type: random.pick(TYPES), id: random.pick(IDS) };
    const reference = `${isElsewhere ? 'http://elsewhere.example.org/fhir/' : ''}${named.type}/${named.id}`;
    entries.push(FORMS[type]!({ reference }, isGone, period));
    return { ...named, isElsewhere, isActive: holds && !isGone };
  });
  const resource = { resourceType: type, id, ...rest, ...(entries.length > 0 && { [name]: entries }) };
  return { resource, listing: { type, id, members } };
}

/**
 * Random searches of `_list`, `_in`, `_in:not`, alone, together, with a filter, and over references (of contained resources too),
 * against what the entries say. https://hl7.org/fhir/R5/search.html#_in
 */
export function randomMemberSearches(data: Store, count: number): void {
  const server = useWholeServer({ store: data });
  const random = createRandom(seedOfRun());
  const drawn = Object.keys(FORMS).flatMap((type) => ['1', '2', '3', '4'].map((id) => drawListing(random, type, id)));
  const listings = drawn.map(({ listing }) => listing);
  const people = TYPES.flatMap((resourceType) => IDS.map((id, n) => ({ resourceType, id, active: n % 2 === 0 })));
  const observed = IDS.map((id) => ({
    resourceType: 'Observation',
    id: `of-${id}`,
    status: 'final',
    code: { text: 'x' },
    subject: { reference: `Patient/${id}` },
  }));

  /** The same within others. */
  const containers = observed.map((each) => ({
    resourceType: 'Basic',
    id: `in-${each.id}`,
    code: { text: 'x' },
    contained: [each],
  }));

  beforeAll(
    () => putAll(server, [...people, ...observed, ...containers, ...drawn.map(({ resource }) => resource)]),
    60_000,
  );

  /** Whether one of the listings has it; of those that are there more than once, one entry suffices. */
  function has(of: readonly Listing[], type: string, id: string, isActive: boolean): boolean {
    return of.some(({ members }) =>
      members.some((each) => each.type === type && each.id === id && !each.isElsewhere && (!isActive || each.isActive)),
    );
  }

  function drawCriterion(type: string): { text: string; finds: (id: string) => boolean } {
    const isList = random.chance(0.3);
    const pool = isList ? listings.filter((each) => each.type === 'List') : listings;
    const of = [random.pick(pool), ...random.some(3, () => random.pick(pool))];
    const isNot = !isList && random.chance(0.25);
    const names = of.map((each) => (isList && random.chance(0.5) ? each.id : `${each.type}/${each.id}`));
    if (random.chance(0.1)) names.push('List/none');
    const text = `${isList ? '_list' : isNot ? '_in:not' : '_in'}=${names.join(',')}`;
    return { text, finds: (id) => has(of, type, id, !isList) !== isNot };
  }

  it(`${count} random ones find what the entries say`, async () => {
    let fruitful = 0;
    for (let n = 0; n < count; n++) {
      const isChain = random.chance(0.25);
      const type = isChain ? 'Patient' : random.pick(TYPES);
      const criteria = [drawCriterion(type), ...(random.chance(0.3) && !isChain ? [drawCriterion(type)] : [])];
      const isFiltered = !isChain && random.chance(0.3);
      const found = IDS.filter((id, at) => criteria.every(({ finds }) => finds(id)) && (!isFiltered || at % 2 === 0));
      const asked = criteria.map(({ text }) => (isChain ? `subject:Patient.${text}` : text));
      if (isFiltered) asked.push('_filter=active%20eq%20true');
      const path = `/${isChain ? 'Observation' : type}?${asked.join('&')}&_total=accurate`;
      const shown = isChain ? random.pick(['', 'container', 'contained']) : '';
      const answer = await server.send('GET', shown === '' ? path : `${path}&_contained=true&_containedType=${shown}`);
      const expected = isChain ? found.map((id) => `${shown === 'container' ? 'in-' : ''}of-${id}`) : found;
      expect([answer.status, idsOf(answer).sort(), answer.json().total], `seed ${seedOfRun()}: ${path}`).toEqual([
        200,
        expected,
        expected.length,
      ]);
      if (expected.length > 0) fruitful++;
    }
    expect(fruitful).toBeGreaterThan(count / 4);
  }, 60_000);
}
