import { describe, expect, it } from 'vitest';
import { splitBranches } from '../../../runtime/path/expression/branches.js';
import { compileBranch } from '../../../runtime/path/expression/compile.js';
import { indexTypes } from '../../../runtime/path/expression/type-index.js';
import type { Structure } from '../../../generator/model/model.js';
import { toyModel } from '../../golden/toy-model.js';

describe('splitBranches: the outermost unions of an expression', () => {
  const cases: [string, string[]][] = [
    ['', []],
    ['A.b', ['A.b']],
    ['A.b | C.d', ['A.b', 'C.d']],
    ['(A.b) | (C.d | E.f)', ['A.b', 'C.d', 'E.f']],
    ['((A.b as c))', ['A.b as c']],
    ['(a | b.c).first()', ['(a | b.c).first()']],
    ["A.b.where(c='|').d | E", ["A.b.where(c='|').d", 'E']],
    ['A.b.exists() and A.b != false', ['A.b.exists() and A.b != false']],
    ['A.b or A.c | A.d', ['A.b or A.c | A.d']],
    ['A.b | A.c xor A.d', ['A.b | A.c xor A.d']],
    ['A.b implies A.c | A.d', ['A.b implies A.c | A.d']],
    ["'x' in A.c | A.d", ["'x' in A.c | A.d"]],
    ['A.c | A.d contains 1', ['A.c | A.d contains 1']],
    ['(A.b | A.c) contains true | A.d', ['(A.b | A.c) contains true | A.d']],
    ['A.contains | A.in.or', ['A.contains', 'A.in.or']],
    ['contains.code | contains(1) | in', ['contains.code', 'contains(1)', 'in']],
    ['in in contains | in', ['in in contains | in']],
    ["A.b.where(c or d) | 'or' | A.d", ['A.b.where(c or d)', "'or'", 'A.d']],
    ['A.b as c | A.d is e', ['A.b as c', 'A.d is e']],
    ['A.b | ', ['A.b |']],
    ['A.b | (A.c', ['A.b | (A.c']],
    ['A.b.where(resolve() is C) | A.d[0]', ['A.b.where(resolve() is C)', 'A.d[0]']],
  ];
  it.each(cases)('%s', (text, expected) => expect(splitBranches(text)).toEqual(expected));
});

describe('compileBranch', () => {
  const model = toyModel();
  const parents = new Map([
    ['code', 'string'],
    ['string', 'Element'],
    ['Animal', 'Resource'],
    ['Visit', 'Resource'],
  ]);
  const types = indexTypes(model.structures, parents);
  const compile = (text: string, root = 'Visit') => compileBranch(text, root, types);

  it('takes the name of the type, or of one it specialises, as no step', () => {
    expect(compile('Visit.subject').steps).toEqual([{ get: 'subject' }]);
    expect(compile('Resource.id').steps).toEqual([{ get: 'id' }]);
    expect(compile('Visit')).toEqual({ steps: [], types: ['Visit'] });
  });

  it('resolves a choice to the names that stand in JSON', () => {
    expect(compile('Animal.deceased', 'Animal').steps).toEqual([
      { choose: { deceasedBoolean: 'boolean', deceasedString: 'string' } },
    ]);
    for (const text of [
      'Animal.deceased.ofType(boolean)',
      'Animal.deceased as boolean',
      'Animal.deceased.as(boolean)',
    ]) {
      expect(compile(text, 'Animal')).toMatchObject({ steps: [{ get: 'deceasedBoolean' }], types: ['boolean'] });
    }
  });

  it('lets ofType() on an element of that type anyway change nothing', () => {
    expect(compile('Visit.note.kind.ofType(code)').steps).toEqual([{ get: 'note' }, { get: 'kind' }]);
  });

  it('chooses by resource type among any resources', () => {
    const bag: Structure = {
      ...(model.structures.find(({ name }) => name === 'Visit') as Structure),
      name: 'Bag',
      elements: [{ name: 'item', types: ['Resource'], max: '*', path: 'Bag.item', short: '', definition: '' }],
    };
    const withBag = indexTypes([...model.structures, bag], parents);
    const steps = [{ get: 'item' }, { index: 0 }, { is: 'Animal' }];
    expect(compileBranch('Bag.item[0] as Animal', 'Bag', withBag)).toEqual({ steps, types: ['Animal'] });
  });

  it.each([
    ['Visit.nothing', /Visit has no element nothing/],
    ['Visit.note.kind.more', /code has no element more/],
    ["Visit.where(subject='x')", /a Reference never equals "x"/],
    ['Visit.note.ofType(Animal)', /Visit\.note cannot be a Animal/],
    ['Visit.subject.where(resolve() is Nobody)', /Nobody is not a resource type/],
    ['Visit.note.select(kind)', /select\(…\) of this form is not one of the steps/],
    ['Visit.note.where(kind != text)', /where\(…\) of this form/],
    ['Visit.note..kind', /expected a name at character 12, found "\."/],
    ['Visit.note.where(kind', /expected \) at character 22, found the end/],
    ['Visit.note + 1', /binary is no path/],
    ['Visit.note kind', /expected the end at character 12, found "kind"/],
    ['Visit.note.exists() and Visit.subject != false', /binary is no path/],
  ])('refuses %s', (text, message) => {
    expect(() => compile(text)).toThrow(message);
  });
});

describe('compileBranch refuses what it would get wrong, rather than match nothing or too much', () => {
  const model = toyModel();
  const parents = new Map([
    ['boolean', 'PrimitiveType'],
    ['string', 'PrimitiveType'],
    ['code', 'string'],
    ['Reference', 'Element'],
    ['Animal', 'Resource'],
    ['Visit', 'Resource'],
  ]);
  const types = indexTypes(model.structures, parents);

  it.each([
    ['narrowed twice', 'Animal', 'Animal.deceased.ofType(boolean).ofType(string)', /cannot be a string/],
    ['narrowed to an abstract type', 'Animal', 'Animal.deceased.ofType(Element)', /nothing is just a Element/],
    ['resolved to an abstract type', 'Visit', 'Visit.subject.where(resolve() is Resource)', /not a resource type/],
    ['resolved without a reference', 'Visit', 'Visit.note.where(resolve() is Animal)', /no reference to resolve/],
    [
      'a text compared with a boolean',
      'Animal',
      "Animal.deceased.ofType(boolean).where($this='x')",
      /\$this|not one of the steps|is no path|no element|never equals/,
    ],
    ['a boolean compared with a text', 'Visit', 'Visit.note.where(kind=true)', /a code never equals true/],
    ['the name of the type in a condition', 'Visit', 'Visit.where(Visit.subject.exists())', /has no element Visit/],
    ['an argument of exists()', 'Animal', 'Animal.deceased.exists(x) and Animal.deceased != false', /no path/],
    ['a second argument of extension()', 'Visit', "Visit.extension('a','b')", /not one of the steps/],
    ['a text where an operator stands', 'Visit', "Visit.subject 'as' Reference", /expected the end/],
    ['an unknown escape', 'Visit', "Visit.note.where(kind='\\q')", /is no escape/],
  ])('%s', (_name, root, text, message) => {
    expect(() => compileBranch(text, root, types)).toThrow(message);
  });

  it('reads escapes in strings', () => {
    const { steps } = compileBranch("Visit.note.where(kind='O\\'Neil\\u0021\\/')", 'Visit', types);
    expect(steps).toEqual([{ get: 'note' }, { where: [{ get: 'kind' }], equals: "O'Neil!/" }]);
  });
});
