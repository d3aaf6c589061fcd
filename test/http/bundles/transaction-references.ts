import { describe, expect, it } from 'vitest';

import type { Store } from '../../../runtime/store/store.js';
import {
  entry,
  nameOf,
  observation,
  patient,
  responsesOf,
  transaction,
  urn,
  useBundleServer,
  word,
  type TestEntry,
} from './bundle-server.js';

/** Which resource a reference in a transaction is about, where several could be. */
export function transactionReferences(store: Store): void {
  const server = useBundleServer(store);
  const run = (...entries: TestEntry[]) => server.send('POST', '', transaction(...entries));
  const subjectsOf = async (...entries: TestEntry[]): Promise<string[]> => {
    const answer = await run(...entries);
    expect(answer.status, answer.text).toBe(200);
    const made = responsesOf(answer).filter(({ status }) => status === '201 Created');
    const stored = made.map((response) => server.send('GET', `/${nameOf(response)}`));
    return (await Promise.all(stored)).map((each) => each.json().subject?.reference);
  };

  describe('references to what the server has', () => {
    it.each(['urn', 'none', 'own base'])('stay, whatever has the same Type/id elsewhere: fullUrl %s', async (kind) => {
      const id = word();
      const base = `${server.url}/fhir`;
      await server.send('PUT', `/Patient/${id}`, patient('x', { id }));
      const more = () => (kind === 'none' ? {} : { fullUrl: kind === 'urn' ? urn() : `${base}/Observation/${word()}` });
      const subjects = await subjectsOf(
        entry('POST', 'Patient', patient('x'), { fullUrl: `http://a.example/fhir/Patient/${id}` }),
        entry('POST', 'Observation', observation(`Patient/${id}`), more()),
        entry('POST', 'Observation', observation(`${base}/Patient/${id}`), more()),
      );
      expect(subjects).toEqual([undefined, `Patient/${id}`, `${base}/Patient/${id}`]);
    });

    it('stay where they are absolute, and an entry has the id in its body', async () => {
      const id = word();
      const url = `${server.url}/fhir/Patient/${id}`;
      const subjects = await subjectsOf(
        entry('POST', 'Patient', patient('x', { id })),
        entry('POST', 'Observation', observation(url)),
      );
      expect(subjects[1]).toBe(url);
    });
  });

  it('references to versions stay, though an entry writes to the resource', async () => {
    const id = word();
    const url = `${server.url}/fhir/Patient/${id}`;
    await server.send('PUT', `/Patient/${id}`, patient('x', { id }));
    const own = { fullUrl: `${server.url}/fhir/Observation/${word()}` };
    const subjects = await subjectsOf(
      entry('PUT', `Patient/${id}`, patient('y', { id }), { fullUrl: url }),
      entry('POST', 'Observation', observation(`${url}/_history/1`), { fullUrl: urn() }),
      entry('POST', 'Observation', observation(`Patient/${id}/_history/1`)),
      entry('POST', 'Observation', observation(`Patient/${id}/_history/1`), own),
      entry('POST', 'Observation', observation(url)),
    );
    const version = `Patient/${id}/_history/1`;
    expect(subjects).toEqual([`${url}/_history/1`, version, version, `Patient/${id}`]);
  });

  it('relative references of an entry from elsewhere are about what comes from there', async () => {
    const id = word();
    const answer = await run(
      entry('POST', 'Patient', patient('x'), { fullUrl: `${server.url}/fhir/Patient/${id}` }),
      entry('POST', 'Patient', patient('x'), { fullUrl: `http://a.example/fhir/Patient/${id}` }),
      entry('POST', 'Patient', patient('x'), { fullUrl: `http://b.example/fhir/Patient/${id}` }),
      entry('POST', 'Observation', observation(`Patient/${id}`), { fullUrl: `http://b.example/fhir/Observation/1` }),
      entry('POST', 'Observation', observation(`Patient/${id}`), { fullUrl: urn() }),
      entry('POST', 'Observation', observation(`Patient/${id}`), { fullUrl: `http://c.example/fhir/Observation/1` }),
    );
    const names = responsesOf(answer).map(nameOf);
    const stored = await Promise.all(names.slice(3).map((name) => server.send('GET', `/${name}`)));
    expect(stored.map((each) => each.json().subject.reference)).toEqual([names[2], names[0], `Patient/${id}`]);
  });

  it.each([
    ['Patiant?identifier=x', /unknown resource type "Patiant"; did you mean Patient\?/],
    ['?identifier=x', /names no resource type/],
  ])('conditional references without a type that there is are refused: %s', async (reference, words) => {
    const answer = await run(entry('POST', 'Observation', observation(reference)));
    expect(answer.status).toBe(400);
    const [issue] = answer.json().issue;
    expect(issue.details.text).toMatch(words);
    expect(issue.expression).toEqual(['Bundle.entry[0].resource.subject.reference']);
  });

  it.each([
    ['PUT', 'ifNoneExist', 'identifier=x'],
    ['POST', 'ifMatch', 'W/"1"'],
    ['GET', 'ifMatch', 'W/"1"'],
  ])('a condition that would have no effect is refused: %s with %s', async (method, name, value) => {
    const id = word();
    const url = method === 'POST' ? 'Patient' : `Patient/${id}`;
    const resource = method === 'GET' ? undefined : patient('x', { id });
    const answer = await run(entry(method, url, resource, { request: { [name]: value } }));
    expect(answer.status).toBe(400);
    expect(answer.json().issue[0].expression).toEqual([`Bundle.entry[0].request.${name}`]);
  });

  it('a conditional create that finds what another entry leaves unchanged tells its version', async () => {
    const value = word();
    const before = await server.send('POST', '/Patient', patient(value));
    const { id } = before.json();
    const fullUrl = urn();
    const answer = await server.send(
      'POST',
      '',
      transaction(
        entry('PUT', `Patient?identifier=urn:test|${value}`, patient(value), { fullUrl }),
        entry('POST', 'Patient', patient(value), {
          request: { ifNoneExist: `_id=${fullUrl}&identifier=urn:test|${value}` },
        }),
      ),
      { Prefer: 'return=representation' },
    );
    expect(answer.status, answer.text).toBe(200);
    for (const response of responsesOf(answer)) expect(response).toMatchObject({ status: '200 OK', etag: 'W/"1"' });
    expect(answer.json().entry.map((each: { resource: { id: string } }) => each.resource.id)).toEqual([id, id]);
  });

  it('a URN is the same in letters of either case', async () => {
    const fullUrl = urn();
    const answer = await run(
      entry('POST', 'Patient', patient('x'), { fullUrl }),
      entry('POST', 'Observation', observation(fullUrl.toUpperCase())),
    );
    const [made, seen] = responsesOf(answer).map(nameOf);
    expect((await server.send('GET', `/${seen}`)).json().subject.reference).toBe(made);
  });

  it('links of narrative are found behind attributes that hold a ">"', async () => {
    const fullUrl = urn();
    const div = `<div xmlns="http://www.w3.org/1999/xhtml"><a title="x &lt; y > z" href="${fullUrl}">seen</a></div>`;
    const answer = await run(
      entry('POST', 'Patient', patient('x'), { fullUrl }),
      entry('POST', 'Patient', patient('y', { text: { status: 'generated', div } })),
    );
    const [made, other] = responsesOf(answer).map(nameOf);
    expect((await server.send('GET', `/${other}`)).json().text.div).toContain(`href="${made}"`);
  });
}
