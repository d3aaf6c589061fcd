import { createHash } from 'node:crypto';
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';

import { loadPackage } from '../../generator/load/package.js';
import { projectRoot } from '../../generator/project-root.js';
import { TOY_PACKAGE } from '../golden/toy-model.js';

const folder = mkdtempSync(join(tmpdir(), 'kiln-digest-'));
afterAll(() => rmSync(folder, { recursive: true }));

const digestOf = (dir: string): string => loadPackage({ name: 'toy.fhir.core', version: '1.0.0', dir }).integrity;

describe('the digest of a package in the manifest', () => {
  it('changes with each file of which anything ends up in the product', () => {
    const kinds = /^(?:CodeSystem|CompartmentDefinition|ConceptMap|OperationDefinition|SearchParameter|StructureDefinition|ValueSet)-/; // prettier-ignore
    const dir = join(folder, 'package');
    cpSync(TOY_PACKAGE, dir, { recursive: true });
    for (const kind of ['ConceptMap', 'CodeSystem', 'ValueSet']) {
      writeFileSync(join(dir, `${kind}-added.json`), JSON.stringify({ resourceType: kind, id: 'added' }));
    }
    const before = digestOf(dir);
    const names = readdirSync(dir).filter((name) => kinds.test(name));
    expect(names.filter((name) => name.startsWith('ValueSet-')).length).toBeGreaterThan(0);
    for (const name of names) {
      const text = readFileSync(join(dir, name), 'utf8');
      writeFileSync(join(dir, name), `${text}\n`);
      expect(digestOf(dir), name).not.toBe(before);
      writeFileSync(join(dir, name), text);
    }
    expect(digestOf(dir)).toBe(before);
  });

  it('is never that of nothing', () => {
    const { inputs } = JSON.parse(readFileSync(join(projectRoot(), 'generated/manifest.json'), 'utf8')) as {
      inputs: { name: string; sha256: string }[];
    };
    expect(inputs.map(({ name }) => name)).toContain('hl7.fhir.r5.expansions');
    const nothing = createHash('sha256').digest('hex');
    expect(inputs.filter(({ sha256 }) => sha256 === nothing)).toEqual([]);
  });
});
