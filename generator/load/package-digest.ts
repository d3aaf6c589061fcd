import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Types of the definitions that the generator reads. */
export const DEFINITION_KINDS: readonly string[] = [
  'StructureDefinition',
  'SearchParameter',
  'OperationDefinition',
  'CompartmentDefinition',
];

/** Definitions that are read on demand, or that a build packs: scripts/build.mjs. */
const OTHER_KINDS = new Set(['CodeSystem', 'ConceptMap', 'ValueSet']);

/**
 * Digest of the files of a package of which anything ends up in the product: over their names and bytes.
 *
 * @param take called with each of them
 */
export function digestPackage(
  dir: string,
  files = filesOf(dir),
  take: (file: string, bytes: Buffer) => void = () => {},
): string {
  const hash = createHash('sha256');
  for (const file of files) {
    if (!DEFINITION_KINDS.includes(kindOf(file)) && !OTHER_KINDS.has(kindOf(file))) continue;
    const bytes = readFileSync(join(dir, file));
    hash.update(file).update('\0').update(bytes).update('\0');
    take(file, bytes);
  }
  return hash.digest('hex');
}

/** The JSON files of a package, in code-point order. */
export function filesOf(dir: string): string[] {
  return readdirSync(dir)
    .filter((file) => file.endsWith('.json'))
    .sort((a, b) => (a < b ? -1 : 1));
}

/** The type of the resource in a file, by its name. */
export function kindOf(file: string): string {
  return file.slice(0, file.indexOf('-'));
}
