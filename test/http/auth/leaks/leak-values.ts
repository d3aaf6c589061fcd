import { OWN } from '../../../toy/own.js';
import type { IndexEntry } from '../../../../runtime/indexing/entry.js';
import { createExtractor } from '../../../../runtime/indexing/extract.js';
import type { Random } from '../../../contract/random.js';
import { leakTables } from './leak-parameters.js';
import { idsOfType, type Draft } from './leak-world.js';

/** Values that resources have, hidden ones too. */
export interface Values {
  has(type: string, param: string): boolean;
  /** What a parameter of a type may be asked for: a value that it has somewhere, or that another has. */
  find(type: string, param: string, random: Random): string;
}

const extract = createExtractor(leakTables, { own: OWN });

/** Reads the values off all versions of all resources. */
export function valuesOf(drafts: readonly Draft[]): Values {
  const found = new Map<string, string[]>();
  for (const { type, versions } of drafts) {
    for (const { content } of versions) {
      for (const entry of content === undefined ? [] : extract(content)) {
        const key = `${type} ${entry.param}`;
        const values = found.get(key) ?? [];
        found.set(key, values);
        values.push(textOf(entry));
      }
    }
  }
  const any = [...found.values()].flat();
  return {
    has: (type, param) => found.has(`${type} ${param}`),
    find(type, param, random) {
      if (param === '_id') return random.pick(idsOfType(type));
      return random.pick(found.get(`${type} ${param}`) ?? any);
    },
  };
}

/** An entry as a search writes it. */
function textOf(entry: IndexEntry): string {
  switch (entry.kind) {
    case 'token':
      return `${entry.system === undefined ? '' : `${entry.system}|`}${entry.code ?? ''}`;
    case 'string':
      return entry.text;
    case 'uri':
      return entry.value;
    case 'date':
      return new Date(entry.low ?? entry.high ?? 0).toISOString().slice(0, 10);
    case 'number':
      return String(entry.value);
    case 'quantity':
      return `${entry.value}|${entry.system ?? ''}|${entry.code ?? entry.unit ?? ''}`;
    case 'reference':
      return entry.url ?? entry.identifier?.value ?? `${entry.type}/${entry.id}`;
    case 'position':
      return `${entry.latitude}|${entry.longitude}|100|km`;
    case 'region':
      return `${(entry.south + entry.north) / 2}|${(entry.west + entry.east) / 2}`;
    case 'words':
      return entry.text.trim().split(/\s+/)[0] ?? '';
    case 'composite':
      return entry.parts.map(([part]) => (part === undefined ? '' : textOf(part))).join('$');
  }
}
