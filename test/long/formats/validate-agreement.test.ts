import { describe, expect, it } from 'vitest';
import { tables } from '../../../generated/tables.js';
import { readJson } from '../../../runtime/format/read-json.js';
import { createValidator } from '../../../runtime/validate/create-validator.js';
import { exampleFiles, readExample } from '../../conformance/formats/examples.js';
import { compileJsonSchema } from '../../conformance/validation/json-schema-oracle.js';
import { compareOnMutations, REFUSED_BY_SCHEMA, tellError } from '../../conformance/validation/validate-agreement.js';

const files = exampleFiles();

describe('validation agrees with the official JSON schema (json.html, "JSON Schema")', () => {
  const oracle = compileJsonSchema();

  it('on all examples, read without loss, but those that the schema refuses for reasons known', () => {
    const validate = createValidator(tables);
    const refusedByUs: string[] = [];
    const refusedByThem: Record<string, string> = {};
    for (const file of files) {
      const { text, resource } = readExample(file);
      if (validate(readJson(text)).length > 0) refusedByUs.push(file);
      const error = oracle(resource);
      if (error) refusedByThem[file] = tellError(error);
    }
    expect(refusedByUs).toEqual([]);
    expect(refusedByThem).toEqual(REFUSED_BY_SCHEMA);
  });

  it('on 40,000 changes to examples, each difference explained', () => {
    const small = files.filter((file) => readExample(file).text.length < 100_000);
    const { cases, differences, unexplained } = compareOnMutations(tables, oracle, small, 24);
    expect(unexplained.slice(0, 20)).toEqual([]);
    expect(cases).toBeGreaterThan(40_000);
    expect([...differences].filter(([, count]) => count === 0)).toEqual([]);
  });
});
