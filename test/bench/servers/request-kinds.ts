import type { Resource } from '../../../runtime/fhir/resource.js';
import { createRandom, mrn, pick, type Clinic } from '../data/clinic.js';
import { CASES } from '../data/search-cases.js';
import type { Send } from './send.js';

/** Entries of a transaction. */
const ENTRIES = 20;

/** Requests that belong together: most often one. */
export interface RequestKind {
  readonly name: string;
  /** Whether it changes what others find. */
  readonly isWrite?: boolean;
  /** Sends one of the kind, another each time. */
  readonly run: (send: Send) => Promise<unknown>;
}

/**
 * What servers are asked for: searches first, so that a build that writes more in a turn does not have more to search.
 *
 * @param resources those that they hold
 */
export function requestKinds(resources: readonly Resource[], records: Clinic): readonly RequestKind[] {
  const random = createRandom(3);
  const observations = resources.filter(({ resourceType }) => resourceType === 'Observation');
  const any = () => pick(random, observations);
  let serial = 0;
  const changed = (): Resource => ({ ...any(), note: [{ text: `Changed ${++serial}` }] });
  const created = (): Resource => ({ ...any(), id: undefined }) as unknown as Resource;
  const entry = () => ({ resource: created(), request: { method: 'POST', url: 'Observation' } });
  const code = () => pick(random, records.codes);
  const anyMrn = () => mrn(Math.floor(random() * records.patients.length));
  const get = (name: string, path: () => string): RequestKind => ({ name, run: (send) => send('GET', path()) });
  const post = (name: string, path: string, body: () => object): RequestKind => ({
    name,
    isWrite: true,
    run: (send) => send('POST', path, JSON.stringify(body())),
  });

  const update: RequestKind = {
    name: 'update',
    isWrite: true,
    run(send) {
      const resource = changed();
      return send('PUT', `/Observation/${String(resource['id'])}`, JSON.stringify(resource));
    },
  };
  const paging: RequestKind = {
    name: 'three pages of a code, by date',
    async run(send) {
      let path: string | undefined = `/Observation?code=${code()}&_sort=-date&_count=20`;
      for (let page = 0; page < 3 && path !== undefined; page++) path = nextOf(await send('GET', path));
    },
  };
  const searches = CASES.map(({ name, draw }) =>
    get(name, () => {
      const { type, query, sort } = draw(random, records);
      const params = new URLSearchParams(query.map(([key, value]): [string, string] => [key, value]));
      if (sort !== undefined) params.append('_sort', sort);
      return `/${type}?${params.toString()}`;
    }),
  );
  return [
    get('read', () => `/Observation/${String(any()['id'])}`),
    get('_include', () => `/Observation?code=${code()}&_include=Observation:subject&_count=20`),
    get('_summary=count', () => `/Observation?code=${code()}&_summary=count`),
    get('chain of two', () => `/Observation?encounter.subject:Patient.identifier=${anyMrn()}`),
    paging,
    ...searches,
    post('create', '/Observation', created),
    update,
    post(`transaction of ${ENTRIES}`, '', () => {
      return { resourceType: 'Bundle', type: 'transaction', entry: Array.from({ length: ENTRIES }, entry) };
    }),
    get('history of a type', () => '/Observation/_history?_count=20'),
    get('history of the system', () => '/_history?_count=20'),
  ];
}

/** The link to the next page of a Bundle. */
function nextOf(text: string): string | undefined {
  const { link } = JSON.parse(text) as { link: { relation: string; url: string }[] };
  return link.find(({ relation }) => relation === 'next')?.url;
}
