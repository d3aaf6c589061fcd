import { describe, expect, it } from 'vitest';

import { projectionOf, type Member, type Projection, type Slot } from '../../../runtime/graphql/project/projection.js';
import { Projector } from '../../../runtime/graphql/project/projector.js';
import { createRandom, seedOfRun, type Random } from '../../contract/random.js';

type Json = Record<string, unknown>;

const NAMES = ['id', 'name', 'use', '_use', 'text', 'coding', 'period'];

function projection(members: readonly Partial<Member>[], constant?: string): Projection {
  const slots: Slot[] = members.map(() => ({ is: 'member' }));
  const all = members.map((each, slot): [string, Member] => {
    const name = each.name ?? '';
    return [name, { slot, head: `"${name}":`, isRenamed: false, isList: false, name, ...each }];
  });
  if (constant !== undefined) slots.push({ is: 'constant', text: constant });
  return projectionOf(new Map(all), slots);
}

function projected(wanted: Projection, text: string): string | undefined {
  const found = new Projector(wanted).project(text, 'X', '1');
  return found && `{${found.segments.filter((each) => each !== '').join(',')}}`;
}

describe('projector', () => {
  const wanted = projection([{ name: 'id' }, { name: 'name', isList: true, below: projection([{ name: 'use' }]) }]);

  it.each([
    ['{}', '{}'],
    ['{"id":"a"}', '{"id":"a"}'],
    ['{"name":[{"use":"x","text":"y"},{"text":"z"}],"id":"a"}', '{"id":"a","name":[{"use":"x"},{}]}'],
    ['{"id":"a","name":[null,{"use":1.50}]}', '{"id":"a","name":[null,{"use":1.50}]}'],
    ['{"id":null,"name":[]}', '{}'],
    ['{"text":"\\\\\\"}\\"","id":"{[\\\\"}', '{"id":"{[\\\\"}'],
    ['{"meta":{"a":[{"b":"]"}]},"id":1e3}', '{"id":1e3}'],
  ])('%s', (text, expected) => {
    expect(projected(wanted, text)).toBe(expected);
  });

  it.each([
    ['{ "id":"a"}', 'white space'],
    ['{"id": "a"}', 'white space before a value'],
    ['{"id":1 }', 'white space behind a value'],
    ['{"id":"a","id":"b"}', 'a name that comes twice'],
    ['{"name":{"use":"x"}}', 'one value where there are many'],
    ['{"name":["x"]}', 'a text where an object should be'],
    ['{"id":"a', 'no end'],
    ['{"a\\":1":2}', 'an escape in a name'],
    ['[]', 'a list'],
  ])('leaves %s to others: %s', (text) => {
    expect(projected(wanted, text)).toBeUndefined();
  });

  it('has segments around gaps, and the references at the ends of ways', () => {
    const gap = { is: 'gap', field: undefined as never } as const;
    const { members } = projection([{ name: 'id' }]);
    const ways = [{ names: ['party'], type: 'Patient' }, { names: ['other'] }];
    const subject = { name: 'subject', slot: -1, head: '', isRenamed: false, isList: false, ways };
    const slots: Slot[] = [{ is: 'member' }, gap, gap, { is: 'constant', text: '"__typename":"X"' }];
    const text =
      '{"id":"a","subject":[{"party":{"reference":"Patient\\/1"}},{"other":{"reference":{"reference":"#1"}}}]}';
    expect(
      new Projector(projectionOf(new Map([...members, ['subject', subject]]), slots)).project(text, 'X', '1'),
    ).toEqual({
      ...{ type: 'X', id: '1' },
      segments: ['"id":"a"', '', '"__typename":"X"'],
      references: ['Patient/1', '#1'],
      values: 1,
    });
  });

  const seed = seedOfRun();
  it(`selects what is selected from values (seed ${seed})`, () => {
    const random = createRandom(seed);
    for (let i = 0; i < 2000; i++) {
      const value = object(random, 0);
      const some = selection(random, value);
      const text = JSON.stringify(value);
      expect(projected(some, text), text).toBe(JSON.stringify(select(value, some)));
    }
  });
});

function object(random: Random, depth: number): Json {
  const names = NAMES.filter(() => random.chance(0.6)).sort(() => random.below(3) - 1);
  return Object.fromEntries(names.map((name) => [name, member(random, name, depth)]));
}

/** What it is depends on the name, as in FHIR. */
function member(random: Random, name: string, depth: number): unknown {
  if (name === 'coding' && depth < 3)
    return Array.from({ length: 1 + random.below(3) }, () => object(random, depth + 1));
  if (name === 'period' && depth < 3) return object(random, depth + 1);
  return random.pick(['', 'a', '"', '\\', '{"', ',"id":1', 'é€\u{1f600}\n', 0, -1.5, true, ['x', 'y']]);
}

function selection(random: Random, value: Json, depth = 0): Projection {
  const names = NAMES.filter(() => random.chance(0.6)).sort(() => random.below(3) - 1);
  const members = names.map((name): Partial<Member> => {
    const alias = random.chance(0.2) ? { isRenamed: true, head: `"${name}2":` } : {};
    const isNested = (name === 'coding' || name === 'period') && depth < 3;
    return {
      name,
      ...alias,
      isList: name === 'coding',
      ...(isNested && { below: selection(random, value, depth + 1) }),
    };
  });
  return projection(members, random.chance(0.1) ? '"__typename":"T"' : undefined);
}

function select(value: Json, { members, slots }: Projection): Json {
  const found: Json = {};
  for (const { name, head, below } of members.values()) {
    if (value[name] === undefined) continue;
    const one = (each: unknown): unknown => (below === undefined ? each : select(each as Json, below));
    const key = head.slice(1, -2);
    found[key] = Array.isArray(value[name]) && below !== undefined ? value[name].map(one) : one(value[name]);
  }
  if (slots.some(({ is }) => is === 'constant')) found['__typename'] = 'T';
  return found;
}
