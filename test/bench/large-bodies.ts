import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { Agent, request } from 'node:http';

import type { Bench, Measured, Row } from './measuring/row.js';

/** Between two small requests, in milliseconds. */
const PAUSE = 5;

const PATCH = [{ op: 'replace', path: '/concept/10000/display', value: 'Another concept' }];

/** Nobody is to wait longer than this, in milliseconds. */
const LONGEST = 100;

/** How long small requests take while a large body is taken in, beside how long they take when nothing else is done. */
export const bench: Bench = async () => {
  const child = fork(new URL('./servers/large-bodies-server.js', import.meta.url), [], { execArgv: ['--expose-gc'] });
  try {
    const [port] = (await once(child, 'message')) as [number];
    const server = new Server(child, port);
    await server.send('PUT', '/fhir/Patient/small', JSON.stringify({ resourceType: 'Patient', id: 'small' }));
    // Warms up, and starts the threads.
    await server.send('POST', '/fhir/', bundleText('transaction', 500));
    const rows: Row[] = [];
    const nothing = await server.beside(() => sleep(3000));
    for (const [name, method, path, text] of bodies()) {
      const { measured, longest } = await server.beside(() => server.send(method, path, text));
      rows.push({
        name: `GET beside ${name}, ${megabytes(text.length)}`,
        unit: 'GETs',
        measured,
        floor: { name: 'GET alone', measured: nothing.measured },
        goal: { longest: LONGEST },
      });
      process.stdout.write(
        `${name}, ${megabytes(text.length)}: the event loop stood still for ${longest.toFixed(0)} ms at most ` +
          `(${nothing.longest.toFixed(0)} ms with nothing to do), ${await server.memory()} of memory afterwards\n`,
      );
    }
    return rows;
  } finally {
    child.disconnect();
  }
};

class Server {
  private readonly agent = new Agent({ keepAlive: true });

  constructor(
    private readonly child: ChildProcess,
    private readonly port: number,
  ) {}

  send(method: string, path: string, body?: string): Promise<void> {
    return new Promise((resolve, reject) => {
      const type = method === 'PATCH' ? 'application/json-patch+json' : 'application/fhir+json';
      const headers = { 'content-type': type, prefer: 'return=minimal' };
      // Its own connection for what takes long.
      const agent = body === undefined ? this.agent : new Agent();
      const sent = request({ host: '127.0.0.1', port: this.port, method, path, headers, agent }, (answer) => {
        let text = '';
        answer.setEncoding('utf8').on('data', (chunk: string) => (text = (text + chunk).slice(0, 500)));
        answer.on('end', () => {
          if ((answer.statusCode ?? 500) < 300) resolve();
          else reject(new Error(`${answer.statusCode}: ${text}`));
        });
      });
      sent.on('error', reject);
      sent.end(body);
    });
  }

  /** Makes small requests until the work is done. */
  async beside(work: () => Promise<unknown>): Promise<{ measured: Measured; longest: number }> {
    await this.look();
    let isDone = false;
    const done = work().finally(() => (isDone = true));
    const times: number[] = [];
    const start = performance.now();
    const cpu = process.cpuUsage();
    while (!isDone) {
      const began = performance.now();
      await this.send('GET', '/fhir/Patient/small');
      times.push(performance.now() - began);
      await sleep(PAUSE);
    }
    await done;
    const wallMs = performance.now() - start;
    const { user, system } = process.cpuUsage(cpu);
    times.sort((a, b) => a - b);
    const at = (part: number): number => times[Math.min(times.length - 1, Math.floor(times.length * part))] ?? 0;
    return {
      measured: {
        count: times.length,
        wallMs,
        cpuMs: (user + system) / 1000,
        times: { p50: at(0.5), p99: at(0.99), longest: at(1) },
      },
      longest: (await this.look()).longest,
    };
  }

  async memory(): Promise<string> {
    return megabytes((await this.look()).memory * 2 ** 20);
  }

  private async look(): Promise<{ longest: number; memory: number }> {
    this.child.send({});
    const [seen] = (await once(this.child, 'message')) as [{ longest: number; memory: number }];
    return seen;
  }
}

function bodies(): [name: string, method: string, path: string, text: string][] {
  const codes = JSON.stringify({ ...codeSystem(20_000), id: 'large' });
  return [
    ['a ValueSet of many concepts', 'POST', '/fhir/ValueSet', valueSet(75_000)],
    ['a CodeSystem of many concepts', 'PUT', '/fhir/CodeSystem/large', codes],
    ['a JSON Patch of that CodeSystem', 'PATCH', '/fhir/CodeSystem/large', JSON.stringify(PATCH)],
    ['a transaction of 1,250 entries', 'POST', '/fhir/', bundleText('transaction', 1250)],
    ['a transaction of 5,000 entries', 'POST', '/fhir/', bundleText('transaction', 5000)],
    ['a batch of 5,000 entries', 'POST', '/fhir/', bundleText('batch', 5000)],
  ];
}

function valueSet(size: number): string {
  const concept = Array.from({ length: size }, (_, n) => ({
    code: `c${n}`,
    display: `The concept number ${n} of a set that has very many of them, ${'and so on '.repeat(3)}`,
  }));
  const include = [{ system: 'urn:bench', concept }];
  return JSON.stringify({ resourceType: 'ValueSet', status: 'active', compose: { include } });
}

/** A code of a CodeSystem can be searched for, one of a ValueSet cannot. */
function codeSystem(size: number): object {
  const concept = Array.from({ length: size }, (_, n) => ({ code: `c${n}`, display: 'A concept '.repeat(10) }));
  return { resourceType: 'CodeSystem', status: 'active', content: 'complete', concept };
}

/** Observations of one patient. */
function bundleText(type: string, size: number): string {
  const subject = type === 'batch' ? 'Patient/small' : 'urn:uuid:3f0e2c1a-7c8b-4c61-9d5e-0a1b2c3d4e5f';
  const patient = {
    fullUrl: subject,
    resource: { resourceType: 'Patient', name: [{ family: 'Large', given: ['Bundle'] }] },
    request: { method: 'POST', url: 'Patient' },
  };
  const observation = (n: number): object => ({
    resource: {
      resourceType: 'Observation',
      status: 'final',
      category: [
        {
          coding: [
            {
              system: 'http://terminology.hl7.org/CodeSystem/observation-category',
              code: 'vital-signs',
              display: 'Vital signs',
            },
          ],
        },
      ],
      code: {
        coding: [{ system: 'http://loinc.org', code: `${8000 + (n % 900)}-4`, display: 'Heart rate' }],
        text: 'Heart rate',
      },
      subject: { reference: subject },
      effectiveDateTime: `20${10 + (n % 15)}-0${1 + (n % 9)}-12T08:${10 + (n % 50)}:00+01:00`,
      issued: '2024-03-12T08:10:00.123+01:00',
      valueQuantity: {
        value: 60 + (n % 50) + 0.5,
        unit: 'beats/minute',
        system: 'http://unitsofmeasure.org',
        code: '/min',
      },
      note: [{ text: `The note number ${n}. ${'It says little at some length. '.repeat(22)}` }],
    },
    request: { method: 'POST', url: 'Observation' },
  });
  const entry = [patient, ...Array.from({ length: size - 1 }, (_, n) => observation(n))];
  return JSON.stringify({ resourceType: 'Bundle', type, entry });
}

function megabytes(bytes: number): string {
  return `${(bytes / 2 ** 20).toFixed(1)} MB`;
}

function sleep(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}
