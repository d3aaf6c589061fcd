import type { Resource } from '../../../runtime/fhir/resource.js';
import { openStore } from '../../contract/open-store.js';

const AT_ONCE = 500;
const FILLER = 'x'.repeat(600);

/** Puts so many resources of each type into a store: `patient-0`, `patient-1`, … They have no index entries. */
export async function fillFor(url: string, types: readonly string[], each: number): Promise<void> {
  const store = await openStore(url);
  for (const type of types) {
    for (let at = 0; at < each; at += AT_ONCE) {
      const changes = Array.from({ length: Math.min(AT_ONCE, each - at) }, (_, i) => {
        const id = `${type.toLowerCase()}-${at + i}`;
        const content: Resource = { resourceType: type, id, language: 'en', implicitRules: FILLER };
        const body = {
          head: `{"resourceType":"${type}","id":"${id}","meta":{`,
          tail: `},"implicitRules":"${FILLER}","language":"en"}`,
        };
        return { type, id, expected: 0, body, content, entries: [] };
      });
      await store.write(changes);
    }
  }
  await store.close();
}
