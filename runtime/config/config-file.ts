import { readFileSync } from 'node:fs';

import { isObject, type JsonObject, type JsonValue } from '../fhir/resource.js';
import { readJson } from '../format/read-json.js';
import { decodeUtf8 } from '../format/utf8.js';
import { ConfigError } from './config-error.js';

/**
 * The keys of a configuration file with their values; objects within it are taken apart into keys with dots.
 *
 * @param keys those whose value stands for itself
 * @throws ConfigError naming the file
 */
export function readConfigFile(file: string, keys: ReadonlySet<string>): Map<string, JsonValue> {
  let value: JsonValue;
  try {
    value = readJson(decodeUtf8(readFileSync(file)));
  } catch (error) {
    throw new ConfigError(`configuration file ${file}: ${error instanceof Error ? error.message : String(error)}`);
  }
  if (!isObject(value)) throw new ConfigError(`configuration file ${file}: has to be a JSON object`);
  const values = new Map<string, JsonValue>();
  flatten(value, '', (key, leaf) => {
    if (values.has(key)) throw new ConfigError(`configuration file ${file}: ${key} stands in it twice`);
    values.set(key, leaf);
  });
  return values;

  function flatten(object: JsonObject, prefix: string, add: (key: string, leaf: JsonValue) => void): void {
    for (const [name, member] of Object.entries(object)) {
      const key = prefix + name;
      if (isObject(member) && !keys.has(key)) flatten(member, `${key}.`, add);
      // An object `auth` holds the mode and the settings below it.
      else if (isObject(member)) {
        const { mode, ...below } = member;
        if (mode !== undefined) add(key, mode);
        flatten(below, `${key}.`, add);
      } else add(key, member);
    }
  }
}
