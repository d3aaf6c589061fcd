import type { JsonObject, JsonValue } from '../../fhir/resource.js';
import { writeJson } from '../../format/write-json.js';
import { executed } from './executed.js';
import { describeFaults } from './faults.js';
import type { LoadItem } from './items.js';
import { causeOf } from './no-answer.js';
import { goesUnderOtherId, refuseOther, underOtherId, type Present } from './packages.js';
import { LoadStopped, type Outcome, type Sink, type Tokens } from './sink.js';

/** A server to load into. */
export interface HttpTarget {
  /** URL of its FHIR base. */
  readonly url: string;
  /** Absent: the server wants none. */
  readonly tokens?: Tokens;
  /** Tests shorten the waits. */
  readonly sleep?: (milliseconds: number) => Promise<void>;
}

/** Requests at a time, and attempts for each. */
const CONCURRENCY = 8;
const MAX_ATTEMPTS = 8;
const MAX_WAIT = 60_000;

/** Statuses of a resource that is not there. */
const ABSENT: ReadonlySet<number> = new Set([404, 410]);

/** An answer that is none of success. */
interface Refusal {
  readonly error: Error;
  readonly status: number;
}

/** Over HTTP: PUT where there is an id, POST where there is none, with connections that are kept. */
export function httpSink(target: HttpTarget): Sink {
  const base = withoutSlash(target.url);
  const sleep = target.sleep ?? ((time: number) => new Promise<void>((resolve) => setTimeout(resolve, time)));
  /** The server's time at its first answer: what it last changed before is not of this load. */
  let began: number | undefined;

  async function send(given: LoadItem): Promise<Outcome> {
    const item = given.from === undefined || given.id === undefined ? given : await settle(given);
    if ('error' in item) return item;
    const { resource, id } = item;
    const url = id === undefined ? `${base}/${resource.resourceType}` : urlOf(item);
    const response = await request(url, id === undefined ? resource : { ...resource, id }, id !== undefined);
    if ('error' in response) return response;
    if (response.status === 201) return 'created';
    return isOlder(response) ? 'unchanged' : 'updated';
  }

  /**
   * What a package has, under the id that it goes under; an error where another canonical has that, or where the server does not say,
   * so that nothing of others is replaced.
   */
  async function settle(item: LoadItem): Promise<LoadItem | { readonly error: unknown }> {
    const { url } = item.resource;
    const own = await presentAt(item);
    if ('error' in own || own.canonical === url) return 'error' in own ? own : item;
    const moved = underOtherId(item);
    const other = await presentAt(moved);
    if ('error' in other) return other;
    const [settled, present] = goesUnderOtherId(item, own, other) ? [moved, other] : [item, own];
    try {
      refuseOther(settled, settled.id ?? '', present);
    } catch (error) {
      return { error };
    }
    return settled;
  }

  async function presentAt(item: LoadItem): Promise<Present | Refusal> {
    const response = await request(`${urlOf(item)}?_elements=url`, undefined, true);
    if (!('error' in response)) return { canonical: (JSON.parse(response.text) as { readonly url?: JsonValue }).url };
    return ABSENT.has(response.status) ? { canonical: undefined } : response;
  }

  function urlOf({ resource, id }: LoadItem): string {
    return `${base}/${resource.resourceType}/${id}`;
  }

  /**
   * @param body absent: it is read what is there
   * @param isRepeatable otherwise it may have been done although its answer was lost
   */
  async function request(url: string, body: JsonObject | undefined, isRepeatable: boolean): Promise<Answer | Refusal> {
    let token = await target.tokens?.current();
    const init = (): RequestInit => ({
      ...(body === undefined ? {} : { method: isRepeatable ? 'PUT' : 'POST', body: writeJson(body) }),
      headers: {
        'Content-Type': 'application/fhir+json',
        Accept: 'application/fhir+json',
        Prefer: 'return=minimal',
        ...(token === undefined ? {} : { Authorization: `Bearer ${token}` }),
      },
      redirect: 'error', // the token is for this server
    });
    let isRenewed = false;
    for (let attempt = 1; ; attempt++) {
      let response: Response;
      try {
        response = await fetch(url, init());
      } catch (error) {
        if (!isRepeatable || attempt >= MAX_ATTEMPTS) throw new LoadStopped(`${base}: ${causeOf(error)}`);
        await sleep(backoff(attempt));
        continue;
      }
      began ??= dateOf(response, 'date');
      const text = await response.text();
      if (response.ok) return { status: response.status, headers: response.headers, text };
      if (response.status === 401 && token !== undefined && !isRenewed) {
        const next = await target.tokens?.renew(token);
        isRenewed = true;
        // Nothing was done, so that it can be sent again.
        if (next !== undefined) {
          token = next;
          continue;
        }
      }
      if (response.status === 401 || response.status === 403) throw refused(base, response.status, target, text);
      const isBusy = response.status === 503 || response.status === 429;
      if (!isBusy || attempt >= MAX_ATTEMPTS) {
        return { error: new Error(`${response.status}: ${reasonOf(text)}`), status: response.status };
      }
      await sleep(retryAfter(response) ?? backoff(attempt));
    }
  }

  function isOlder(response: Pick<Response, 'headers'>): boolean {
    const changed = dateOf(response, 'last-modified');
    return changed !== undefined && began !== undefined && changed < began;
  }

  return {
    keepsOthers: true,
    async take(items, done) {
      let next = 0;
      let stopped: unknown;
      const worker = async (): Promise<void> => {
        while (next < items.length && stopped === undefined) {
          const item = items[next++]!;
          try {
            done(item, await send(item));
          } catch (error) {
            stopped ??= error;
          }
        }
      };
      await Promise.all(Array.from({ length: CONCURRENCY }, worker));
      if (stopped !== undefined) throw stopped;
    },
    async execute(item, done) {
      const start = performance.now();
      const answer = await request(`${base}/`, item.resource, false);
      if ('error' in answer) return done(item, answer);
      // By the server's clock, which tells whole seconds.
      const from = (dateOf(answer, 'date') ?? 0) - (performance.now() - start) - 1000;
      for (const { index, outcome } of executed(item, answer.text, from)) {
        done({ place: `${item.place} entry[${index}]` }, outcome);
      }
    },
    end: () => Promise.resolve(),
  };
}

/** An answer that was read to its end. */
interface Answer extends Pick<Response, 'status' | 'headers'> {
  readonly text: string;
}

function refused(base: string, status: number, { tokens }: HttpTarget, text: string): LoadStopped {
  if (status === 403) return new LoadStopped(`${base} forbids this (403): ${reasonOf(text)}`);
  return new LoadStopped(
    tokens === undefined
      ? `${base} wants a token (401); give one with --token or KILN_TOKEN, or --client and --key`
      : `${base} does not take the token (401); it may have run out`,
  );
}

/** The words of an OperationOutcome, or the beginning of what else was answered. */
function reasonOf(text: string): string {
  try {
    const { issue: issues } = JSON.parse(text) as {
      issue?: { details?: { text?: string }; diagnostics?: string; expression?: string[] }[];
    };
    const faults = (issues ?? []).flatMap(({ details, diagnostics, expression: [expression] = [] }) => {
      const told = details?.text ?? diagnostics ?? '';
      return told === '' ? [] : [{ text: told, expression }];
    });
    if (faults.length > 0) return describeFaults(faults);
  } catch {
    // No JSON: shown as it is.
  }
  return text.slice(0, 200).replace(/\s+/g, ' ').trim() || 'no reason given';
}

function retryAfter(response: Response): number | undefined {
  const header = response.headers.get('retry-after');
  if (header === null) return undefined;
  const wait = /^\d+$/.test(header) ? Number(header) * 1000 : Date.parse(header) - Date.now();
  return Number.isNaN(wait) ? undefined : Math.min(Math.max(wait, 0), MAX_WAIT);
}

function backoff(attempt: number): number {
  return Math.min(200 * 2 ** attempt, 10_000) * (0.5 + Math.random() / 2);
}

function dateOf(response: Pick<Response, 'headers'>, header: string): number | undefined {
  const time = Date.parse(response.headers.get(header) ?? '');
  return Number.isNaN(time) ? undefined : time;
}

/** A base as requests go on from it. */
export function withoutSlash(url: string): string {
  return url.replace(/\/+$/, '');
}
