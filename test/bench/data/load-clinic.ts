import { tables } from '../../../generated/tables.js';
import type { Resource } from '../../../runtime/fhir/resource.js';
import { createExtractor } from '../../../runtime/indexing/extract.js';
import type { Put, Store } from '../../../runtime/store/store.js';

/** Index entries, as a server makes them. */
export const extract = createExtractor(tables);

/** Resources that are written together. */
export const BATCH = 200;

/** Puts resources into a store that has none of them. @param wrote is told of each batch */
export async function load(store: Store, resources: Iterable<Resource>, wrote = (): void => {}): Promise<void> {
  let batch: Put[] = [];
  for (const content of resources) {
    batch.push(toPut(content));
    if (batch.length < BATCH) continue;
    await store.write(batch);
    wrote();
    batch = [];
  }
  await store.write(batch);
}

/** The change that puts in a resource that is not there yet. */
export function toPut(content: Resource): Put {
  const { resourceType: type, id: given, ...rest } = content;
  const id = String(given);
  const head = `${JSON.stringify({ resourceType: type, id }).slice(0, -1)},"meta":{`;
  const body = { head, tail: `},${JSON.stringify(rest).slice(1)}` };
  return { type, id, expected: 0, body, content, entries: extract(content) };
}
