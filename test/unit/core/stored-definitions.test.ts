import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

import { DEFAULT_SERVICES } from '../../../runtime/core/default-services.js';
import { tables } from '../../../generated/tables.js';
import { FhirError } from '../../../runtime/fhir/errors.js';
import { DEFAULT_LIMITS } from '../../../runtime/fhir/limits.js';
import type { Resource } from '../../../runtime/fhir/resource.js';
import { composePut } from '../../../runtime/core/write/compose-change.js';
import { openDefinitions, type Definitions } from '../../../runtime/core/definitions/definitions.js';
import { readIndexRecord, swapIndexRecord, staleParameters } from '../../../runtime/core/definitions/index-status.js';
import { createWriter } from '../../../runtime/core/definitions/writers.js';
import type { IndexEntry } from '../../../runtime/indexing/entry.js';
import { createExtractor } from '../../../runtime/indexing/extract.js';
import { createParameterContext } from '../../../runtime/indexing/parameters/parameter-context.js';
import { readParameterSet } from '../../../runtime/indexing/parameters/parameter-set.js';
import type { Put, Store } from '../../../runtime/store/store.js';
import { openStore } from '../../contract/open-store.js';
import { EVENTUALLY } from '../../eventually.js';
import { parameter } from '../../service/stored-parameters/stored-parameters-subject.js';

/** As few types as these tests need, which are quick to look at. */
const TYPES = new Set(['Resource', 'DomainResource', 'Patient', 'SearchParameter']);
const few = {
  ...tables,
  resourceTypes: tables.resourceTypes.filter((type) => TYPES.has(type)),
  search: tables.search.filter(({ type }) => TYPES.has(type)),
};
const options = { tables: few, zone: 'UTC', validate: () => [], isReader: false };

/** What two processes have in common. */
let base: Store;
/** Resolves what is held back of the writes of the second. */
let release: (() => void) | undefined;
let one: Definitions;
let other: Definitions;

beforeEach(async () => {
  base = await openStore('sqlite::memory:');
  const slow = Object.assign(Object.create(base) as Store, {
    async write(...args: Parameters<Store['write']>) {
      if (release !== undefined) await new Promise<void>((resolve) => (release = resolve));
      return base.write(...args);
    },
    close: async () => {},
  });
  one = await openDefinitions(base, options);
  other = await openDefinitions(slow, options);
  release = undefined;
});
afterEach(async () => {
  release?.();
  await other.store.close();
  await one.store.close();
});

const put = async (by: Definitions, resource: Readonly<Record<string, unknown>>, expected = 0): Promise<Put> => {
  const current = expected === 0 ? undefined : { type: '', id: '', version: expected, lastUpdated: 0 };
  return (await composePut(resource as Resource, String(resource['id']), current, {
    ...DEFAULT_SERVICES,
    ...by.current(),
  }))!;
};
const write = async (by: Definitions, resource: Readonly<Record<string, unknown>>, expected = 0) =>
  by.store.write([await put(by, resource, expected)]);
const found = async (code: string): Promise<string[]> => {
  const where = { param: code, any: [{ is: 'string-begins' as const, folded: 'x' }] };
  const { versions } = await base.find({ type: 'Patient', where, sort: [], count: 10, total: 'none' });
  return versions.map(({ id }) => id);
};
/** As `kiln reindex` ends. */
async function reindexed({ current }: Definitions): Promise<void> {
  const { text } = await readIndexRecord(base);
  expect(await swapIndexRecord(base, text, current().maker.record())).toBe(true);
}
const patient = (id: string) => ({ resourceType: 'Patient', id, name: [{ prefix: ['X'] }] });
const prefix = parameter('x-prefix', { type: 'string', expression: 'Patient.name.prefix' });

describe('definitions that others change', () => {
  it('whoever makes the index anew waits until the others write by them', async () => {
    await one.agreed();
    await write(one, prefix);
    expect(other.current().parameters).toEqual([]);
    await one.agreed();
    expect(other.current().parameters.map(({ code }) => code)).toEqual(['x-prefix']);
  });

  it('and until what they were writing by others is through', async () => {
    release = () => {};
    const late = write(other, patient('late'));
    await sleep(0);
    const held = release;
    release = undefined;
    await write(one, prefix);
    await other.look();
    let isAgreed = false;
    const agreed = one.agreed().then(() => (isAgreed = true));
    await sleep(300);
    expect(isAgreed).toBe(false);
    held();
    await late;
    await agreed;
    // It was decided on before: whoever makes the index anew finds it now.
    expect(await found('x-prefix')).toEqual([]);
  });

  it('nobody who goes back to those before agrees with a process that writes by others meanwhile', async () => {
    const before = one.current().maker.whole;
    release = () => {};
    const late = write(other, patient('late'));
    await sleep(0);
    const held = release;
    release = undefined;
    await write(one, prefix);
    await other.look();
    // It writes by the new ones, and what it said is by both.
    expect(other.current().parameters).toHaveLength(1);
    const said = [...(await base.maps.entries('writers')).values()];
    expect(said).not.toContain(before);
    expect(said.filter((text) => text.includes(before))).toEqual([expect.stringContaining(' ')]);
    held();
    await late;
    await vi.waitFor(async () => {
      const all = new Set((await base.maps.entries('writers')).values());
      expect([...all]).toEqual([other.current().maker.whole]);
    }, EVENTUALLY);
  });

  it('whoever goes over to others says so before the index remembers it, and agrees with nobody about those before', async () => {
    const before = one.current();
    const swap = vi.spyOn(base.maps, 'swap');
    await write(one, prefix);
    const steps = swap.mock.calls.map(([map, , , text]) => `${map} ${text}`);
    swap.mockRestore();
    const { whole } = one.current().maker;
    const [said, remembered, alone] = [
      `writers ${[before.maker.whole, whole].sort().join(' ')}`,
      'index ',
      `writers ${whole}`,
    ];
    const places = [said, remembered, alone].map((step) =>
      steps.findIndex((each) => each === step || (step === 'index ' && each.startsWith(step))),
    );
    expect(places).not.toContain(-1);
    expect([...places].sort((a, b) => a - b)).toEqual(places);
    expect(await one.agreed(undefined, before)).toBe(false);
    expect(await one.agreed()).toBe(true);
  });

  it('a search by those before says so, once another process writes by others', async () => {
    await write(one, prefix);
    await reindexed(one);
    await other.look();
    const { indexStatus, maker } = other.current();
    expect(await indexStatus.notCurrent('now')).toEqual([]);
    await write(one, { ...prefix, expression: 'Patient.name.suffix' }, 1);
    // It has not followed yet.
    expect(other.current().maker).toBe(maker);
    const used = [{ type: 'Patient', code: 'x-prefix' }];
    expect(await staleParameters({ used }, other.current())).toEqual(['Patient.x-prefix']);
    expect(await staleParameters({ used: [{ type: 'Patient', code: 'name' }] }, other.current())).toEqual([]);
  });

  it('who could not look after others went on without it writes nothing before it has', async () => {
    let isAway = false;
    const history: Store['history'] = (...asked) =>
      isAway ? Promise.reject(new FhirError('store-unavailable')) : base.history(...asked);
    const third = await openDefinitions(
      Object.assign(Object.create(base) as Store, { history, close: async () => {} }),
      options,
    );
    await write(one, prefix);
    const now = vi.spyOn(Date, 'now').mockReturnValue(Date.now() + 30_000);
    try {
      isAway = true;
      for (const _ of [1, 2]) {
        await expect(write(third, patient('third'))).rejects.toMatchObject({ code: 'store-unavailable' });
      }
      isAway = false;
      await write(third, patient('third'));
    } finally {
      now.mockRestore();
    }
    expect(await found('x-prefix')).toEqual(['third']);
    await third.store.close();
  });

  it('entries that were made before are made anew at the write, whoever made them', async () => {
    const before = await put(one, patient('before'));
    const fromThread = {
      ...(await put(one, patient('thread'))),
      entries: [...(await put(one, patient('thread'))).entries],
    };
    await write(one, prefix);
    await one.store.write([before, fromThread]);
    expect(await found('x-prefix')).toEqual(['before', 'thread']);
    // And those of a parameter that is gone are not written.
    const after = await put(one, patient('after'));
    await write(one, { ...prefix, status: 'retired' }, 1);
    await one.store.write([after]);
    expect(await found('x-prefix')).toEqual(['before', 'thread']);
  });

  it('what describes a built-in one changes nothing; of two that collide all have the same one in effect', async () => {
    const url = 'http://hl7.org/fhir/SearchParameter/Patient-active';
    await write(one, { ...parameter('active', { expression: 'Patient.active' }), url });
    expect([one.current().parameters, one.current().refused]).toEqual([[], []]);
    // As a copy or two servers at the same moment may bring them in: past the check.
    const twins = ['b', 'a'].map((id) => ({ ...prefix, id, url: `urn:${id}` }));
    await base.write(await Promise.all(twins.map((each) => put(one, each))));
    const told: string[] = [];
    one.tellRefused((text) => told.push(text));
    await Promise.all([one.look(), other.look()]);
    expect(told).toEqual([
      expect.stringMatching(
        /^SearchParameter\/b is active and not in effect: SearchParameter\.code: Patient has .* \(SearchParameter\/a\)$/,
      ),
    ]);
    // Once, whatever else is refused later.
    await base.write([await put(one, { ...prefix, id: 'c', url: 'urn:c' })]);
    await one.look();
    expect(told.map((text) => text.slice(0, 17))).toEqual(['SearchParameter/b', 'SearchParameter/c']);
    await base.write([await put(one, { ...prefix, id: 'c', url: 'urn:c', status: 'draft' }, 1)]);
    await Promise.all([one.look(), other.look()]);
    expect(told).toHaveLength(2);
    const writers = (await base.maps.entries('writers')).size;
    const reader = await openDefinitions(base, { ...options, isReader: true });
    // It says nothing to the others.
    expect((await base.maps.entries('writers')).size).toBe(writers);
    for (const each of [one, other, reader]) {
      const { parameters, refused } = each.current();
      expect([parameters.map(({ id }) => id), refused.map(({ id }) => id)]).toEqual([['a'], ['b']]);
    }
    expect(one.current().maker.whole).toBe(other.current().maker.whole);
  });

  it('what could not be put into effect is tried again', async () => {
    let isAway = false;
    const get: Store['maps']['get'] = (...asked) =>
      isAway ? Promise.reject(new FhirError('store-unavailable')) : base.maps.get(...asked);
    const maps = Object.assign(Object.create(base.maps) as Store['maps'], { get });
    const third = await openDefinitions(
      Object.assign(Object.create(base) as Store, { maps, close: async () => {} }),
      options,
    );
    await write(one, prefix);
    isAway = true;
    await expect(third.look()).rejects.toMatchObject({ code: 'store-unavailable' });
    expect(third.current().parameters).toEqual([]);
    isAway = false;
    await third.look();
    expect(third.current().parameters.map(({ code }) => code)).toEqual(['x-prefix']);
    await third.store.close();
  });

  it('what a process said before does not come after what it says now', async () => {
    let pause = 0;
    const swap: Store['maps']['swap'] = async (...asked) => {
      await sleep(pause);
      return base.maps.swap(...asked);
    };
    const writer = createWriter({ maps: Object.assign(Object.create(base.maps) as Store['maps'], { swap }) });
    const before = new Set((await base.maps.entries('writers')).keys());
    await writer.register('old');
    const now = vi.spyOn(Date, 'now').mockReturnValue(Date.now() + 10_000);
    try {
      pause = 100;
      const renewed = writer.renew(true);
      await sleep(20);
      pause = 0;
      await Promise.all([renewed, writer.register('new')]);
    } finally {
      now.mockRestore();
    }
    const said = [...(await base.maps.entries('writers'))].filter(([id]) => !before.has(id)).map(([, text]) => text);
    expect(said).toEqual(['new']);
    await writer.leave();
  });

  it('who writes nothing says nothing', async () => {
    const swap = vi.spyOn(base.maps, 'swap');
    const now = vi.spyOn(Date, 'now').mockReturnValue(Date.now() + 10_000);
    try {
      await sleep(1000);
      expect(swap).not.toHaveBeenCalled();
      await write(one, patient('a'));
      await vi.waitFor(() => expect(swap).toHaveBeenCalled(), EVENTUALLY);
    } finally {
      now.mockRestore();
      swap.mockRestore();
    }
  });

  it.each([
    ['resources', patient('slow')],
    ['parameters', prefix],
  ])('a process counts as one that writes as long as a write of %s takes', async (_what, resource) => {
    const swap = vi.spyOn(base.maps, 'swap');
    const said = () => swap.mock.calls.filter(([map]) => map === 'writers').length;
    const clock = Date.now();
    const now = vi.spyOn(Date, 'now');
    try {
      release = () => {};
      const slow = write(other, resource);
      await sleep(0);
      for (const later of [10_000, 20_000]) {
        const before = said();
        now.mockReturnValue(clock + later);
        await vi.waitFor(() => expect(said()).toBeGreaterThan(before), EVENTUALLY);
        // Whatever was written is seen to within this time.
        await sleep(1000);
      }
      release();
      await slow;
    } finally {
      release = undefined;
      now.mockRestore();
      swap.mockRestore();
    }
  });

  it('what large bodies are found by is known before they are written, and counts as theirs', async () => {
    await write(one, prefix);
    const thread = { ...patient('thread'), name: [{ prefix: ['X', 'Y'.repeat(1000)] }] };
    const { extract, refit } = one.current();
    // As a thread makes them, which knows nothing of what is stored.
    const builtIn = () => createExtractor(few)(thread as Resource);
    const made = (await composePut(thread as Resource, 'thread', undefined, {
      ...DEFAULT_SERVICES,
      extract: builtIn,
      refit,
    }))!;
    expect(made.entries.filter(({ param }) => param === 'x-prefix')).toEqual(
      extract(thread as Resource).filter(({ param }) => param === 'x-prefix'),
    );
    const bytes = JSON.stringify(builtIn()).length + made.body.head.length + made.body.tail.length;
    const limits = { ...DEFAULT_LIMITS, resource: bytes + 1000 };
    await expect(
      composePut(thread as Resource, 'thread', undefined, { extract: builtIn, refit, limits }),
    ).rejects.toThrow(/may have/);
  });

  it('contained resources are found by what is built in alone', async () => {
    await write(one, prefix);
    const contained = [{ ...patient('within'), active: true }];
    const made = await put(one, { ...patient('around'), contained });
    const names = (entries: readonly { readonly param: string }[] = []) => entries.map(({ param }) => param);
    expect(names(made.entries)).toContain('x-prefix');
    const [within] = made.contained!;
    expect(names(within!.entries)).toContain('active');
    expect(names(within!.entries)).not.toContain('x-prefix');
  });

  it('the words beside their values too', async () => {
    await write(one, parameter('x-marital', { type: 'token', expression: 'Patient.maritalStatus' }));
    const thread = { ...patient('thread'), maritalStatus: { text: 'Happily Married' } } as unknown as Resource;
    const { extract, refit } = one.current();
    const words = (entries: readonly IndexEntry[]) => entries.filter(({ kind, param }) => kind === 'words' && param === 'x-marital'); // prettier-ignore
    expect(words(refit(thread, createExtractor(few)(thread)))).toEqual(words(extract(thread)));
    expect(words(extract(thread))).toHaveLength(1);
  });

  it('what cannot be read stops nothing, and is read once', () => {
    const context = createParameterContext(tables);
    const deep = parameter('x-deep', { expression: `${'('.repeat(1900)}Patient.id${')'.repeat(1900)}` });
    const wide = parameter('x-wide', {
      base: tables.resourceTypes.slice(0, 101),
      expression: Array.from({ length: 60 }, (_, n) => `Resource.meta.tag[${n}]`).join(' | '),
    });
    const resources = [deep, wide, parameter('x-wrong', { expression: 'Patient.nothing' })] as Resource[];
    const { refused } = readParameterSet(resources, context);
    const texts = new Map(refused.map(({ id, fault }) => [id, fault.text]));
    expect(texts.get('x-wide')).toMatch(/^leads 1000 ways and more: alternatives .* times the bases/);
    expect(texts.get('x-wrong')).toMatch(/nothing/);
    const again = readParameterSet(resources, context).refused;
    expect(again.map(({ fault }) => fault)).toEqual(refused.map(({ fault }) => fault));
    again.forEach(({ fault }, n) => expect(fault).toBe(refused[n]!.fault));
  });

  it('functions and elements may be called what all objects have a member of', () => {
    const context = createParameterContext(tables);
    const made = parameter('x-text', { type: 'string', expression: 'Patient.birthDate.toString()' });
    const wrong = parameter('x-wrong', { expression: 'Patient.constructor.where(toString = 1)' });
    const { parameters, refused } = readParameterSet([made, wrong] as unknown as Resource[], context);
    expect(parameters.map(({ code }) => code)).toEqual(['x-text']);
    expect(refused.map(({ fault }) => fault.text)).toEqual([
      expect.stringMatching(/Patient has no element constructor/),
    ]);
  });

  it('there are only so many', async () => {
    const many = Array.from({ length: 200 }, (_, i) => parameter(`x-${i}`, { expression: 'Patient.id' }));
    await one.store.write(await Promise.all(many.map((each) => put(one, each))));
    expect(one.current().parameters).toHaveLength(200);
    await expect(write(one, prefix)).rejects.toMatchObject({ code: 'search-parameter-conflict', status: 422 });
    await write(one, { ...prefix, status: 'draft' });
    await write(one, { ...many[0]!, status: 'retired' }, 1);
    await write(one, prefix, 1);
  });
});
