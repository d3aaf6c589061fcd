import type { JsonObject, Resource } from '../../../runtime/fhir/resource.js';
import { openStore } from '../../contract/open-store.js';

const AT_ONCE = 500;
const FILLER = 'x'.repeat(600);

/**
 * Puts so many resources of each type into a store: `patient-0`, `patient-1`, … They have no index entries.
 *
 * @param elements what each of them has besides
 */
export async function fillFor(
  url: string,
  types: readonly string[],
  each: number,
  elements: JsonObject = {},
): Promise<void> {
  const more = Object.keys(elements).length === 0 ? '' : `,${JSON.stringify(elements).slice(1, -1)}`;
  const store = await openStore(url);
  for (const type of types) {
    for (let at = 0; at < each; at += AT_ONCE) {
      const changes = Array.from({ length: Math.min(AT_ONCE, each - at) }, (_, i) => {
        const id = `${type.toLowerCase()}-${at + i}`;
        const content: Resource = { resourceType: type, id, language: 'en', implicitRules: FILLER, ...elements };
        const body = {
          head: `{"resourceType":"${type}","id":"${id}","meta":{`,
          tail: `},"implicitRules":"${FILLER}","language":"en"${more}}`,
        };
        return { type, id, expected: 0, body, content, entries: [] };
      });
      await store.write(changes);
    }
  }
  await store.close();
}
