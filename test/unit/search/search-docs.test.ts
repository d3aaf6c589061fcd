import { describe, expect, it } from 'vitest';

import { OwnBases } from '../../../runtime/path/own-bases.js';
import type { SearchRow } from '../../../runtime/contract/search.js';
import { FhirError } from '../../../runtime/fhir/errors.js';
import { parseCriterion } from '../../../runtime/search/parse/parse-criterion.js';
import { utc } from '../../../runtime/indexing/values/zone.js';
import { cellOf, MODIFIERS, searchDocs, TYPES, unsearchable } from './search-docs.js';

/** A value that every modifier of a type takes. */
const VALUES = {
  string: 'x',
  token: 'a|b',
  reference: 'Patient/1',
  date: '2020',
  number: '1',
  quantity: '1',
  uri: 'urn:x',
  composite: 'x',
} as const;

describe('the page about searches', () => {
  it('is that of the tables', async () => {
    await expect(searchDocs()).toMatchFileSnapshot('../../../docs/search-parameters.md');
  });

  it('names the parameters that no search works by, and no others', () => {
    expect(unsearchable()).toEqual(['`Composition.section-code-text`']);
  });

  it.each(TYPES.flatMap((type) => MODIFIERS.map((modifier) => [type, modifier] as const)))(
    'tells the truth: %s, :%s',
    (type, modifier) => {
      const component = { code: 'c', type: 'string', paths: [{ text: 'x', steps: [], types: ['string'] }] } as const;
      const row: SearchRow = {
        code: 'p',
        type,
        url: 'urn:p',
        paths: [{ text: 'x', steps: [], types: ['Coding'] }],
        ...(type === 'composite' && { components: [component] }),
      };
      const context = {
        rows: new Map([['p', row]]),
        isResourceType: (name: string) => name === 'Patient',
        zone: utc,
        own: new OwnBases(),
        now: 0,
        maxAlternatives: 1,
        hierarchy: { type: 'Basic', hierarchies: new Map([['Patient', ['link']]]) },
      };
      const value = modifier === 'missing' ? 'true' : modifier === 'of-type' ? 'a|b|c' : VALUES[type];
      const name = `p:${modifier === '[type]' ? 'Patient' : modifier}`;
      const parse = (): unknown => parseCriterion(name, value, context);
      if (cellOf(modifier, type) === 'yes') {
        expect(parse()).toBeTypeOf('object');
        return;
      }
      expect(parse).toThrow(FhirError);
      expect(parse).toThrow(`"${name}"`);
      try {
        parse();
      } catch (error) {
        expect((error as FhirError).code).toBe('modifier-unknown');
      }
    },
  );
});
