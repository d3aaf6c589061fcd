import { describe, expect, it } from 'vitest';

import { tables } from '../../../generated/tables.js';
import { equalJson } from '../../../runtime/fhir/equal.js';
import type { JsonObject, Resource } from '../../../runtime/fhir/resource.js';
import { diff } from '../../conformance/patch/diff.js';
import { createPatchModel } from '../../../runtime/patch/fhirpath/fhirpath-model.js';
import { applyFhirPathPatch } from '../../../runtime/patch/fhirpath/fhirpath-patch.js';
import { MAX_PATCH_OPERATIONS } from '../../../runtime/patch/patch-limits.js';
import { createRandom, seedOfRun, type Random } from '../../contract/random.js';

const model = createPatchModel(tables);

const concept = (code: string): JsonObject => ({ code, display: `display of ${code}`, designation: [{ value: code }] });
const concepts = (count: number): JsonObject[] => Array.from({ length: count }, (_, i) => concept(`c${i}`));

/** Below the resource. */
const valueSet = (...lists: readonly (readonly JsonObject[])[]): Resource => ({
  resourceType: 'ValueSet',
  status: 'draft',
  compose: { include: lists.map((list, i) => ({ system: `urn:test:${i}`, concept: [...list] })) },
});

/** The resource's own. */
const codeSystem = (list: readonly JsonObject[]): Resource => ({
  resourceType: 'CodeSystem',
  status: 'draft',
  content: 'complete',
  concept: [...list],
});

/** Another list, by so many changes. */
function change(list: readonly JsonObject[], count: number, random: Random): JsonObject[] {
  const result = [...list];
  const place = (): number => random.below(Math.max(result.length, 1));
  for (let i = 0; i < count; i++) {
    const at = place();
    const what = random.below(4);
    if (what === 0) result.splice(at, 1);
    else if (what === 1) result.splice(at, 0, concept(`new${random.below(50)}`));
    else if (what === 2) result.splice(place(), 0, ...result.splice(at, 1));
    else result[at] = { ...result[at], display: `other ${random.below(9)}`, designation: [{ value: 'other' }] };
  }
  // A list is never empty.
  return result.length === 0 ? concepts(1) : result;
}

async function roundTrip(from: Resource, to: Resource, name: string, maxOperations?: number): Promise<number> {
  const patch = diff(from, to, model);
  const result = await applyFhirPathPatch(from, patch, model, maxOperations === undefined ? {} : { maxOperations });
  expect(equalJson(result, to), name).toBe(true);
  return (patch['parameter'] as unknown[] | undefined)?.length ?? 0;
}

describe('a difference is a patch that may be sent', () => {
  const seed = seedOfRun();

  it('of lists below the resource, however much differs', async () => {
    const random = createRandom(seed);
    for (let i = 0; i < 12; i++) {
      const lists = Array.from({ length: 1 + random.below(4) }, () => concepts(1 + random.below(1500)));
      const others = lists.map((list) =>
        random.chance(0.3) ? list.toReversed() : change(list, random.pick([1, 100, 3000]), random),
      );
      const count = await roundTrip(valueSet(...lists), valueSet(...others), `seed ${seed}, ${i}`);
      expect(count).toBeLessThanOrEqual(MAX_PATCH_OPERATIONS);
    }
  });

  it("of the resource's own lists, as long as not too many of their items differ", async () => {
    const random = createRandom(seed);
    for (let i = 0; i < 12; i++) {
      const list = concepts(1 + random.below(2000));
      const changes = random.below(200);
      const other = change(list, changes, random);
      const count = await roundTrip(codeSystem(list), codeSystem(other), `seed ${seed}, ${i}`);
      expect(count).toBeLessThanOrEqual(2 * changes);
    }
  });

  it('tells no more than has to be told', async () => {
    const list = concepts(3000);
    expect(await roundTrip(codeSystem(list), codeSystem(list.slice(1)), 'the first goes')).toBe(1);
    const turned = [...list.slice(1), ...list.slice(0, 1)];
    expect(await roundTrip(codeSystem(list), codeSystem(turned), 'the first goes to the end')).toBe(1);
    const renamed = list.map((each) => ({ ...each, display: 'x', definition: 'y' })).slice(0, 600);
    expect(await roundTrip(codeSystem(list.slice(0, 600)), codeSystem(renamed), 'as a whole')).toBe(600);
  });

  it('but of more items that differ than a patch may have operations', async () => {
    const list = concepts(1200);
    const other = list.map((each) => ({ ...each, display: 'x' }));
    expect(await roundTrip(codeSystem(list), codeSystem(other), 'all', Infinity)).toBe(1200);
    await expect(roundTrip(codeSystem(list), codeSystem(other), 'all')).rejects.toMatchObject({
      code: 'patch-too-large',
    });
  });
});
