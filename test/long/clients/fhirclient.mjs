// What fhirclient (SMART's client) does with a server: each line of the output is a step that went well. Argument: the FHIR base.
import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { join } from 'node:path';

const [base, home] = process.argv.slice(2);
const found = createRequire(join(home, 'package.json'))('fhirclient');
const smart = found.default ?? found;
const client = smart({ headers: {}, url: '/' }, {}).client(base);
const resourceType = 'Patient';

const made = await client.create({ resourceType, name: [{ family: 'Smart' }] });
const { id } = made;
assert.equal((await client.request(`Patient/${id}`)).name[0].family, 'Smart');
const updated = await client.update({ ...made, active: true });
assert.equal(updated.meta.versionId, '2');
const patched = await client.patch(`Patient/${id}`, [{ op: 'replace', path: '/active', value: false }]);
assert.equal(patched.active, false);
console.log('written');

for (const text of ['a', 'b', 'c']) {
  const subject = { reference: `Patient/${id}` };
  await client.create({ resourceType: 'Observation', status: 'final', code: { text }, subject });
}
const pages = await client.request(`Observation?subject=Patient/${id}&_count=1`, {
  pageLimit: 0,
  flat: true,
  resolveReferences: 'subject',
});
assert.deepEqual(pages.map(({ code }) => code.text).sort(), ['a', 'b', 'c']);
assert.equal(
  pages[0].subject.name?.[0].family ?? pages[0].subject.reference,
  pages[0].subject.name ? 'Smart' : `Patient/${id}`,
);
console.log('searched');

await client.delete(`Patient/${id}`).catch(() => undefined);
await client.request(`Patient/none`).then(
  () => assert.fail('found what is not there'),
  (error) => assert.match(String(error.message), /404/),
);
console.log('done');
