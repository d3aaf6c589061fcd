import { beforeAll, describe, expect, it } from 'vitest';

import { tables } from '../../../../generated/tables.js';
import type { KilnOptions } from '../../../../runtime/http/kiln.js';
import type { Store } from '../../../../runtime/store/store.js';
import { toyTables } from '../../../toy/tables.js';
import { idsOf, linkOf, useSearchServer } from '../../search-server.js';
import type { ToyServer } from '../../server.js';

/** A server with the types that lie above and below each other. */
export function useHierarchyServer(options: Partial<KilnOptions> = {}): ToyServer {
  const resourceTypes = ['CarePlan', 'Encounter', 'Location', 'ServiceRequest'];
  return useSearchServer({ tables: { ...toyTables, resourceTypes, search: tables.search }, ...options });
}

const reference = (to: string | undefined) => (to === undefined ? undefined : { reference: to });

/** A location within another. */
export const location = (id: string, partOf?: string) => ({
  resourceType: 'Location',
  id,
  partOf: reference(partOf),
});

/** An encounter at a location, part of another. */
export const encounter = (id: string, at?: string, partOf?: string) => ({
  resourceType: 'Encounter',
  id,
  status: 'completed',
  location: at === undefined ? undefined : [{ location: reference(at) }],
  partOf: reference(partOf),
});

/** Writes a resource. */
export async function store(server: ToyServer, resource: { resourceType: string; id: string }): Promise<void> {
  const answer = await server.send('PUT', `/${resource.resourceType}/${resource.id}`, resource);
  expect(answer.status, answer.text).toBeLessThan(300);
}

/** Searches of references into hierarchies, whatever the store. */
export function hierarchySearches(data: Store): void {
  const server = useHierarchyServer({ store: data });
  const found = async (search: string): Promise<string[]> => {
    const answer = await server.send('GET', `/${search}`);
    expect(answer.status, answer.text).toBe(200);
    return idsOf(answer).sort();
  };

  beforeAll(async () => {
    const here = `${server.url}/fhir`;
    const locations = [
      location('site'),
      location('house', 'Location/site'),
      location('floor', `${here}/Location/house`),
      location('room', 'Location/floor'),
      location('barn', 'Location/site'),
      location('other'),
      // Somewhere else, though it is called the same.
      location('far', 'http://elsewhere.example/fhir/Location/house'),
      // A cycle, and what hangs on it.
      location('one', 'Location/two'),
      location('two', 'Location/three'),
      location('three', 'Location/one'),
      location('leaf', 'Location/two'),
      location('orphan', 'Location/gone'),
    ];
    for (const each of locations) {
      await store(server, each);
      await store(server, encounter(`at-${each.id}`, `Location/${each.id}`));
    }
    await store(server, encounter('at-gone', 'Location/gone'));
    await store(server, encounter('at-room-too', `${here}/Location/room`));
    await store(server, encounter('at-room-elsewhere', 'http://elsewhere.example/fhir/Location/room'));
    await store(server, encounter('nowhere'));
    await store(server, encounter('whole'));
    await store(server, encounter('part', undefined, 'Encounter/whole'));
    await store(server, encounter('bit', undefined, 'Encounter/part'));
    await store(server, encounter('piece', undefined, 'Encounter/bit'));
    const plan = (id: string, more: object) => ({ resourceType: 'CarePlan', id, status: 'active', ...more });
    await store(server, plan('old', {}));
    await store(server, plan('new', { replaces: [{ reference: 'CarePlan/old' }] }));
    await store(server, plan('newest', { replaces: [{ reference: 'CarePlan/new' }] }));
    await store(server, plan('sub', { partOf: [{ reference: 'CarePlan/new' }] }));
    // What leads elsewhere: by another parameter, or to another type.
    const to = (...texts: string[]) => texts.map((text) => ({ reference: text }));
    await store(server, plan('twofold', { partOf: to('CarePlan/sub'), replaces: to('CarePlan/past') }));
    await store(server, plan('past-part', { partOf: to('CarePlan/past') }));
    await store(server, plan('ordered', { basedOn: to('ServiceRequest/order', 'CarePlan/draft') }));
    await store(server, plan('same-id', { basedOn: to('CarePlan/order') }));
  }, 60_000);

  it.each([
    ['Encounter?location:below=Location/house', ['at-floor', 'at-house', 'at-room', 'at-room-too']],
    ['Encounter?location:below=floor', ['at-floor', 'at-room', 'at-room-too']],
    ['Encounter?location:below=room', ['at-room', 'at-room-too']],
    ['Encounter?location:below=barn,other', ['at-barn', 'at-other']],
    ['Encounter?location:below=site&location:below=floor', ['at-floor', 'at-room', 'at-room-too']],
    ['Encounter?location:below=floor&_id=at-room,at-house', ['at-room']],
    ['Encounter?location:above=Location/floor', ['at-floor', 'at-house', 'at-site']],
    ['Encounter?location:above=site', ['at-site']],
    ['Encounter?location:above=floor,barn', ['at-barn', 'at-floor', 'at-house', 'at-site']],
    ['Encounter?location:above=far', ['at-far']],
    // What does not exist, and what is below it all the same.
    ['Encounter?location:below=gone', ['at-gone', 'at-orphan']],
    ['Encounter?location:above=gone', ['at-gone']],
    ['Encounter?location:above=orphan', ['at-gone', 'at-orphan']],
    ['Encounter?location:below=never', []],
    // Cycles.
    ['Encounter?location:below=one', ['at-leaf', 'at-one', 'at-three', 'at-two']],
    ['Encounter?location:above=one', ['at-one', 'at-three', 'at-two']],
    ['Encounter?location:above=leaf', ['at-leaf', 'at-one', 'at-three', 'at-two']],
    // A parameter that is a hierarchy itself finds what refers to those.
    ['Location?partof:below=site', ['barn', 'floor', 'house', 'room']],
    ['Location?partof:above=floor', ['barn', 'floor', 'house', 'room']],
    ['Encounter?part-of:below=whole', ['bit', 'part', 'piece']],
    ['Encounter?part-of:above=Encounter/part', ['bit', 'part']],
    ['CarePlan?replaces:below=old', ['new', 'newest']],
    ['CarePlan?part-of:below=new', ['sub', 'twofold']],
    ['CarePlan?part-of:above=twofold', ['sub', 'twofold']],
    ['CarePlan?based-on:above=CarePlan/ordered', ['ordered']],
    ['CarePlan?part-of:below=old', []],
  ])('%s', async (search, ids) => {
    expect(await found(search)).toEqual(ids);
  });

  it('take absolute references to this server, and are posted', async () => {
    const value = `${server.url}/fhir/Location/floor`;
    expect(await found(`Encounter?location:below=${encodeURIComponent(value)}`)).toHaveLength(3);
    const headers = { 'content-type': 'application/x-www-form-urlencoded' };
    const answer = await server.send('POST', '/Encounter/_search', 'location%3Abelow=floor', headers);
    expect(idsOf(answer).sort()).toEqual(['at-floor', 'at-room', 'at-room-too']);
  });

  it.each(['above', 'below'])('take lists of 10,000 values: %s', async (modifier) => {
    const made = Array.from({ length: 9999 }, (_, n) => `Location/made-up-${n}`);
    const form = new URLSearchParams({ [`location:${modifier}`]: ['Location/floor', ...made].join(',') }).toString();
    const headers = { 'content-type': 'application/x-www-form-urlencoded' };
    const answer = await server.send('POST', '/Encounter/_search', form, headers);
    expect([answer.status, idsOf(answer).sort()[0]]).toEqual([200, 'at-floor']);
  });

  describe('follow what is written', () => {
    it('what moves, comes and goes', async () => {
      await store(server, location('cell', 'Location/room'));
      await store(server, encounter('in-cell', 'Location/cell'));
      expect(await found('Encounter?location:below=floor&_id=in-cell')).toEqual(['in-cell']);
      await store(server, location('room', 'Location/other'));
      expect(await found('Encounter?location:below=floor')).toEqual(['at-floor']);
      expect(await found('Encounter?location:above=cell')).toEqual(['at-other', 'at-room', 'at-room-too', 'in-cell']);
      expect((await server.send('DELETE', '/Location/room')).status).toBeLessThan(300);
      expect(await found('Encounter?location:below=other')).toEqual(['at-other']);
      expect(await found('Encounter?location:above=cell')).toEqual(['at-room', 'at-room-too', 'in-cell']);
      await store(server, location('room', 'Location/floor'));
      expect(await found('Encounter?location:below=floor&_id=in-cell')).toEqual(['in-cell']);
      await server.send('DELETE', '/Location/cell');
      await server.send('DELETE', '/Encounter/in-cell');
    });

    it('pages keep the search as it was written, and look again where it leads', async () => {
      const first = await server.send('GET', '/Encounter?location:below=house&_count=2');
      expect(linkOf(first, 'self')).toBe('/Encounter?location%3Abelow=house&_count=2');
      await store(server, location('wing', 'Location/house'));
      await store(server, encounter('z', 'Location/wing'));
      const seen = idsOf(first);
      let next = linkOf(first, 'next');
      for (let page = 2; next !== undefined && page < 9; page++) {
        const answer = await server.send('GET', next);
        expect(answer.status, answer.text).toBe(200);
        seen.push(...idsOf(answer));
        next = linkOf(answer, 'next');
      }
      // What is new may come, or lie behind where the walk is.
      expect(seen.filter((id) => id !== 'z').sort()).toEqual(['at-floor', 'at-house', 'at-room', 'at-room-too']);
      expect(seen.filter((id) => id === 'z').length).toBeLessThan(2);
      await server.send('DELETE', '/Location/wing');
      await server.send('DELETE', '/Encounter/z');
    });
  });
}
