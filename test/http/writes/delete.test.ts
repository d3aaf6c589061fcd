import { describe, expect, it } from 'vitest';

import { codeOf, useToyServer } from '../server.js';

describe('delete: DELETE [base]/[type]/[id] (http.html#delete)', () => {
  const server = useToyServer();
  const put = (id: string) => server.send('PUT', `/Patient/${id}`, { resourceType: 'Patient', id });

  it('answers 200 and says whether there was something', async () => {
    await put('d');
    const live = await server.send('DELETE', '/Patient/d');
    const again = await server.send('DELETE', '/Patient/d');
    const never = await server.send('DELETE', '/Patient/never');
    expect([live, again, never].map(({ status }) => status)).toEqual([200, 200, 200]);
    const texts = [live, again, never].map((answer) => answer.json().issue[0].details.text);
    expect(texts).toEqual(['Patient/d is deleted', 'Patient/d was deleted already', 'There never was a Patient/never']);
    expect(live.json()).toMatchObject({ resourceType: 'OperationOutcome', issue: [{ severity: 'information' }] });
    expect([live.headers.etag, again.headers.etag]).toEqual(['W/"2"', undefined]);
    expect((await server.send('GET', '/Patient/d')).status).toBe(410);
    expect((await server.send('GET', '/Patient/d/_history/1')).status).toBe(200);
    expect((await server.send('GET', '/Patient/never')).status).toBe(404);
  });

  it('Prefer: return=minimal got an outcome with 200: it gets 204, without a body', async () => {
    await put('p');
    const minimal = { prefer: 'return=minimal' };
    const answer = await server.send('DELETE', '/Patient/p', undefined, minimal);
    expect([answer.status, answer.text, answer.headers.etag]).toEqual([204, '', 'W/"2"']);
    expect([answer.headers['content-length'], answer.headers['content-type']]).toEqual([undefined, undefined]);
    expect((await server.send('DELETE', '/Patient/p', undefined, minimal)).status).toBe(204);
    expect((await server.send('GET', '/Patient/p')).status).toBe(410);
  });

  it('obeys If-Match', async () => {
    await put('m');
    const failed = await server.send('DELETE', '/Patient/m', undefined, { 'if-match': 'W/"2"' });
    expect([failed.status, codeOf(failed)]).toEqual([412, 'precondition-failed']);
    expect((await server.send('GET', '/Patient/m')).status).toBe(200);
    expect((await server.send('DELETE', '/Patient/m', undefined, { 'if-match': 'W/"1"' })).status).toBe(200);
    expect((await server.send('DELETE', '/Patient/m', undefined, { 'if-match': 'W/"2"' })).status).toBe(412);
  });
});
