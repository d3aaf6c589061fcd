import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, vi } from 'vitest';

import { EVENTUALLY } from '../../eventually.js';
import { command, freePort, makeClientFolder } from '../../service/auth.js';
import { startKiln, type KilnProcess } from '../../service/kiln-process.js';
import { makeCertificate } from '../../unit/http/make-certificate.js';

/** Actors that the server of these tests is. */
const ACTORS = 'document-responder,document-recipient,document-submission,resource-access-provider';

/** A server of the exchange profile, over TLS. */
export interface ExchangeServer {
  readonly kiln: KilnProcess;
  /** URL of the server, and of its FHIR base. */
  readonly url: string;
  readonly base: string;
  /** File of the private key of all clients, and of the server's certificate. */
  readonly key: string;
  readonly cert: string;
}

/**
 * Starts a server that is each actor, with two patients and an Observation of each.
 *
 * @param folder for files
 * @param store URL of the store
 * @param clients scopes by id
 */
export async function startExchangeServer(
  folder: string,
  store: string,
  clients: Readonly<Record<string, string>>,
): Promise<ExchangeServer> {
  const made = makeCertificate('ec');
  const [cert, tlsKey] = [join(folder, 'cert.pem'), join(folder, 'key.pem')];
  writeFileSync(cert, made.cert);
  writeFileSync(tlsKey, made.key, { mode: 0o600 });
  const keys = await makeClientFolder();
  const port = String(await freePort());
  const url = `https://localhost:${port}`;
  const base = `${url}/fhir`;
  const tls = ['--tls-cert', cert, '--tls-key', tlsKey, '--base-url', url];
  const at = ['--store', store];
  const kiln = startKiln(['serve', '--auth', 'smart', '--port', port, ...at, ...tls, '--profiles-actors', ACTORS]);
  await vi.waitFor(() => expect(kiln.output.out).toContain(base), EVENTUALLY);
  for (const [id, scope] of Object.entries(clients)) {
    const added = await command('client', 'add', '--id', id, '--scope', scope, '--jwks', keys.jwks, ...at);
    expect(added.code, added.err).toBe(0);
  }
  const records = join(folder, 'records.ndjson');
  const subject = { reference: 'Patient/p' };
  const lines = [
    { resourceType: 'Patient', id: 'p', identifier: [{ system: 'urn:oid:2.999.1', value: '4711' }] },
    { resourceType: 'Patient', id: 'q', identifier: [{ system: 'urn:oid:2.999.1', value: '4712' }] },
    { resourceType: 'Observation', id: 'o', status: 'final', code: { text: 'pulse' }, subject },
    { resourceType: 'Observation', id: 'x', status: 'final', code: { text: 'other' }, subject: { reference: 'Patient/q' } }, // prettier-ignore
  ];
  writeFileSync(records, lines.map((line) => JSON.stringify(line)).join('\n'));
  const loaded = await command('load', records, ...at);
  expect(loaded.code, loaded.err).toBe(0);
  return { kiln, url, base, key: keys.key, cert };
}
