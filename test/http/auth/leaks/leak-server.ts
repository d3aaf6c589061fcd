import type { Definitions } from '../../../../runtime/core/definitions/definitions.js';
import type { Store } from '../../../../runtime/store/store.js';
import { entry, transaction, useBundleServer } from '../../bundles/bundle-server.js';
import { linkOf } from '../../search-server.js';
import type { Answer, ToyServer } from '../../server.js';
import { STORED } from './leak-parameters.js';
import type { LeakRequest } from './leak-requests.js';
import type { Draft } from './leak-world.js';
import { serveWith, type GuardedServer } from '../support.js';

/** What the links of all twins begin with. */
const BASE = 'http://twin.example/fhir';
const INSTANT = /\d{4}-\d\d-\d\dT\d\d(?::|%3A)\d\d(?::|%3A)\d\d\.\d{3}Z/g;
const ASSIGNED = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g;
/** Headers that tell something. The date of a version is told by the body, more exactly. */
const HEADERS = ['content-type', 'etag', 'location', 'content-location', 'www-authenticate', 'allow', 'cache-control', 'vary', 'retry-after', 'x-security-context']; // prettier-ignore

/** By the version that it is of: its name, and the instant. */
export type Instants = Map<object, { readonly name: string; readonly instant: string }>;

/** A server with one of two sets of resources. */
export interface Twin {
  readonly server: GuardedServer;
  readonly instants: Instants;
  arrange(): Promise<void>;
  /** Tells which versions both have. */
  share(names: readonly string[]): void;
  ask(request: LeakRequest, scopes: string): Promise<Asked>;
  /** Deletes what has an id that is another one on the other side, so that orders stay the same. */
  tidy(): Promise<void>;
}

/** What came back, pages as well. */
export interface Asked {
  readonly status: number;
  /** As it should be on both sides. */
  readonly alike: string;
  readonly next: string | undefined;
}

/**
 * A server with these resources, and no others but the parameters of the store, on a store.
 *
 * @param definitions those of the store, once it is open
 */
export function twinOn(store: Store, drafts: readonly Draft[], definitions: () => Definitions): Twin {
  const options = { baseUrl: BASE, live: () => definitions().current() };
  const server = serveWith(store, options);
  // Some Binaries nobody may touch who comes with a token.
  const open = useBundleServer(store, options);
  const instants: Instants = new Map();
  const names = new Map<string, string>();
  let shared: readonly string[] = [];
  let assigned = new Set<string>();
  const fill = (text: string): string =>
    text.replace(/(?:@|%40)(\d+)(?:@|%40)/g, (_, n: string) => {
      const name = shared[Number(n) % shared.length];
      return [...instants.values()].find((each) => each.name === name)!.instant;
    });
  const normal = (text: string): string => {
    const ids: string[] = [];
    return text
      .replace(/"meta":\{"lastUpdated":"[^"]+"\},"type":"(searchset|history)"/g, '"type":"$1"')
      .replace(INSTANT, (instant) => names.get(instant.replaceAll('%3A', ':')) ?? 'later')
      .replace(/_page=[\w-]+/g, '_page=some')
      .replace(ASSIGNED, (id) => `id${ids.includes(id) ? ids.indexOf(id) : ids.push(id) - 1}`);
  };
  return {
    server,
    instants,
    async arrange() {
      await write(open, drafts);
      const history = await open.send('GET', '/_history?_count=1000');
      const found = new Map<string, string>();
      for (const { fullUrl, response } of history.json().entry as HistoryEntry[]) {
        const [, version] = /"(\d+)"/.exec(response.etag)!;
        found.set(`${fullUrl.slice(BASE.length + 1)}/${version}`, response.lastModified);
      }
      for (const { type, id, versions } of drafts) {
        versions.forEach((version, n) => {
          const name = `${type}/${id}/${n + 1}`;
          instants.set(version, { name, instant: found.get(name)! });
          names.set(found.get(name)!, name);
        });
      }
    },
    share: (all) => void (shared = all),
    async ask({ method, path, body, headers }, scopes) {
      const answer = await server
        .as(scopes)
        .send(method, fill(path), body === undefined ? undefined : fill(body), { ...headers });
      const { status, text } = answer;
      if (method !== 'GET' && method !== 'HEAD') {
        for (const name of `${answer.headers.location} ${text}`.match(MADE) ?? []) assigned.add(name);
      }
      const told = HEADERS.map((name) => answer.headers[name] ?? '').join('\n');
      return { status, alike: normal(`${status}\n${told}\n${text}`), next: nextOf(answer) };
    },
    async tidy() {
      for (const name of assigned) await open.send('DELETE', `/${name}`);
      assigned = new Set();
    },
  };
}

interface HistoryEntry {
  readonly fullUrl: string;
  readonly response: { readonly etag: string; readonly lastModified: string };
}

/** Something that was created under an id of the server's making. */
const MADE = new RegExp(`\\b[A-Z]\\w+/${ASSIGNED.source}`, 'g');

function nextOf(answer: Answer): string | undefined {
  if (answer.status !== 200 || !answer.text.startsWith('{"resourceType":"Bundle"')) return undefined;
  return answer.json().link === undefined ? undefined : linkOf(answer, 'next');
}

async function write(server: ToyServer, drafts: readonly Draft[]): Promise<void> {
  // At once: definitions change but once.
  const parameters = STORED.map((each) => entry('PUT', `SearchParameter/${String(each['id'])}`, each));
  check(await server.send('POST', '', transaction(...parameters)));
  for (const { type, id, versions } of drafts) {
    for (const { content } of versions) {
      const path = `/${type}/${id}`;
      check(await (content === undefined ? server.send('DELETE', path) : server.send('PUT', path, content)));
    }
  }
}

function check({ status, text }: Answer): void {
  if (status >= 300) throw new Error(text);
}
