import { describe, expect, it } from 'vitest';

import { tables } from '../../../generated/tables.js';
import type { Resource } from '../../../runtime/fhir/resource.js';
import { templateOf } from '../../../runtime/pages/tools/template-of.js';
import { createValidator } from '../../../runtime/validate/create-validator.js';

describe('the template of a type', () => {
  const validate = createValidator(tables);

  it.each(tables.resourceTypes)('%s has what is required, in the right form', (type) => {
    const faults = validate(templateOf(type, tables) as Resource);
    expect(faults.map(({ text }) => text)).toEqual([]);
  });
});
