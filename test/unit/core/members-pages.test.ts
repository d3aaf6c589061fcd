import { expect, it } from 'vitest';

import { DEFAULT_SERVICES } from '../../../runtime/core/default-services.js';
import { cutContained } from '../../../runtime/search-execution/contained/contained-search.js';
import { LARGE_BODY } from '../../../runtime/core/write/large-bodies.js';
import type { LargeTexts } from '../../../runtime/core/write/large-bodies.js';
import { containedType } from '../../../runtime/store/contained-resources.js';
import { packPage, unpackPage } from '../../../runtime/store/sqlite/threads/packed-page.js';
import type { StoredVersion } from '../../../runtime/store/store.js';

const DRUG = containedType('Drug');

function member(order: string, id: string, json: string, type = DRUG): StoredVersion {
  return { type, id: `Order/${order}#${id}`, version: 1, lastUpdated: 1000, json };
}

function orderOf(id: string, contained: readonly object[], text = ''): string {
  return JSON.stringify({ resourceType: 'Order', id, text, contained });
}

const drug = (id: string, more: object = {}): object => ({ resourceType: 'Drug', id, ...more });

it('a container is read once, wherever its members stand on a page', async () => {
  const large = 'x'.repeat(LARGE_BODY);
  const [a, b] = ['a', 'b'].map((id) => orderOf(id, [drug('m1'), drug('m2', { of: id })], large));
  let reads = 0;
  const parse: LargeTexts['parse'] = (json) => {
    reads++;
    return Promise.resolve(JSON.parse(json));
  };
  const plain = { type: 'Drug', id: 'd', version: 1, lastUpdated: 1, json: '{"resourceType":"Drug"}' };
  const page = [member('a', 'm1', a!), member('b', 'm1', b!), plain, member('a', 'm2', a!), member('b', 'm2', b!)];
  const shown = await cutContained(page, { largeTexts: { parse } as LargeTexts });
  expect(reads).toBe(2);
  expect(shown.map(({ json }) => JSON.parse(json!) as object)).toEqual([
    drug('m1'),
    drug('m1'),
    { resourceType: 'Drug' },
    drug('m2', { of: 'a' }),
    drug('m2', { of: 'b' }),
  ]);
  const at = { version: 1, lastUpdated: 1000, type: 'Drug' };
  expect(shown[3]).toMatchObject({ ...at, id: 'm2', path: 'Order/a#m2' });
});

it('of several with one type and id the first is shown, and none of another type', async () => {
  const odd = [null, 'x', { resourceType: 'Drug', id: 5 }, { resourceType: 'Tool', id: 'm1' }] as object[];
  const json = orderOf('a', [...odd, drug('m1', { n: 1 }), drug('m1', { n: 2 }), drug('5', { n: 3 })]);
  const page = [member('a', 'm1', json), member('a', '5', json), member('a', 'm9', json)];
  const shown = await cutContained(page, DEFAULT_SERVICES);
  expect(shown.map((each) => each.json)).toEqual([
    '{"resourceType":"Drug","id":"m1","n":1}',
    '{"resourceType":"Drug","id":"5","n":3}',
    undefined,
  ]);
});

it('a page on its way between threads has each container once', () => {
  const [a, b] = ['a', 'b'].map((id) => orderOf(id, [drug('m1')]));
  const plain = { type: 'Drug', id: 'd', version: 1, lastUpdated: 1, json: '{}' };
  const versions = [member('a', 'm1', a!), member('b', 'm1', b!), plain, member('a', 'm2', a!), { ...plain, id: 'e' }];
  const packed = packPage({ versions, complete: 5 });
  expect(JSON.stringify(packed).split('contained')).toHaveLength(3);
  expect(unpackPage(packed)).toEqual({ versions, complete: 5 });
  const members = versions.filter(({ type }) => type === DRUG);
  expect(unpackPage(packPage({ versions: members, complete: 5 }))).toEqual({ versions: members, complete: 5 });
});
