import { describe, expect, it } from 'vitest';

import { tables } from '../../../generated/tables.js';
import type { JsonObject } from '../../../runtime/fhir/resource.js';
import { compileView } from '../../../runtime/views/compile-view.js';
import { readView } from '../../../runtime/views/read-view.js';
import { readSuite, unordered, type SuiteCase, type SuiteFile } from './suite.js';

function rowsOf({ view }: SuiteCase, { resources }: SuiteFile): readonly JsonObject[] {
  const compiled = compileView(readView(view), tables, { now: new Date(0) });
  return resources.flatMap((each) =>
    compiled
      .rowsOf(each)
      .map((row) => Object.fromEntries(compiled.columns.map(({ name }, i) => [name, row[i] ?? null]))),
  );
}

describe('the language suite of SQL on FHIR, without a server', () => {
  const files = readSuite();

  it('is whole', () => {
    expect([files.length, files.reduce((sum, { cases }) => sum + cases.length, 0)]).toEqual([22, 144]);
  });

  describe.each(files)('$name', (file) => {
    it.each(file.cases)('$title', (each) => {
      if (each.expect === undefined) {
        expect(() => rowsOf(each, file)).toThrow();
        return;
      }
      const rows = rowsOf(each, file);
      expect(unordered(rows)).toEqual(unordered(each.expect));
      if (each.expectColumns !== undefined && rows[0] !== undefined)
        expect(Object.keys(rows[0])).toEqual(each.expectColumns);
    });
  });
});
