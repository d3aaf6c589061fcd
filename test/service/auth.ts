import { createServer, type AddressInfo } from 'node:net';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { generateKey } from '../../runtime/auth/keys/jws.js';
import { runProgram } from '../../runtime/cli/program.js';
import { publicHalf } from '../unit/auth/server/server-fixture.js';

/** A folder with the files of a client: its private key, and what is registered of it. */
export async function makeClientFolder(): Promise<{ folder: string; key: string; jwks: string }> {
  const folder = mkdtempSync(join(tmpdir(), 'kiln-auth-'));
  const files = { folder, key: join(folder, 'lab.jwk'), jwks: join(folder, 'lab-jwks.json') };
  const key = await generateKey('ES384');
  writeFileSync(files.key, JSON.stringify(key));
  writeFileSync(files.jwks, JSON.stringify({ keys: [publicHalf(key)] }));
  return files;
}

/** A command in this process. */
export async function command(...args: string[]): Promise<{ code: number; out: string; err: string }> {
  const out: string[] = [];
  const err: string[] = [];
  const code = await runProgram(args, { out: (line) => out.push(line), err: (line) => err.push(line), env: {} });
  return { code, out: out.join('\n'), err: err.join('\n') };
}

/** A port that nobody listens on. */
export async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** Status of a read with a token. @param base FHIR base */
export async function statusOf(base: string, token: string, path = '/Patient'): Promise<number> {
  const answer = await fetch(`${base}${path}`, { headers: { authorization: `Bearer ${token}` } });
  await answer.arrayBuffer();
  return answer.status;
}
