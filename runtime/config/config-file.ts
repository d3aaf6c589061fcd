import { readFileSync } from 'node:fs';

import { isObject, type JsonObject, type JsonValue } from '../fhir/resource.js';
import { readJson } from '../format/read-json.js';
import { decodeUtf8 } from '../format/utf8.js';
import { ConfigError } from './config-error.js';

/** Why a file cannot be read: Node's codes in words. */
export const FILE_CAUSES: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file',
  ENOTDIR: 'there is no such file',
  EISDIR: 'that is a folder, not a file',
  EACCES: 'the file may not be read',
};

function readBytes(file: string, source: string): Buffer {
  try {
    return readFileSync(file);
  } catch (error) {
    const { code = '', message } = error as NodeJS.ErrnoException;
    throw new ConfigError(`${source} ${JSON.stringify(file)}: ${FILE_CAUSES[code] ?? message}`);
  }
}

/**
 * The keys of a configuration file with their values; objects within it are taken apart into keys with dots.
 *
 * @param source the option or variable that names the file
 * @param keys those whose value stands for itself
 * @param objects those of them whose value may be an object
 * @throws ConfigError naming the file
 */
export function readConfigFile(
  file: string,
  source: string,
  keys: ReadonlySet<string>,
  objects: ReadonlySet<string>,
): Map<string, JsonValue> {
  const bytes = readBytes(file, source);
  let value: JsonValue;
  try {
    value = readJson(decodeUtf8(bytes));
  } catch (error) {
    throw new ConfigError(`configuration file ${file}: ${error instanceof Error ? error.message : String(error)}`);
  }
  if (!isObject(value)) throw new ConfigError(`configuration file ${file}: has to be a JSON object`);
  const values = new Map<string, JsonValue>();
  flatten(value, '', (path, leaf) => {
    // `metrics.port` is the setting `metrics-port`: its siblings in a file are nested.
    const dashed = path.replaceAll('.', '-');
    const key = !keys.has(path) && keys.has(dashed) ? dashed : path;
    if (values.has(key)) throw new ConfigError(`configuration file ${file}: ${key} appears twice`);
    values.set(key, leaf);
  });
  return values;

  function flatten(object: JsonObject, prefix: string, add: (key: string, leaf: JsonValue) => void): void {
    for (const [name, member] of Object.entries(object)) {
      const key = prefix + name;
      if (isObject(member) && !keys.has(key)) flatten(member, `${key}.`, add);
      // An object `auth` holds the mode and the settings below it.
      else if (isObject(member) && !objects.has(key)) {
        const { mode, ...below } = member;
        if (mode !== undefined) add(key, mode);
        flatten(below, `${key}.`, add);
      } else add(key, member);
    }
  }
}
