import fhirpath from 'fhirpath';
import r5 from 'fhirpath/fhir-context/r5';
import { describe, expect, test } from 'vitest';

import { tables } from '../../../generated/tables.js';
import type { Resource } from '../../../runtime/fhir/resource.js';
import { readXml } from '../../../runtime/format/xml/read-xml.js';
import { writeXml } from '../../../runtime/format/xml/write-xml.js';
import { diff } from './diff.js';
import { Budget } from '../../../runtime/patch/fhirpath/fhirpath-budget.js';
import { createFinder } from '../../../runtime/patch/fhirpath/fhirpath-find.js';
import {
  childNodes,
  contentPath,
  pathOf,
  rootNode,
  typeOf,
  type Node,
} from '../../../runtime/patch/fhirpath/fhirpath-node.js';
import { applyFhirPathPatch } from '../../../runtime/patch/fhirpath/fhirpath-patch.js';
import { createRandom, seedOfRun } from '../../contract/random.js';
import { patchOf } from './fhirpath-patch.js';
import { FOUND_IN, PATHS } from './fhirpath-paths.js';
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

test('paths of names and positions find the elements that have them, and calls change nothing that all have', () => {
  const seed = seedOfRun();
  const random = createRandom(seed);
  const resources = [...readVersions().values()].map((pool) => random.pick(pool));
  const some = Array.from({ length: 25 }, () => random.pick(resources));
  for (const resource of some) {
    const nodes = nodesOf(rootNode(resource));
    const { find } = createFinder(new Budget())(resource, model);
    for (const node of Array.from({ length: 3 }, () => random.pick(nodes))) {
      const path = pathOf(node);
      const what = `${path} of ${String(resource['id'])}, seed ${seed}`;
      expect(find(path).map(place), what).toEqual([place(node)]);
      expect(find(path.replace(/^[A-Za-z]+\./, '')).map(place), what).toEqual([place(node)]);
      expect(find(`${path}.where(true).first()`).map(place), what).toEqual([place(node)]);
      const names = path.replaceAll(/\[[0-9]+\]/g, '');
      const alike = nodes.filter((each) => pathOf(each).replaceAll(/\[[0-9]+\]/g, '') === names).map(place);
      expect(find(names).map(place), what).toEqual(alike);
      expect(find(`${names}.where($index >= 0)`).map(place), what).toEqual(alike);
    }
  }
}, 60_000);

describe('what paths find', () => {
  const find = createFinder(new Budget())(patient(FOUND_IN), model).find;
  test.each(PATHS)('%s finds what the FHIRPath library finds', (path) => {
    const expected: unknown = fhirpath.evaluate(patient(FOUND_IN), path, {}, r5);
    expect(find(path).map(({ item }) => item.value ?? null)).toEqual(expected);
  });
});

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
