import { readFile } from 'node:fs/promises';

import { ConfigError } from '../config/config-error.js';
import { FILE_CAUSES } from '../config/config-file.js';

/**
 * The text of a file that a setting names.
 *
 * @throws ConfigError naming setting and file, and nothing of its content
 */
export async function readNamedFile(setting: string, file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    throw new ConfigError(`${setting} ${JSON.stringify(file)}: ${FILE_CAUSES[code] ?? `it cannot be read (${code})`}`);
  }
}

/** A file of JSON. @throws ConfigError as `readNamedFile`, and where it is no JSON; the error quotes nothing of its content */
export async function readJsonFile(setting: string, file: string): Promise<unknown> {
  const text = await readNamedFile(setting, file);
  try {
    return JSON.parse(text) as unknown;
  } catch {
    throw new ConfigError(`${setting} ${JSON.stringify(file)}: it is not JSON`);
  }
}
