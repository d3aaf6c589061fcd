import { describe, expect, it } from 'vitest';

import { tables } from '../../../generated/tables.js';
import { readInclude } from '../../../runtime/search-execution/parse/read-include.js';
import { searchDefinitions } from '../../../runtime/indexing/definitions.js';

const definitions = searchDefinitions(tables);

describe('what is followed backwards', () => {
  const read = (value: string, types = ['Patient']) =>
    readInclude('_revinclude:iterate', value, { types, definitions }).map(({ params, targets }) => ({
      params,
      targets,
    }));

  it('is asked for of the types alone to which the parameter leads', () => {
    expect(read('Condition:encounter')).toEqual([{ params: ['encounter'], targets: ['Encounter'] }]);
    expect(read('Encounter:subject')).toEqual([{ params: ['subject'], targets: ['Group', 'Patient'] }]);
  });

  it('is asked for of one type where that is named', () => {
    expect(read('Encounter:subject:Patient')).toEqual([{ params: ['subject'], targets: ['Patient'] }]);
  });

  it('is asked for of any type where all parameters are followed, so that they are one directive', () => {
    expect(read('Condition:*')).toContainEqual({ params: ['encounter'], targets: undefined });
  });
});
