import { expect } from 'vitest';

import { tables } from '../../../generated/tables.js';
import { equalJson } from '../../../runtime/fhir/equal.js';
import type { JsonValue, Resource } from '../../../runtime/fhir/resource.js';
import { readJson } from '../../../runtime/format/read-json.js';
import { writeJson } from '../../../runtime/format/write-json.js';
import { diff } from './diff.js';
import { applyFhirPathPatch } from '../../../runtime/patch/fhirpath/fhirpath-patch.js';
import { createValidator } from '../../../runtime/validate/create-validator.js';
import { createRandom } from '../../contract/random.js';
import { collectParts, model, mutate, readVersions, tidy } from './patch-versions.js';

const validate = createValidator(tables);

/**
 * Random pairs of versions: one is a change of the other, or both are examples of one type that have nothing to do with
 * each other. The patch is a Parameters resource that goes through JSON text, and gives the other version exactly.
 */
export async function tryRoundTrips(count: number, seed: number): Promise<void> {
  const random = createRandom(seed);
  const byType = readVersions();
  const types = [...byType.keys()];
  const parts = collectParts([...byType.values()].flat());
  for (let i = 0; i < count; i++) {
    const pool = byType.get(random.pick(types))!;
    const from = random.pick(pool);
    const to = random.chance(0.2) ? random.pick(pool) : mutate(from, parts, random);
    const [a, b] = random.chance(0.5) ? [from, to] : [to, from];
    await tryRoundTrip(a, b, `seed ${seed}, pair ${i}: ${a.resourceType}/${String(a['id'])}`);
  }
}

/** One pair of versions. */
export async function tryRoundTrip(a: Resource, b: Resource, name: string): Promise<void> {
  const before = text(a);
  const wanted = text(b);
  const patch = readJson(text(diff(a, b, model))) as Resource;
  const result = await applyFhirPathPatch(a, patch, model);
  if (!equalJson(tidy(result), tidy(b))) expect.soft(text(result), `${name}\n${text(patch)}`).toBe(text(b));
  expect(text(a), `${name}: the version before is as it was`).toBe(before);
  if (validate(b).length === 0) expect(validate(patch), `${name}: the patch is valid`).toEqual([]);
  expect(text(b), `${name}: the version after is as it was`).toBe(wanted);
  expect(diff(result, b, model), name).toEqual({ resourceType: 'Parameters' });
}

function text(value: JsonValue): string {
  return writeJson(value);
}
