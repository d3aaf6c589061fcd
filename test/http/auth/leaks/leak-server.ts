import type { Definitions } from '../../../../runtime/core/definitions/definitions.js';
import type { Store } from '../../../../runtime/store/store.js';
import { createStoredProfiles } from '../../../../runtime/core/validation/stored-profiles.js';
import type { Integrity } from '../../../../runtime/core/references/integrity.js';
import { publishOn } from '../../../../runtime/jobs/export/publish.js';
import { newId } from '../../../../runtime/fhir/id.js';
import { loadProfiles } from '../../../../runtime/tables.js';
import { createRuleChecker } from '../../../../runtime/validate/rules/create-rule-checker.js';
import { tables } from '../../../../generated/tables.js';
import { entry, transaction, useBundleServer } from '../../bundles/bundle-server.js';
import { ASYNC, jobsServer } from '../../jobs/jobs-server.js';
import { linkOf } from '../../search-server.js';
import type { Answer, ToyServer } from '../../server.js';
import { STORED } from './leak-parameters.js';
import { PROFILES } from './leak-profiles.js';
import { UPLOADED } from './leak-operations.js';
import type { LeakRequest } from './leak-requests.js';
import { caughtUp, subscribe } from './leak-subscriptions.js';
import type { Draft } from './leak-world.js';
import { EVERYTHING, type GuardedServer } from '../support.js';

const NDJSON = { 'content-type': 'application/fhir+ndjson' };
/** What the links of all twins begin with. */
const BASE = 'http://twin.example/fhir';
/** What both sides publish. */
const PUBLISHED = { types: ['Patient'], every: 3_600_000 };
const INSTANT = /\d{4}-\d\d-\d\dT\d\d(?::|%3A)\d\d(?::|%3A)\d\d\.\d{3}Z/g;
const ASSIGNED = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g;
/** Headers that tell something. The date of a version is told by the body, more exactly. */
const HEADERS = ['content-type', 'etag', 'location', 'content-location', 'www-authenticate', 'allow', 'cache-control', 'vary', 'retry-after', 'x-security-context', 'x-progress']; // prettier-ignore

/** By the version that it is of: its name, and the instant. */
export type Instants = Map<object, { readonly name: string; readonly instant: string }>;

/** A server with one of two sets of resources. */
export interface Twin {
  readonly server: GuardedServer;
  readonly instants: Instants;
  arrange(): Promise<void>;
  /**
   * Starts jobs that `@jobN@` stands for: some of another client, some of the same one with a token that gives everything.
   *
   * @param hasOthers false: there are none of the other client, and the names stand for jobs that never were
   */
  startJobs(hasOthers: boolean): Promise<void>;
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
 * @param told the resources that the events of Subscriptions are about, which the store need not have
 * @param integrity what references of clients have to lead to; absent: anything
 */
export function twinOn(
  store: Store,
  drafts: readonly Draft[],
  definitions: () => Definitions,
  told: readonly Draft[],
  integrity?: Integrity,
): Twin {
  const options = { baseUrl: BASE, live: () => definitions().current() };
  const { types, profile, store: own } = createStoredProfiles(store, tables, loadProfiles);
  const profiles = { types, profile, required: new Map<string, readonly string[]>() };
  const server = jobsServer(own, {
    ...options,
    rules: createRuleChecker(tables),
    profiles,
    allowsExpunge: true,
    publish: PUBLISHED,
    hasWebsocket: true,
    integrity,
  });
  // Some Binaries nobody may touch who comes with a token.
  const open = useBundleServer(store, options);
  const instants: Instants = new Map();
  const names = new Map<string, string>();
  let shared: readonly string[] = [];
  let assigned = new Set<string>();
  const jobs: string[] = [];
  const fill = (text: string): string =>
    text
      .replace(/(?:@|%40)job(\d+)(?:@|%40)/g, (_, n: string) => jobs[Number(n)]!)
      .replace(/(?:@|%40)(\d+)(?:@|%40)/g, (_, n: string) => {
        const name = shared[Number(n) % shared.length];
        return [...instants.values()].find((each) => each.name === name)!.instant;
      });
  const normal = (text: string): string => {
    const ids: string[] = [];
    return (
      text
        // A batch has what is no resource as a Binary: a manifest has times, which are names below.
        .replace(/"data":"(eyJ[\w+/=]+)"/g, (_, data: string) => Buffer.from(data, 'base64').toString())
        .replace(/"meta":\{"lastUpdated":"[^"]+"\},"type":"(searchset|history)"/g, '"type":"$1"')
        .replace(INSTANT, (instant) => names.get(instant.replaceAll('%3A', ':')) ?? 'later')
        .replace(/W\/\\?"[\w-]{22}\\?"/g, 'digest')
        .replace(/_page=[\w-]+/g, '_page=some')
        .replace(/_cursor=[\w.-]+/g, '_cursor=some')
        .replace(/Duration: [\d.]+ s| \(\d+ per second\)/g, '')
        .replace(ASSIGNED, (id) => `id${ids.includes(id) ? ids.indexOf(id) : ids.push(id) - 1}`)
    );
  };
  /** Uploads the lines of an import. @returns the name of the Binary */
  const upload = async (who: Pick<ToyServer, 'send'>, lines: string): Promise<string> => {
    const answer = await who.send('POST', '/Binary', Buffer.from(lines), NDJSON);
    const [name] = String(answer.headers.location).match(MADE) ?? [];
    if (name === undefined) return 'Binary/none';
    assigned.add(name);
    return name;
  };
  /** What a client learns of a job of its own: its status, its report and its files. */
  const outcome = async (who: Pick<ToyServer, 'send'>, location: string): Promise<readonly Answer[]> => {
    await server.finish();
    const status = location.slice(location.indexOf('/$'));
    const answers = [await who.send('GET', status)];
    if (answers[0]!.status === 303) answers.push(await who.send('GET', status.replace('poll-status', 'result')));
    if (status.includes('reindex')) return [...answers, await who.send('GET', `${status}&_return=report`)];
    for (const [file] of answers[0]!.text.matchAll(FILE)) answers.push(await who.send('GET', `/${file}`));
    return answers;
  };
  return {
    server,
    instants,
    async arrange() {
      await store.log.end();
      await write(open, drafts);
      await subscribe(store, open, told);
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
    async startJobs(hasOthers) {
      for (const id of ['other', 'client']) {
        const who = server.as(EVERYTHING, id);
        const file = { name: 'input', part: [{ name: 'url', valueUri: await upload(who, '{}') }] };
        const search = { name: 'url', valueString: 'Observation?' };
        const started = [
          await who.send('GET', '/$export?_type=Patient,Observation', undefined, ASYNC),
          await who.send('POST', '/$import', { resourceType: 'Parameters', parameter: [file] }, ASYNC),
          await who.send('POST', '/$reindex', { resourceType: 'Parameters', parameter: [search] }, ASYNC),
          await who.send('GET', '/Observation', undefined, ASYNC),
        ];
        for (const answer of started) {
          check(answer);
          jobs.push(hasOthers || id !== 'other' ? jobOf(answer)! : newId());
        }
      }
      const look = () => publishOn({ store: own, jobs: server.jobs, settings: PUBLISHED, now: Date.now });
      await look();
      await server.finish();
      await look();
      await this.tidy();
    },
    async ask({ method, path, body, headers, upload: lines }, scopes) {
      const who = server.as(scopes);
      if (path.includes('$changes')) await caughtUp(store, open);
      const uploaded = lines === undefined ? 'Binary/none' : await upload(who, lines);
      const sent = body === undefined ? undefined : fill(body).replace(UPLOADED, uploaded);
      const answer = await who.send(method, fill(path), sent, { ...headers });
      const { status } = answer;
      const job = jobOf(answer);
      const files = path.endsWith('$bulk-publish') ? [...answer.text.matchAll(FILE)] : [];
      const read = await Promise.all(files.map(([file]) => who.send('GET', `/${file}`)));
      const all =
        job === undefined
          ? [answer, ...read]
          : [answer, ...(await outcome(who, String(answer.headers['content-location'])))];
      if (method !== 'GET' && method !== 'HEAD') {
        for (const each of all)
          for (const name of `${each.headers.location} ${each.text}`.match(MADE) ?? []) assigned.add(name);
      }
      return { status, alike: normal(all.map(tell).join('\n')), next: nextOf(answer) };
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

/** A file of a job. */
const FILE = new RegExp(`Binary/${ASSIGNED.source}\\.\\d+`, 'g');

/** What is compared of an answer. */
function tell({ status, headers, text }: Answer): string {
  return `${status}\n${HEADERS.map((name) => headers[name] ?? '').join('\n')}\n${text}`;
}

/** The job that an answer says was started. */
function jobOf({ status, headers }: Answer): string | undefined {
  return status === 202 ? /_jobId=([\w-]+)/.exec(String(headers['content-location']))?.[1] : undefined;
}

function nextOf(answer: Answer): string | undefined {
  if (answer.status !== 200 || !answer.text.startsWith('{"resourceType":"Bundle"')) return undefined;
  return answer.json().link === undefined ? undefined : linkOf(answer, 'next');
}

async function write(server: ToyServer, drafts: readonly Draft[]): Promise<void> {
  // At once: definitions change but once.
  const parameters = STORED.map((each) => entry('PUT', `SearchParameter/${String(each['id'])}`, each));
  const profiles = PROFILES.map((each) => entry('PUT', `StructureDefinition/${each.id}`, each));
  check(await server.send('POST', '', transaction(...parameters, ...profiles)));
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
