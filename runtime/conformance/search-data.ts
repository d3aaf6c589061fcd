import type { SearchRow } from '../contract/search.js';
import type { Tables } from '../contract/tables.js';
import { rowsByName } from '../contract/type-rows.js';
import { searchDefinitions } from '../indexing/definitions.js';
import { createParameterContext } from '../indexing/parameters/parameter-context.js';
import { readParameterSet } from '../indexing/parameters/parameter-set.js';
import { fillRow, type ChooseTarget } from './fill-row.js';
import type { MinimalValues } from './minimal-resource.js';
import type { MutableJson, Probe } from './probe.js';
import type { SampleValue } from './sample-values.js';

/** A search that finds one resource, and one that does not. */
export type Searched = Pick<SampleValue, 'finds' | 'misses'>;

/** Makes what searches are tried with. */
export interface SearchData {
  /** Returns a resource of a type that the server should take. */
  resource(type: string): Promise<MutableJson>;
  /** Returns what narrows a search to the patient that a resource refers to, `patient=Patient/1&`; empty where it has none. */
  narrowing(resource: MutableJson): string;
  /**
   * Puts what a search parameter reads into a resource.
   *
   * @param name of the parameter, or a chain
   * @param definition canonical of its SearchParameter
   * @param target the type to refer to, where the parameter reads a reference that may lead to it
   * @returns undefined: no data are known that could show whether it works
   */
  fill(resource: MutableJson, name: string, definition?: string, target?: string): Promise<Searched | undefined>;
  /** Returns the code of the parameter of a canonical, where it is another than a name. */
  codeOf(type: string, name: string, definition: string | undefined): string | undefined;
}

/**
 * Returns the maker of data for a server.
 *
 * @param byPatient types that the statement searches by `patient`
 */
export function createSearchData(
  tables: Tables,
  minimal: MinimalValues,
  probe: Probe,
  byPatient: ReadonlySet<string>,
): SearchData {
  const definitions = searchDefinitions(tables);
  const context = createParameterContext(tables);
  const types = rowsByName(tables.types);
  const targets = new Map<string, Promise<string>>();
  const stored = new Map<string, Promise<readonly ReadonlyMap<string, SearchRow>[]>>();
  let patient: string | undefined;
  const fill = (content: MutableJson, row: SearchRow, choose: ChooseTarget): ReturnType<typeof fillRow> =>
    fillRow(content, row, choose, { rows: types, minimal, word: probe.word() });

  const targetOf = (type: string): Promise<string> => {
    let target = targets.get(type);
    if (target === undefined) {
      target = resource(type).then((content) => probe.create(content)).then(({ id }) => `${type}/${id}`); // prettier-ignore
      targets.set(type, target);
    }
    return target;
  };

  async function resource(type: string): Promise<MutableJson> {
    const content = minimal.resource(type);
    const row = byPatient.has(type) ? definitions.rowsOf(type).get('patient') : undefined;
    if (row !== undefined) {
      patient = await targetOf('Patient');
      await fill(content, row, () => Promise.resolve(patient ?? ''));
    }
    return content;
  }

  /** A parameter that the guide brings, as the server stores it. */
  async function storedRow(type: string, definition: string): Promise<SearchRow | undefined> {
    let read = stored.get(definition);
    if (read === undefined) {
      read = probe.ask('GET', `SearchParameter?url=${encodeURIComponent(definition)}`).then(({ body }) => {
        const entries = (body?.['entry'] ?? []) as { resource: MutableJson }[];
        const { parameters } = readParameterSet(entries.map((entry) => entry.resource), context); // prettier-ignore
        return parameters.map(({ rows }) => rows);
      });
      stored.set(definition, read);
    }
    const bases = [type, 'DomainResource', 'Resource'];
    for (const rows of await read) for (const base of bases) if (rows.has(base)) return rows.get(base);
    return undefined;
  }

  async function rowOf(type: string, name: string, definition?: string): Promise<SearchRow | undefined> {
    const rows = definitions.rowsOf(type);
    const own = rows.get(name) ?? [...rows.values()].find(({ url }) => url === definition);
    return own ?? (definition === undefined ? undefined : storedRow(type, definition));
  }

  const anyOf = (allowed: readonly string[], wanted = 'Patient'): Promise<string> => {
    const isFree = allowed.includes('Resource');
    return targetOf(isFree || allowed.includes(wanted) ? wanted : (allowed[0] ?? wanted));
  };

  return {
    resource,
    narrowing(content) {
      const isByPatient = byPatient.has(String(content['resourceType'])) && patient !== undefined;
      return isByPatient && JSON.stringify(content).includes(`"${patient}"`) ? `patient=${patient}&` : '';
    },
    async fill(content, name, definition, wanted) {
      const type = String(content['resourceType']);
      const [link = '', ...next] = name.split('.');
      const [code = '', named] = link.split(':');
      const row = await rowOf(type, code, next.length === 0 ? definition : undefined);
      if (row === undefined) return undefined;
      const special = SPECIAL[row.code];
      if (special !== undefined) return special(content, probe.word());
      if (next.length === 0) return fill(content, row, (allowed) => anyOf(allowed, wanted));
      let within: Searched | undefined;
      const value = await fill(content, row, async (allowed) => {
        for (const type of named === undefined ? allowed : [named]) {
          if ((await rowOf(type, next[0]?.split(':')[0] ?? '')) === undefined) continue;
          const target = await resource(type);
          within = await this.fill(target, next.join('.'));
          if (within !== undefined) return `${type}/${(await probe.create(target)).id}`;
        }
        return '';
      });
      return value === undefined ? undefined : within;
    },
    codeOf(type, name, definition) {
      if (definition === undefined) return undefined;
      const code = [...definitions.rowsOf(type).values()].find(({ url }) => url === definition)?.code;
      return code === name ? undefined : code;
    },
  };
}

/** Data of parameters that read no element that could be filled in. */
const SPECIAL: Readonly<Record<string, (content: MutableJson, word: string) => Searched>> = {
  _lastUpdated: () => ({ finds: 'gt2001-01-01', misses: 'lt2001-01-01' }),
  _text: inNarrative,
  _content: inNarrative,
  _filter(content, word) {
    content['meta'] = { tag: [{ code: word }] };
    return { finds: `_tag eq ${word}`, misses: `_tag eq ${word}-other` };
  },
};

function inNarrative(content: MutableJson, word: string): Searched {
  const finds = word.replaceAll('-', '');
  content['text'] = { status: 'generated', div: `<div xmlns="http://www.w3.org/1999/xhtml">${finds}</div>` };
  return { finds, misses: `${finds}other` };
}
