import { readdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { createRequire } from 'node:module';
import { beforeAll, describe, expect, it } from 'vitest';
import { tables } from '../../../generated/tables.js';
import { exampleFiles, readExample } from './examples.js';

/** What is counted of the examples; the numbers are those of fhir-package-traps.md. */
const counts = {
  contained: 0,
  primitiveExtensions: 0,
  trailingZeros: 0,
  digitsLost: [] as string[],
  types: new Set<string>(),
};
const files = exampleFiles();

beforeAll(() => {
  for (const file of files) {
    const { text, resource } = readExample(file);
    counts.types.add(String(resource['resourceType']));
    if ('contained' in resource) counts.contained++;
    if (hasPrimitiveExtension(resource)) counts.primitiveExtensions++;
    for (const number of numbersIn(text)) {
      if (/\.\d*0$/.test(number)) counts.trailingZeros++;
      else if (!/e/i.test(number) && String(Number(number)) !== number) counts.digitsLost.push(number);
    }
  }
}, 60_000);

describe('hl7.fhir.r5.examples 5.0.0', () => {
  it('has 2,822 examples, 1,094 of them not in core', () => {
    const core = new Set(readdirSync(dirname(createRequire(import.meta.url).resolve('hl7.fhir.r5.core/package.json'))));
    expect(files).toHaveLength(2822);
    expect(files.filter((file) => !core.has(file))).toHaveLength(1094);
  });
  it('has one of every type of R5 but AdverseEvent', () => {
    expect(tables.resourceTypes.filter((type) => !counts.types.has(type))).toEqual(['AdverseEvent', 'ViewDefinition']);
  });
  it('has 309 with contained resources, 40 with primitive extensions', () => {
    expect(counts).toMatchObject({ contained: 309, primitiveExtensions: 40 });
  });
  it('has 330 decimals with trailing zeros and one value that loses digits as a double', () => {
    expect(counts).toMatchObject({ trailingZeros: 330, digitsLost: ['66.899999999999991'] });
  });
});

function hasPrimitiveExtension(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return Object.entries(value).some(([name, child]) => name.startsWith('_') || hasPrimitiveExtension(child));
}

/** The numbers of a JSON text, as written. */
function numbersIn(text: string): readonly string[] {
  return text.replace(/"(?:[^"\\]|\\.)*"/g, '""').match(/-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g) ?? [];
}
