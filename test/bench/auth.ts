import type { ChildProcess } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { DEVELOPMENT_CLIENT, developmentKeyFile } from '../../runtime/config/development.js';
import type { Jwk } from '../../runtime/auth/jwks/jwk.js';
import { tokenForm } from '../../runtime/auth/server/client-assertion.js';
import { readConfig } from '../../runtime/config/read-config.js';
import { SILENT } from '../../runtime/observe/log.js';
import { startServer } from '../../runtime/start-server.js';
import { getRequest, PATH, PATIENT, send, sendOften, startClient } from './servers/http-client.js';
import { compare, measure } from './measuring/measure.js';
import type { Bench, Measured, Row } from './measuring/row.js';

/** A server as `kiln serve` makes it, with a Patient in it. */
interface Served {
  readonly port: number;
  /** What a client sends along. */
  readonly headers: readonly string[];
  /** Forms that ask for tokens, each with an assertion of its own. */
  forms(count: number): Promise<string[]>;
  close(): Promise<unknown>;
}

/**
 * Reads with a cached token, against the same server open: both without an audit, both with one in a file, and as each is by
 * default, which tells what authorization and audit cost together. And tokens: each a fresh assertion checked, a token signed.
 */
export const bench: Bench = async () => {
  const open = await serve({ auth: 'open' });
  const openAudited = await serve({ auth: 'open', 'audit-sink': 'file' });
  const audited = await serve({ auth: 'smart' });
  const unaudited = await serve({ auth: 'smart', 'audit-sink': 'off' });
  const client = startClient();
  try {
    return [
      { ...(await readRow(client, ['authorized', unaudited], ['open', open])), goal: { ratio: 0.9 } },
      {
        ...(await readRow(client, ['authorized, audit in a file', audited], ['open, the same audit', openAudited])),
        goal: { ratio: 0.9 },
      },
      await readRow(client, ['authorized, audit in a file', audited], ['open, no audit', open]),
      { name: 'token', unit: 'tokens', measured: await tokens(client, audited), goal: { rate: 200 } },
    ];
  } finally {
    client.disconnect();
    for (const server of [open, openAudited, audited, unaudited]) await server.close();
  }
};

type Named = readonly [name: string, served: Served];

async function readRow(client: ChildProcess, [name, served]: Named, [floorName, open]: Named): Promise<Row> {
  const [work, floor] = [served, open].map(({ port, headers }) => sendOften(client, port, getRequest(headers)));
  for (let i = 0; i < WARM_UP; i++) for (const each of [work!, floor!]) await each();
  // Many short turns: what is compared is closer than the noise of a machine that has other work.
  const { measured, floor: base } = await compare(work!, floor!, { rounds: 30, roundMs: 100 });
  return {
    name: `GET Patient/[id], ${name}`,
    unit: 'requests',
    measured,
    floor: { name: floorName, measured: base },
  };
}

/** Some thousand requests each. */
const WARM_UP = 4;

const ROUNDS = 5;
const TOKENS = 250;

/** The assertions are made before, by this process too, but beside the measured time. */
async function tokens(client: ChildProcess, { port, forms }: Served): Promise<Measured> {
  const requests = (await forms((ROUNDS + 1) * TOKENS)).map(
    (form) =>
      `POST /auth/token HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nContent-Type: application/x-www-form-urlencoded\r\n` +
      `Content-Length: ${form.length}\r\n\r\n${form}`,
  );
  const some = (): Promise<number> => send(client, { port, requests: requests.splice(0, TOKENS), count: TOKENS });
  // One piece a round.
  return await measure(some, { rounds: ROUNDS, roundMs: 0.001 });
}

async function serve(flags: Record<string, string>): Promise<Served> {
  const folder = mkdtempSync(join(tmpdir(), 'kiln-bench-'));
  // Only reads are measured, of an official example that breaks a rule.
  const given = { store: `sqlite:${join(folder, 'kiln.db')}`, port: '0', validation: 'structure', ...flags };
  const { config } = readConfig(given, {});
  const server = await startServer(config, SILENT);
  const { origin, port } = new URL(server.url);
  const forms = async (count: number): Promise<string[]> => {
    const key = JSON.parse(readFileSync(developmentKeyFile(config), 'utf8')) as Jwk;
    const request = { clientId: DEVELOPMENT_CLIENT, key, audience: `${origin}/auth/token`, scope: 'system/*.cruds' };
    return await Promise.all(Array.from({ length: count }, () => tokenForm(request, Date.now())));
  };
  const authorization = config.auth === 'open' ? undefined : `Bearer ${await tokenOf(origin, (await forms(1))[0]!)}`;
  const put = await fetch(origin + PATH, {
    method: 'PUT',
    body: PATIENT,
    headers: { 'content-type': 'application/fhir+json', ...(authorization !== undefined && { authorization }) },
  });
  if (put.status !== 201) throw new Error(`PUT ${put.status}`);
  return {
    port: Number(port),
    headers: authorization === undefined ? [] : [`Authorization: ${authorization}`],
    forms,
    async close() {
      await server.close();
      rmSync(folder, { recursive: true });
    },
  };
}

async function tokenOf(origin: string, form: string): Promise<string> {
  const answer = await fetch(`${origin}/auth/token`, {
    method: 'POST',
    body: form,
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
  });
  return ((await answer.json()) as { access_token: string }).access_token;
}
