import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';

/** What is read and written. */
export const PATH = '/fhir/Patient/bench';

/** A Patient of a common size: 1 kB. */
export const PATIENT = JSON.stringify({
  resourceType: 'Patient',
  id: 'bench',
  active: true,
  identifier: [{ system: 'urn:oid:1.2.36.146.595.217.0.1', value: '12345' }],
  name: [{ use: 'official', family: 'Chalmers', given: ['Peter', 'James'] }],
  telecom: Array.from({ length: 5 }, (_, i) => ({ system: 'phone', value: `(03) 5555 647${i}`, use: 'work', rank: 1 })),
  address: [{ use: 'home', line: ['534 Erewhon St'], city: 'PleasantVille', state: 'Vic', postalCode: '3999' }],
  contact: [{ name: { family: 'du Marché', given: ['Bénédicte'] }, gender: 'female', telecom: [{ value: '+33 1' }] }],
  text: { status: 'generated', div: '<div xmlns="http://www.w3.org/1999/xhtml">Peter James Chalmers</div>' },
});

/** A load client in a process of its own; `disconnect` ends it. */
export function startClient(): ChildProcess {
  return fork(new URL('./http-load.js', import.meta.url), [], { execArgv: [] });
}

/** The read of the Patient, as it goes over the wire. @param more headers */
export function getRequest(more: readonly string[] = []): string {
  return [`GET ${PATH} HTTP/1.1`, 'Host: 127.0.0.1', 'Accept: application/fhir+json', ...more, '', ''].join('\r\n');
}

/** Some thousand times the same request. */
export function sendOften(client: ChildProcess, port: number, request: string): () => Promise<number> {
  return () => send(client, { port, requests: [request], count: 3000 });
}

/** Requests from the client. @throws Error where an answer is not 200 or 201 */
export async function send(
  client: ChildProcess,
  order: { readonly port: number; readonly requests: readonly string[]; readonly count: number },
): Promise<number> {
  client.send(order);
  const [count] = (await once(client, 'message')) as [unknown];
  if (typeof count !== 'number') throw new Error(String(count));
  return count;
}
