import { readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';

import { tables } from '../../../generated/tables.js';
import { createParameterContext } from '../../../runtime/indexing/parameters/parameter-context.js';
import { readParameter } from '../../../runtime/indexing/parameters/read-parameter.js';
import { ParameterError } from '../../../runtime/indexing/parameters/stored-parameter.js';

const core = dirname(createRequire(import.meta.url).resolve('hl7.fhir.r5.core/package.json'));

/** Those that definitions/errata.json corrects: as they are published they mean something else, or nothing. */
const CORRECTED = 20;

it('parameters that come at run time are compiled as the generator compiles those of the package', () => {
  const context = createParameterContext(tables);
  const built = new Map(
    tables.search.map(({ type, parameters }) => [type, new Map(parameters.map((row) => [row.code, row]))]),
  );
  const other: string[] = [];
  let same = 0;
  for (const file of readdirSync(core).filter((name) => name.startsWith('SearchParameter-'))) {
    const resource = JSON.parse(readFileSync(join(core, file), 'utf8')) as Readonly<Record<string, unknown>>;
    const { url, code, type, expression } = resource as {
      url: string;
      code: string;
      type: string;
      expression?: string;
    };
    // They have no row each, are no paths, or have a name that nobody else may have.
    if (context.builtIn(url) === undefined || expression === undefined || type === 'special' || code.startsWith('_'))
      continue;
    try {
      const { rows } = readParameter({ ...resource, processingMode: 'normal' }, context, context.builtIn);
      const isSame = [...rows].every(([base, { paths, components }]) => {
        const row = built.get(base)?.get(code);
        // What covers a part is worked out of the package alone, which nothing replaces.
        const parts = row?.components?.map(({ coveredBy: _coveredBy, ...part }) => part);
        return JSON.stringify([paths, components]) === JSON.stringify([row?.paths, parts]);
      });
      if (isSame) same++;
      else other.push(url);
    } catch (error) {
      if (!(error instanceof ParameterError)) throw error;
      other.push(`${url}: ${error.message}`);
    }
  }
  expect(other.length, other.join('\n')).toBeLessThanOrEqual(CORRECTED);
  expect(same).toBeGreaterThan(1150);
});
