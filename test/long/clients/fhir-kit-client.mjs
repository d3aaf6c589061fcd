// What fhir-kit-client does with a server: each line of the output is a step that went well. Argument: the FHIR base.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const [base, home] = process.argv.slice(2);
const found = await import(pathToFileURL(join(home, 'node_modules', 'fhir-kit-client', 'dist', 'index.js')).href);
const client = new found.Client({ baseUrl: base });
const resourceType = 'Patient';

const made = await client.create({ resourceType, body: { resourceType, name: [{ family: 'Kit' }] } });
assert.equal(made.meta.versionId, '1');
const { id } = made;
assert.equal((await client.read({ resourceType, id })).name[0].family, 'Kit');
const updated = await client.update({ resourceType, id, body: { ...made, active: true } });
assert.equal(updated.meta.versionId, '2');
const jsonPatch = [{ op: 'replace', path: '/active', value: false }];
assert.equal((await client.patch({ resourceType, id, jsonPatch })).active, false);
assert.equal((await client.vread({ resourceType, id, version: '2' })).active, true);
assert.equal((await client.resourceHistory({ resourceType, id })).entry.length, 3);
console.log('written');

const entry = Array.from({ length: 5 }, (_, n) => ({
  resource: { resourceType, name: [{ family: 'Page', given: [String(n)] }] },
  request: { method: 'POST', url: resourceType },
}));
await client.transaction({ body: { resourceType: 'Bundle', type: 'transaction', entry } });
let bundle = await client.search({ resourceType, searchParams: { family: 'page', _count: 2 } });
const given = [];
while (bundle?.entry) {
  given.push(...bundle.entry.map(({ resource }) => resource.name[0].given[0]));
  bundle = bundle.link.some(({ relation }) => relation === 'next') ? await client.nextPage({ bundle }) : undefined;
}
assert.deepEqual(given.sort(), ['0', '1', '2', '3', '4']);
console.log('searched');

const everything = await client.operation({ resourceType, id, name: 'everything', method: 'get' });
assert.equal(everything.entry[0].resource.id, id);
assert.equal((await client.capabilityStatement()).fhirVersion, '5.0.0');
await client.delete({ resourceType, id });
await assert.rejects(client.read({ resourceType, id }), (error) => {
  assert.equal(error.response.status, 410);
  assert.equal(error.response.data.resourceType, 'OperationOutcome');
  return true;
});
console.log('done');
