import { DEFAULT_SERVICES } from '../../runtime/core/default-services.js';
import { tables } from '../../generated/tables.js';
import { DEFAULT_LIMITS } from '../../runtime/fhir/limits.js';
import type { Resource } from '../../runtime/fhir/resource.js';
import { readJson } from '../../runtime/format/read-json.js';
import { composePut } from '../../runtime/core/write/compose-change.js';
import { createExtractor } from '../../runtime/indexing/extract.js';
import type { Put, Store } from '../../runtime/store/store.js';
import { exampleFiles, readExample } from '../conformance/formats/examples.js';

/** Changes of one write. */
const AT_ONCE = 50;

/**
 * Each official example once, under its id or one of our own, as a server would write it that validates nothing.
 *
 * @returns the codes of those that are refused, too
 */
export async function composeExamples(): Promise<{ readonly puts: Put[]; readonly refused: string[] }> {
  const extract = createExtractor(tables);
  const puts = new Map<string, Put>();
  const refused: string[] = [];
  for (const [n, file] of exampleFiles().entries()) {
    const resource = readJson(readExample(file).text) as Resource;
    try {
      const id = typeof resource['id'] === 'string' ? resource['id'] : `example-${n}`;
      const put = await composePut(resource, id, undefined, { ...DEFAULT_SERVICES, extract, limits: DEFAULT_LIMITS });
      if (put !== undefined) puts.set(`${put.type}/${put.id}`, put);
    } catch (error) {
      refused.push((error as { code: string }).code);
    }
  }
  return { puts: [...puts.values()], refused };
}

/** Writes changes, some at a time. */
export async function writeInPieces(store: Store, puts: readonly Put[]): Promise<void> {
  for (let at = 0; at < puts.length; at += AT_ONCE) await store.write(puts.slice(at, at + AT_ONCE));
}
