import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll } from 'vitest';

import { startKiln, type KilnProcess } from '../../service/kiln-process.js';
import { buildDist } from '../../workers/build-dist.js';
import { createLoad, type LoadGenerator } from '../mixed-load.js';

/** A server of `dist/` that gets large bodies. */
export interface LargeBodyServer {
  readonly load: LoadGenerator;
  /** Sends a body. @returns the status of its answer */
  post(path: string, body: string): Promise<number>;
}

/** Text of a Bundle with so many Observations of about 1.5 kB each. */
export function bundle(type: string, size: number): string {
  const entry = Array.from({ length: size }, (_, n) => ({
    resource: {
      resourceType: 'Observation',
      status: 'final',
      code: { coding: [{ system: 'http://loinc.org', code: `${n}-4` }], text: 'Heart rate' },
      valueQuantity: { value: 60.5, unit: '/min', system: 'http://unitsofmeasure.org', code: '/min' },
      note: [{ text: 'It says little at some length. '.repeat(40) }],
    },
    request: { method: 'POST', url: 'Observation' },
  }));
  return JSON.stringify({ resourceType: 'Bundle', type, entry });
}

/** Starts one before the tests of a suite, on a store of its own, and ends it after them. */
export function useLargeBodyServer(): LargeBodyServer {
  let folder: string;
  let kiln: KilnProcess;
  let base: string;
  let load: LoadGenerator;
  beforeAll(async () => {
    await buildDist();
    folder = mkdtempSync(join(tmpdir(), 'kiln-large-'));
    const store = `sqlite:${join(folder, 'kiln.db')}`;
    kiln = startKiln(
      ['serve', '--port', '0', '--validation', 'structure', '--store', store, '--log-level', 'error'],
      'dist',
    );
    base = await kiln.started;
    load = createLoad(new URL(base), kiln.child.pid!);
  });
  afterAll(async () => {
    kiln.child.kill('SIGKILL');
    await kiln.ended;
    rmSync(folder, { recursive: true });
  });
  return {
    get load() {
      return load;
    },
    async post(path, body) {
      const headers = { 'content-type': 'application/fhir+json', prefer: 'return=minimal' };
      const answer = await fetch(new URL(`/fhir${path}`, base), { method: 'POST', headers, body });
      await answer.arrayBuffer();
      return answer.status;
    },
  };
}
