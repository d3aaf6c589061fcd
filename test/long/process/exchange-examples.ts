import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from 'vitest';

import { buildDist } from '../../workers/build-dist.js';
import { startExchangeServer, type ExchangeServer } from './exchange-server.js';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const EXAMPLES = ['document-source', 'document-consumer', 'patient-access'] as const;
const MRN = 'urn:oid:2.999.1|4711';

/** Clients of the exchange profile, registered for just what each does. */
const SCOPES = {
  source: 'system/DocumentReference.cru system/Patient.s',
  consumer: 'system/DocumentReference.rs system/Patient.rs system/Binary.r system/Bundle.r',
  access: ['Patient', 'AllergyIntolerance', 'Condition', 'Immunization', 'MedicationRequest', 'Observation'].map((type) => `system/${type}.rs`).join(' '), // prettier-ignore
};

/** The examples of the exchange, over TLS, against a server that is each actor. @param makeStore given a folder for files */
export function exchangeExamples(makeStore: (folder: string) => string): void {
  const folder = mkdtempSync(join(tmpdir(), 'kiln-exchange-'));
  let server: ExchangeServer;
  let env: NodeJS.ProcessEnv;

  interface Ended {
    readonly code: number;
    readonly out: string;
    readonly err: string;
  }
  const run = (example: (typeof EXAMPLES)[number], client: string, ...args: string[]): Promise<Ended> =>
    new Promise((resolve) => {
      const program = join(folder, example, 'dist', `${example}.js`);
      execFile(process.execPath, [program, server.base, client, server.key, ...args], { env }, (error, out, err) =>
        resolve({ code: error === null ? 0 : Number(error.code), out: out.trim(), err: err.trim() }),
      );
    });
  const publish = (file: string, type: string, ...more: string[]): Promise<Ended> =>
    run('document-source', 'source', MRN, file, type, ...more);

  beforeAll(async () => {
    await buildDist();
    for (const example of EXAMPLES) {
      cpSync(join(ROOT, 'examples', example), join(folder, example), { recursive: true });
      mkdirSync(join(folder, example, 'node_modules'));
      symlinkSync(ROOT, join(folder, example, 'node_modules', 'kiln'));
      symlinkSync(join(ROOT, 'node_modules/@types'), join(folder, example, 'node_modules/@types'));
      await new Promise<void>((resolve, reject) => {
        const tsc = join(ROOT, 'node_modules/typescript/bin/tsc');
        execFile(process.execPath, [tsc], { cwd: join(folder, example) }, (error, out) =>
          error === null ? resolve() : reject(new Error(out)),
        );
      });
    }
    server = await startExchangeServer(folder, makeStore(folder), SCOPES);
    env = { ...process.env, NODE_EXTRA_CA_CERTS: server.cert };
  }, 240_000);
  afterAll(async () => {
    server.kiln.child.kill('SIGTERM');
    await server.kiln.ended;
    rmSync(folder, { recursive: true });
  });

  it('what the source publishes the consumer gets, byte for byte', { timeout: 240_000 }, async () => {
    const sizes = { 'text/plain': 1000, 'application/pdf': 300_000, 'image/png': 2_000_000, 'text/xml': 5_000_000, 'application/octet-stream': 20_000_000 }; // prettier-ignore
    const published = new Map<string, Buffer>();
    for (const [type, size] of Object.entries(sizes)) {
      const bytes = Buffer.alloc(size, type);
      const file = join(folder, 'document');
      writeFileSync(file, bytes);
      const { code, out, err } = await publish(file, type);
      expect(code, err).toBe(0);
      const [id = '', url = ''] = out.split(' ');
      expect(url.startsWith(`${server.base}/Binary/`)).toBe(true);
      published.set(id, bytes);
    }
    const { code, err } = await run('document-consumer', 'consumer', MRN, join(folder, 'got'));
    expect(code, err).toBe(0);
    expect(readdirSync(join(folder, 'got')).sort()).toEqual([...published.keys()].sort());
    for (const [id, bytes] of published) expect(readFileSync(join(folder, 'got', id)).equals(bytes)).toBe(true);
  });

  it('a document is replaced, and the patient of nobody is told as a fault', { timeout: 120_000 }, async () => {
    const file = join(folder, 'text');
    writeFileSync(file, 'first');
    const first = (await publish(file, 'text/plain')).out.split(' ')[0] ?? '';
    writeFileSync(file, 'second');
    const second = await publish(file, 'text/plain', first);
    expect(second.code, second.err).toBe(0);
    await run('document-consumer', 'consumer', MRN, join(folder, 'current'));
    expect(readdirSync(join(folder, 'current'))).not.toContain(first);
    expect(readFileSync(join(folder, 'current', second.out.split(' ')[0] ?? ''), 'utf8')).toBe('second');
    const unknown = await run('document-source', 'source', 'urn:oid:2.999.1|0', file, 'text/plain');
    expect([unknown.code, unknown.out]).toEqual([1, '']);
    expect(unknown.err).toContain('DocumentReference.subject');
  });

  it('the record of one patient is read, and of no other', { timeout: 60_000 }, async () => {
    const { code, out, err } = await run('patient-access', 'access', MRN);
    expect(code, err).toBe(0);
    expect(out.split('\n')).toEqual(['Patient/p', 'Observation/o pulse']);
  });

  it('a client without the scopes of an example is refused', { timeout: 60_000 }, async () => {
    const file = join(folder, 'unpublished');
    writeFileSync(file, 'x');
    // The source may look a patient up, and gets nothing else.
    for (const [example, client, ...args] of [
      ['document-source', 'consumer', MRN, file, 'text/plain'],
      ['document-consumer', 'source', MRN, join(folder, 'none')],
      ['patient-access', 'source', MRN],
    ] as const) {
      const { code, out, err } = await run(example, client, ...args);
      expect([code, out.replace('Patient/p', '')], example).toEqual([1, '']);
      expect(err, example).toMatch(/The token does not give|403|scope/);
    }
  });
}
