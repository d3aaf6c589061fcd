import { describe, expect, it } from 'vitest';

import { tables } from '../../../generated/tables.js';
import type { JsonObject, Resource } from '../../../runtime/fhir/resource.js';
import { compileView } from '../../../runtime/views/compile-view.js';
import { readView } from '../../../runtime/views/read-view.js';

const rowsOf = (select: readonly object[], resource: object, most?: number) => {
  const view = {
    resourceType: 'ViewDefinition',
    status: 'draft',
    resource: 'Patient',
    select,
  } as unknown as JsonObject;
  const compiled = compileView(readView(view), tables, { now: new Date(0) });
  return compiled.rowsOf({ resourceType: 'Patient', id: 'p', ...resource } as Resource, most);
};

const names = (count: number) => Array.from({ length: count }, (_, i) => ({ family: `f${i}` }));
const twice = (name: string) => ({ unionAll: ['1', '2'].map((path) => ({ column: [{ name, path }] })) });
const each = (name: string, path: string) => ({ forEach: 'name', column: [{ name, path }] });

describe('one resource', () => {
  it('visits so many nodes at most, also where they make no row', () => {
    const siblings = Array.from({ length: 28 }, (_, i) => twice(`c${i}`));
    const none = { forEach: '{}', column: [{ name: 'z', path: '1' }] };
    expect(() => rowsOf([...siblings, none], {})).toThrow(/Patient\/p: has more than 300000 nodes/);
  });

  it('has so many characters in its cells at most', () => {
    const select = [{ column: [{ name: 'l', path: 'language' }] }, each('a', '1'), each('b', '1')];
    const resource = { language: 'x'.repeat(60_000), name: names(300) };
    expect(() => rowsOf(select, resource)).toThrow(/more than 16000000 characters/);
  });

  it('has so many cells at most', () => {
    const column = Array.from({ length: 500 }, (_, i) => ({ name: `c${i}`, path: '1' }));
    expect(() => rowsOf([{ column }, each('a', '1'), each('b', '1')], { name: names(300) })).toThrow(
      /more than 4000000 cells/,
    );
  });

  it('makes as many rows as are wanted', () => {
    const select = [each('a', 'family'), each('b', 'family'), each('c', 'family')];
    expect(rowsOf(select, { name: names(300) }, 2)).toEqual([
      ['f0', 'f0', 'f0'],
      ['f0', 'f0', 'f1'],
    ]);
    expect(() => rowsOf(select, { name: names(300) })).toThrow(/more than 100000 rows/);
    expect(rowsOf(select, { name: names(40) })).toHaveLength(64_000);
  });
});

describe('a column', () => {
  it('has a type of FHIR, or is refused before a run', () => {
    const select = (type: string) => [{ column: [{ name: 'born', path: 'birthDate', type }] }];
    expect(() => rowsOf(select('datum'), {})).toThrow(/there is no type datum; did you mean date\?/);
    for (const type of ['date', 'string', 'http://hl7.org/fhirpath/System.String'])
      expect(rowsOf(select(type), { birthDate: '1815-12-10' })).toEqual([['1815-12-10']]);
  });
});
