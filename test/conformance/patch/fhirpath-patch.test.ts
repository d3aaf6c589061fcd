import { describe, expect, test } from 'vitest';

import { tables } from '../../../generated/tables.js';
import type { Resource } from '../../../runtime/fhir/resource.js';
import { readXml } from '../../../runtime/format/xml/read-xml.js';
import { writeXml } from '../../../runtime/format/xml/write-xml.js';
import { diff } from './diff.js';
import { Budget } from '../../../runtime/path/patch/fhirpath/fhirpath-budget.js';
import { createFinder } from '../../../runtime/path/patch/fhirpath/fhirpath-find.js';
import {
  childNodes,
  contentPath,
  pathOf,
  rootNode,
  typeOf,
  type Node,
} from '../../../runtime/path/patch/fhirpath/fhirpath-node.js';
import { applyFhirPathPatch } from '../../../runtime/path/patch/fhirpath/fhirpath-patch.js';
import { createRandom, seedOfRun } from '../../contract/random.js';
import { patchOf } from './fhirpath-patch.js';
import { SPECIFIED } from './fhirpath-patch-cases.js';
import { model, readVersions } from './patch-versions.js';

const patient = (content: object): Resource => ({ resourceType: 'Patient', ...content });

describe("fhirpatch.html: the specification's own tests", () => {
  test.each(SPECIFIED.map((each) => [each.name, each] as const))('%s', async (_, { input, patch, output }) => {
    const result = applyFhirPathPatch(patient(input), patchOf(...patch), model);
    if (output === undefined) await expect(result).rejects.toMatchObject({ status: 400 });
    else expect(await result).toEqual(patient(output));
  });

  test.each(SPECIFIED.filter(({ both }) => both).map((each) => [each.name, each] as const))(
    'as a difference: %s',
    (_, { input, patch, output }) => {
      expect(diff(patient(input), patient(output ?? {}), model)).toEqual(patchOf(...patch));
    },
  );
});

test('paths of names and positions find what the library finds by them', async () => {
  const seed = seedOfRun();
  const random = createRandom(seed);
  const resources = [...readVersions().values()].map((pool) => random.pick(pool));
  const some = Array.from({ length: 25 }, () => random.pick(resources));
  for (const resource of some) {
    const nodes = nodesOf(rootNode(resource));
    const paths = [...Array.from({ length: 3 }, () => pathOf(random.pick(nodes)))].flatMap((path) => [
      path,
      path.replaceAll(/\[[0-9]+\]/g, ''),
      path.replace(/^[A-Za-z]+\./, ''),
    ]);
    const operations = paths.map((path) => ({ path }));
    const own = (await createFinder(operations, new Budget()))(resource, model);
    const library = (await createFinder(operations, new Budget(), () => undefined))(resource, model);
    for (const path of paths) {
      expect(library.find(path).map(place), `${path} of ${String(resource['id'])}, seed ${seed}`).toEqual(
        own.find(path).map(place),
      );
    }
  }
}, 60_000);

test('a patch that comes as XML does the same', async () => {
  const parts = {
    part: [
      { name: 'name', valueHumanName: { text: 'a' } },
      { name: 'gender', valueCode: 'male' },
    ],
  };
  const patch = patchOf({ type: 'add', path: 'Patient', name: 'contact', value: parts });
  const back = readXml(writeXml(patch, tables), tables);
  expect(await applyFhirPathPatch(patient({}), back, model)).toEqual(
    patient({ contact: [{ name: { text: 'a' }, gender: 'male' }] }),
  );
});

function nodesOf(node: Node): readonly Node[] {
  const elements = [...(typeOf(node, model)?.elements.values() ?? [])];
  return [node, ...elements.flatMap((element) => childNodes(node, element, model).flatMap(nodesOf))];
}

function place(node: Node): string {
  return JSON.stringify([contentPath(node, model), node.type]);
}
