import { existsSync, readFileSync } from 'node:fs';

import type { ProfileRow, Tables } from './contract/index.js';

/** What a build makes of the generated modules; the sources, and what benches compile, have none. */
const packed = new URL('../generated/tables.json', import.meta.url);

/**
 * The generated tables. As one JSON text they take 9 MB and 100 ms less, in each thread that has them: V8 keeps the text and
 * the code of modules.
 */
export const tables: Tables = existsSync(packed)
  ? (JSON.parse(readFileSync(packed, 'utf8')) as Tables)
  : (await import('../generated/tables.js')).tables;

/** The generated profiles, loaded when the first is asked for. */
export async function loadProfiles(): Promise<readonly ProfileRow[]> {
  return (await import('../generated/profiles.js')).profiles;
}
