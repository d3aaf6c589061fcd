import { describe, expect, it } from 'vitest';

import { readExample } from '../../conformance/formats/examples.js';
import { createToyStore } from '../../toy/store.js';
import { faultsOf, nameOf, responsesOf, statusesOf, useBundleServer } from './bundle-server.js';

interface ExampleEntry {
  readonly request: { readonly method: string; readonly url: string };
}

describe('the official examples of batches and transactions', () => {
  const server = useBundleServer(createToyStore());
  const entriesOf = (file: string) => readExample(file).resource['entry'] as ExampleEntry[];
  const run = (type: string, entries: readonly object[]) =>
    server.send('POST', '', { resourceType: 'Bundle', type, entry: entries });

  it('bundle-transaction: all its kinds of entries, once what cannot be done here is left out', async () => {
    const entries = entriesOf('Bundle-bundle-transaction.json');
    const whole = await run('transaction', entries);
    expect([whole.status, ...faultsOf(whole)]).toEqual([400, ['bundle-entry', 'Bundle.entry[7].request.url']]);
    const known = entries.filter(({ request }) => !request.url.includes('$'));
    const stale = await run('transaction', known);
    expect([stale.status, ...faultsOf(stale)]).toEqual([
      412,
      ['precondition-failed', 'Bundle.entry[4].request.ifMatch'],
    ]);
    const fresh = known.map((entry) => (entry.request.url === 'Patient/123a' ? without(entry, 'ifMatch') : entry));
    const lost = await run('transaction', fresh);
    expect([lost.status, ...faultsOf(lost)]).toEqual([404, ['not-found', 'Bundle.entry[8].request.url']]);
    await server.send('PUT', '/Patient/12334', { resourceType: 'Patient', id: '12334' });
    const done = await run('transaction', fresh);
    expect(done.status, done.text).toBe(200);
    expect(statusesOf(done)).toEqual([
      '201 Created',
      '201 Created',
      '201 Created',
      '201 Created',
      '201 Created',
      '204 No Content',
      '204 No Content',
      '200 OK',
      '200 OK',
    ]);
    expect(done.json().entry[7].resource.entry).toHaveLength(5);
  });

  it('xds: a document with its patient, its authors and its content', async () => {
    // Its relative references, in an entry with a urn:, are relative to the base of the server that it is sent to.
    const text = JSON.stringify(entriesOf('Bundle-xds.json'));
    const own = text.replaceAll('http://localhost:9556/svc/fhir', `${server.url}/fhir`);
    const done = await run('transaction', JSON.parse(own) as ExampleEntry[]);
    expect(done.status, done.text).toBe(200);
    const [document, ...others] = responsesOf(done).map(nameOf);
    const stored = (await server.send('GET', `/${document}`)).text;
    for (const name of others.slice(0, 3)) expect(stored).toContain(`"${name}"`);
    expect(stored).not.toContain('"Patient/a2"');
  });

  it('ussg-fht: resources of another server are refused, each entry by its place', async () => {
    const entries = entriesOf('Bundle-ussg-fht.json');
    const answer = await run('transaction', entries);
    expect(answer.status).toBe(400);
    expect(faultsOf(answer).map(([, place]) => place)).toEqual(
      entries.map((_, index) => `Bundle.entry[${index}].request.url`),
    );
  });

  it.each(['medsallergies', 'simplesummary'])('bundle-request-%s: each entry has an answer', async (name) => {
    const entries = entriesOf(`Bundle-bundle-request-${name}.json`);
    const answer = await run('batch', entries);
    expect(answer.status).toBe(200);
    expect(statusesOf(answer)).toHaveLength(entries.length);
    for (const status of statusesOf(answer)) expect(status).toMatch(/^(?:200|400|404) /);
    expect(server.defects).toEqual([]);
  });
});

function without(entry: ExampleEntry, name: string): object {
  const { [name]: _left, ...request } = entry.request as Record<string, string>;
  return { ...entry, request };
}
