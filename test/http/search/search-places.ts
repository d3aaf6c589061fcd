import { beforeAll, expect, it } from 'vitest';

import type { Store } from '../../../runtime/store/store.js';
import { boundaryOf } from '../../unit/store/mongo/boundary.js';
import { HOSTILE } from './search-hostile.js';
import { idsOf, linkOf, putAll, refusalOf, useWholeServer } from '../search-server.js';

const location = (id: string, latitude?: number, longitude?: number, more: object = {}) => ({
  resourceType: 'Location',
  id,
  ...(latitude !== undefined && { position: { latitude, longitude } }),
  ...more,
});
const box = (west: number, south: number, east: number, north: number) => [[west, south], [east, south], [east, north], [west, north], [west, south]]; // prettier-ignore
const bounded = (id: string, geoJson: object) => location(id, undefined, undefined, { extension: [boundaryOf(geoJson)] }); // prettier-ignore

const DATA = [
  // The point of the specification's examples, and others 1, 11 and 140 km away.
  location('arbor', 42.2565, -83.69481, { managingOrganization: { reference: 'Organization/o' } }),
  location('street', 42.2655, -83.69481),
  location('village', 42.3555, -83.69481),
  location('city', 42.2565, -82),
  location('fiji', -16.5, 179.9),
  location('lau', -16.5, -179.9),
  location('pole', 90, 0),
  location('nowhere'),
  location('wrong', 42.2565),
  bounded('county', { type: 'Polygon', coordinates: [box(-84, 42, -83, 43), box(-83.7, 42.2, -83.6, 42.3)] }),
  bounded('state', {
    type: 'Feature',
    properties: { name: 'x' },
    geometry: { type: 'MultiPolygon', coordinates: [[box(-90, 41, -82, 45)], [box(-91, 45, -83, 48)]] },
  }),
  bounded('dateline', {
    type: 'FeatureCollection',
    features: [
      { type: 'Feature', properties: null, geometry: { type: 'Polygon', coordinates: [box(177, -20, 183, -15)] } },
    ],
  }),
  bounded('broken', { type: 'Polygon', coordinates: [[1, 2, 3]] }),
  location('unreadable', undefined, undefined, {
    extension: [{ ...boundaryOf({}), valueAttachment: { data: 'AAAA', contentType: 'application/geo+json' } }],
  }),
  { resourceType: 'Organization', id: 'o', name: 'x' },
  ...['arbor', 'city'].map((id) => ({
    resourceType: 'Encounter',
    id: `at-${id}`,
    status: 'planned',
    location: [{ location: { reference: `Location/${id}` } }],
  })),
];

/** Locations near a point and around one, whatever the store. https://hl7.org/fhir/R5/location.html#positional */
export function placeSearches(data: Store): void {
  const server = useWholeServer({ store: data });
  const get = (path: string) => server.send('GET', path);

  beforeAll(() => putAll(server, DATA), 60_000);

  it.each([
    ['Location?near=42.256500|-83.694810|11.20|km', ['arbor', 'street', 'village']],
    ['Location?near=42.256500|-83.694810|11.20', ['arbor', 'street', 'village']],
    ['Location?near=42.256500|-83.694810|5|[mi_us]', ['arbor', 'street']],
    ['Location?near=42.256500|-83.694810|11200|m', ['arbor', 'street', 'village']],
    ['Location?near=42.256500|-83.694810', ['arbor', 'street']],
    ['Location?near=42.256500|-83.694810|0|km', ['arbor']],
    ['Location?near=42.256500|-83.694810|50000|km', ['arbor', 'city', 'fiji', 'lau', 'pole', 'street', 'village']],
    ['Location?near=-16.5|180|11|km', ['fiji', 'lau']],
    ['Location?near=90|123|1|m', ['pole']],
    ['Location?near=90|0|1|m,42.2565|-82|1|m', ['city', 'pole']],
    ['Location?near=42.2565|-83|90|km&near=42.2565|-84|90|km', ['arbor', 'street', 'village']],
    ['Location?near:missing=true', ['broken', 'county', 'dateline', 'nowhere', 'state', 'unreadable', 'wrong']],
    ['Location?near=42.2565|-83.7|100|km&_id=arbor,city', ['arbor']],
    ['Encounter?location.near=42.2565|-83.7|100|km', ['at-arbor']],
    ['Encounter?location:Location.near=42.2565|-82|100|km', ['at-city']],
    ['Organization?_has:Location:organization:near=42.2565|-83.7|100|km', ['o']],
    ['Organization?_has:Location:organization:near=0|0|100|km', []],
    ['Location?contains=42.5|-83.5', ['county', 'state']],
    ['Location?contains=42.25|-83.65', ['state']],
    ['Location?contains=46|-90', ['state']],
    ['Location?contains=42|-84', ['county', 'state']],
    ['Location?contains=-16|180', ['dateline']],
    ['Location?contains=-16|-178', ['dateline']],
    ['Location?contains=-16|-176', []],
    ['Location?contains=-16|-178,42.5|-83.5', ['county', 'dateline', 'state']],
    ['Location?contains:missing=false', ['county', 'dateline', 'state']],
    ['Location?_filter=near pr true and not (_id eq pole)', ['arbor', 'city', 'fiji', 'lau', 'street', 'village']],
    ['Encounter?location.contains=0|0', []],
  ])('%s', async (path, ids) => {
    const answer = await get(`/${encodeURI(path)}`);
    expect(answer.status, JSON.stringify(answer.json())).toBe(200);
    expect(idsOf(answer).sort()).toEqual(ids);
  });

  it.each([
    ['near=42.2565', 'latitude|longitude|distance|units'],
    ['near=95|0|1|km', 'latitude from -90 to 90'],
    ['near=0|-181|1|km', 'longitude from -180 to 180'],
    ['near=0|0|-1|km', 'no number from 0 on'],
    ['near=0|0|1|kg', 'km, m, [mi_us], mi'],
    ['near:exact=0|0', 'takes :missing, not :exact'],
    ['contains=1|2|3', 'latitude|longitude, as in'],
    ['contains=north|2', 'latitude from -90 to 90'],
    [`near=${Array(21).fill('0|0|1').join()}`, 'may have 20'],
    ['_sort=near', 'it is of type special'],
    ['_filter=near eq 0|0', 'but pr'],
  ])('%s: 400, and what would be right', async (query, text) => {
    const answer = await get(`/Location?${encodeURI(query)}`);
    expect(answer.status).toBe(400);
    expect(refusalOf(answer)).toContain(text);
  });

  it('whatever stands in a value, it is an answer or a refusal', async () => {
    for (const text of [
      ...HOSTILE,
      ...HOSTILE.map((each) => `1|2|${each}`),
      ...HOSTILE.map((each) => `1|2|3|${each}`),
    ]) {
      for (const path of [
        'Location?near=',
        'Location?contains=',
        'Location?near:missing=',
        'Encounter?location.near=',
      ]) {
        const value = new URLSearchParams([['', text]]).toString().slice(1);
        const { status } = await get(`/${path}${value}`);
        expect([path, text, status < 500]).toEqual([path, text, true]);
      }
    }
  });

  it('pages, totals and links keep what is asked', async () => {
    const first = await get(`/Location?${encodeURI('near=42.2565|-83.69481|500|km&_count=1&_total=accurate')}`);
    expect(first.json()).toMatchObject({ total: 4 });
    const found = idsOf(first);
    let next = linkOf(first, 'next');
    while (next !== undefined) {
      const page = await get(next);
      found.push(...idsOf(page));
      next = linkOf(page, 'next');
    }
    expect(found.sort()).toEqual(['arbor', 'city', 'street', 'village']);
  });

  it('what is written anew is found where it is then', async () => {
    const tell = async (query: string) => idsOf(await get(`/Location?${encodeURI(query)}`));
    await putAll(server, [location('moving', -50, 10)]);
    expect(await tell('near=-50|10|1|km')).toEqual(['moving']);
    await putAll(server, [location('moving', -51, 10)]);
    expect(await tell('near=-50|10|1|km')).toEqual([]);
    expect(await tell('near=-51|10|1|km')).toEqual(['moving']);
    await server.send('DELETE', '/Location/moving');
    expect(await tell('near=-51|10|1|km')).toEqual([]);
  });

  it('criteria of writes take places', async () => {
    const create = (near: string) =>
      server.send('POST', '/Location', JSON.stringify({ resourceType: 'Location', position: { latitude: -60, longitude: 20 } }), { 'if-none-exist': encodeURI(`near=${near}`), 'content-type': 'application/fhir+json' }); // prettier-ignore
    expect((await create('-60|20|1|km')).status).toBe(201);
    expect((await create('-60|20|1|km')).status).toBe(200);
  });
}
