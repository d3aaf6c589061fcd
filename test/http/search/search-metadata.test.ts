import { beforeAll, describe, expect, it } from 'vitest';

import { DEFAULT_SERVICES } from '../../../runtime/core/default-services.js';
import { tables } from '../../../generated/tables.js';
import { readSearchRequest } from '../../../runtime/search-execution/parse/search-request.js';
import { searchDefinitions } from '../../../runtime/indexing/definitions.js';
import { createValidator } from '../../../runtime/validate/create-validator.js';
import { useSearchServer } from '../search-server.js';
import { isCriterion } from './is-criterion.js';

interface Parameter {
  readonly name: string;
  readonly definition: string;
  readonly type: string;
  readonly documentation: string;
}

/** A value that a parameter of the type takes, of a composite its parts. */
const VALUES: Readonly<Record<string, string>> = {
  string: 'x',
  token: 'a',
  reference: '1',
  date: '2020',
  number: '1',
  quantity: '1',
  uri: 'urn:x',
  special: '1|2',
};

describe('the search parameters of /metadata, for all types (capabilitystatement.html)', () => {
  const server = useSearchServer({ tables });
  let statement: any; // eslint-disable-line @typescript-eslint/no-explicit-any
  let listed: Map<string, readonly Parameter[]>;
  beforeAll(async () => {
    statement = (await server.send('GET', '/metadata')).json();
    const resources: { type: string; searchParam?: Parameter[] }[] = statement.rest[0].resource;
    listed = new Map(resources.map(({ type, searchParam = [] }) => [type, searchParam.filter(isCriterion)]));
  });

  const rowOf = (type: string, code: string) => {
    for (let name: string | undefined = type; name !== undefined;) {
      const table = tables.search.find((each) => each.type === name);
      const row = table?.parameters.find((each) => each.code === code);
      if (row !== undefined) return row;
      name = table?.base;
    }
    return undefined;
  };
  const valueOf = (type: string, code: string): string => {
    const row = rowOf(type, code)!;
    const parts = row.type === 'composite' ? (row.components ?? []).map((part) => VALUES[part.type]!) : [];
    return row.type === 'composite' ? parts.join('$') : VALUES[row.type]!;
  };
  /** A type that a parameter can refer to, whose hierarchy is followed then. */
  const followedType = (type: string, code: string): string | undefined => {
    const codesOf = (target: string) => searchDefinitions(tables).hierarchies().get(target) ?? [];
    const targets = rowOf(type, code)?.targets ?? [];
    return targets.find((each) => codesOf(each).length === 1 || (each === type && codesOf(each).includes(code)));
  };
  const take = (type: string, name: string, value: string): void => {
    const params = [{ name, value, isInUrl: true }];
    readSearchRequest({ type, params, isLenient: false, isPosted: false, now: 0 }, { ...DEFAULT_SERVICES, tables });
  };

  it('is a valid statement, of each type with its own parameters and those of all', () => {
    expect(createValidator(tables)(statement)).toEqual([]);
    expect(listed.size).toBe(tables.resourceTypes.length);
    for (const [type, parameters] of listed) {
      const names = parameters.map(({ name }) => name);
      expect([type, new Set(names).size]).toEqual([type, names.length]);
      expect(names).toEqual(
        expect.arrayContaining(['_id', '_lastUpdated', '_profile', '_security', '_source', '_tag']),
      );
    }
    const count = [...listed].reduce((sum, [type, parameters]) => {
      const own = tables.search.find((table) => table.type === type)?.parameters.map(({ code }) => code) ?? [];
      return sum + parameters.filter(({ name }) => own.includes(name)).length;
    }, 0);
    // One does not work yet.
    const all = tables.search.filter(({ type }) => tables.resourceTypes.includes(type));
    expect(count).toBe(all.reduce((sum, { parameters }) => sum + parameters.length, 0) - 1);
  });

  it('what is claimed works: each parameter, each of its modifiers and prefixes', () => {
    for (const [type, parameters] of listed) {
      for (const { name, documentation, ...parameter } of parameters) {
        const own = { _filter: '_id eq x', _list: '1', _in: 'Group/1' }[name];
        if (own !== undefined) {
          take(type, name, own);
          continue;
        }
        const alias = / Another name for (\S+)\./.exec(documentation)?.[1];
        const row = rowOf(type, alias ?? name)!;
        expect(parameter).toEqual({ definition: row.url, type: row.type });
        const value = valueOf(type, row.code);
        take(type, name, value);
        if (documentation === 'Words and "phrases" with AND, OR, NOT and parentheses; no modifiers.') {
          expect(() => take(type, `${name}:missing`, 'true')).toThrow('no modifier');
          continue;
        }
        const [, modifiers = '', prefixes = '', , chain] =
          /^Modifiers: ([^.]+)\.(?: Values: [^.]+\.)?(?: Prefixes: ([^.]+)\.)?( Another name for \S+\.)?(?: Chains: (\S+\.)\[parameter\], \S+\.)?$/.exec(
            documentation,
          )!;
        expect([name, chain]).toEqual([name, row.type === 'reference' ? `${name}.` : undefined]);
        if (chain !== undefined) take(type, `${chain}_id`, 'a');
        for (const modifier of modifiers.split(', ').map((each) => each.slice(1))) {
          const values: Record<string, string> = { missing: 'true', 'of-type': 'a|b|c', ...(row.type === 'token' && { above: 'a|b', below: 'a|b' }) }; // prettier-ignore
          const isFollowed = row.type === 'reference' && (modifier === 'above' || modifier === 'below');
          const text = isFollowed ? `${followedType(type, row.code)}/1` : (values[modifier] ?? value);
          const word = modifier === '[type]' ? (row.targets?.[0] ?? 'Patient') : modifier;
          take(type, `${name}:${word}`, text);
        }
        for (const prefix of prefixes.split(', ').filter((each) => each !== '')) {
          take(type, name, `${prefix}${value}`);
        }
      }
    }
  });

  it('what is claimed can be included, and as much as there are references', () => {
    const resources: { type: string; searchInclude?: string[]; searchRevInclude?: string[] }[] =
      statement.rest[0].resource;
    const count = { forwards: 0, backwards: 0 };
    for (const { type, searchInclude = [], searchRevInclude = [] } of resources) {
      if (searchInclude.length > 0) expect(searchInclude[0]).toBe('*');
      for (const value of searchInclude) take(type, '_include', value);
      for (const value of searchRevInclude) take(type, '_revinclude', value);
      count.forwards += searchInclude.length;
      count.backwards += searchRevInclude.length;
    }
    const listsOf = tables.resourceTypes.flatMap((type) =>
      (listed.get(type) ?? []).filter(
        (each) => each.type === 'reference' && each.name !== '_in' && !each.documentation.includes('Another name'),
      ),
    );
    // Every type has references, if only those that all have; and is referred to.
    const types = tables.resourceTypes.length;
    expect(count.forwards).toBe(listsOf.length + types);
    expect(count.backwards).toBeGreaterThan(10_000);
  });

  it('searches over all types and compartments, too', () => {
    const [rest] = statement.rest;
    expect(rest.interaction.map(({ code }: { code: string }) => code)).toContain('search-system');
    expect(rest.searchParam.filter(isCriterion).map(({ name }: Parameter) => name)).toEqual([
      '_content',
      '_filter',
      '_id',
      '_language',
      '_lastUpdated',
      '_list',
      '_profile',
      '_security',
      '_source',
      '_tag',
      '_text',
    ]);
    expect(rest.compartment).toEqual(
      ['device', 'encounter', 'patient', 'practitioner', 'relatedPerson'].map(
        (name) => `http://hl7.org/fhir/CompartmentDefinition/${name}`,
      ),
    );
  });

  it('what is not claimed is refused', () => {
    for (const { type, parameters } of tables.search) {
      const of = listed.get(type) ?? listed.get('Patient')!;
      const missing = parameters.filter(({ code }) => !of.some(({ name }) => name === code));
      for (const { code } of missing) {
        const words = { _has: 'lacks a part of its _has', _type: 'belongs to searches', _query: 'there are none here' };
        const word = Object.hasOwn(words, code) ? words[code as keyof typeof words] : 'is not supported yet';
        expect(() => take(listed.has(type) ? type : 'Patient', code, 'x')).toThrow(word);
      }
    }
  });
});

describe('a Bundle of matches (bundle.html#searchset)', () => {
  const server = useSearchServer();

  it('is a valid one, with matches, notes and links', async () => {
    for (const id of ['a', 'b']) await server.send('PUT', `/Patient/${id}`, { resourceType: 'Patient', id });
    const headers = { prefer: 'handling=lenient' };
    const bundle = (await server.send('GET', '/Patient?_count=1&nmae=x&name=', undefined, headers)).json();
    expect(bundle.entry).toHaveLength(2);
    expect(createValidator(tables)(bundle)).toEqual([]);
  });
});
