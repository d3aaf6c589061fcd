import { readFileSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';

/** A megabyte. */
export const MB = 1024 * 1024;

const PATIENTS = 2000;
const CONNECTIONS = 16;

/** What a load has seen. */
export interface LoadResult {
  /** How often each status was answered. */
  readonly counts: ReadonlyMap<number, number>;
  /** Resident memory of the server at 100 times, in bytes. */
  readonly samples: readonly number[];
  readonly seconds: number;
}

/** Sends requests to one server, and looks at its memory. */
export interface LoadGenerator {
  send(method: string, path: string, body?: object): Promise<number>;
  /** Sends so many requests of a mix of interactions, over 16 connections; the same ones in every run. */
  mixed(total: number): Promise<LoadResult>;
  /** Resident memory, in bytes. Linux only. */
  resident(): number;
  /** Resident memory once the server is idle and has given back what it does not need, in bytes. */
  settled(): Promise<number>;
}

/**
 * @param base URL of the FHIR base
 * @param pid process of the server
 */
export function createLoad(base: URL, pid: number): LoadGenerator {
  const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS });
  const send = (method: string, path: string, body?: object): Promise<number> =>
    new Promise((resolve, reject) => {
      const headers = { 'content-type': 'application/fhir+json' };
      const req = request(
        { agent, host: base.hostname, port: base.port, method, path: `/fhir${path}`, headers },
        (res) => {
          res.resume();
          res.on('end', () => resolve(res.statusCode ?? 0));
        },
      );
      req.on('error', reject);
      req.end(body === undefined ? undefined : JSON.stringify(body));
    });

  let seed = 1;
  /** A whole number from 0 below a bound. */
  const random = (bound: number): number => {
    seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0;
    return Math.floor((seed / 2 ** 32) * bound);
  };

  const observation = { resourceType: 'Observation', status: 'final', code: { text: 'soak' } };
  const patient = (id: string, i: number) => ({
    resourceType: 'Patient',
    id,
    name: [{ family: `Family ${i}`, given: ['Ada'] }],
    identifier: [{ system: 'urn:soak', value: String(i) }],
    birthDate: '1980-01-01',
  });

  /** One of a mix of requests, about any of the Patients. */
  function step(i: number): Promise<number> {
    const id = `s${random(PATIENTS)}`;
    const kind = random(20);
    if (kind < 11) return send('GET', `/Patient/${id}`);
    if (kind < 14) return send('GET', `/Patient/${id}/_history/1`);
    if (kind < 16) return send('POST', '/Observation', observation);
    if (kind < 19) return send('PUT', `/Patient/${id}`, patient(id, i));
    return send('DELETE', `/Patient/${id}`);
  }

  const resident = (): number => {
    const status = readFileSync(`/proc/${pid}/status`, 'utf8');
    return Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1]) * 1024;
  };

  return {
    send,
    resident,
    async mixed(total) {
      const counts = new Map<number, number>();
      const samples: number[] = [];
      const start = Date.now();
      let next = 0;
      const client = async (): Promise<void> => {
        while (next < total) {
          const i = next++;
          const status = await step(i);
          counts.set(status, (counts.get(status) ?? 0) + 1);
          if (i % (total / 100) === 0) samples.push(resident());
        }
      };
      await Promise.all(Array.from({ length: CONNECTIONS }, client));
      return { counts, samples, seconds: (Date.now() - start) / 1000 };
    },
    async settled() {
      // It collects in the second after the last request at the earliest, and after six more once again (collect-when-idle);
      // what that frees is given back a second later.
      await sleep(12_000);
      return resident();
    },
  };
}
