import { readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

import {
  unversioned,
  type StructureDefinition,
} from '../../../runtime/validate/profiles/definition/structure-definition.js';

const folder = dirname(createRequire(import.meta.url).resolve('hl7.fhir.r5.core/package.json'));

/** A StructureDefinition of the package by its canonical. */
export function packageDefinition(canonical: string): StructureDefinition | undefined {
  const url = unversioned(canonical);
  const id = url.slice(url.lastIndexOf('/') + 1);
  if (!known.has(`StructureDefinition-${id}.json`)) return undefined;
  const text = readFileSync(join(folder, `StructureDefinition-${id}.json`), 'utf8');
  const definition = JSON.parse(text) as StructureDefinition;
  return definition.url === url ? definition : undefined;
}

const known: ReadonlySet<string> = new Set(readdirSync(folder));

/** The profiles of the package: definitions that constrain others. */
export function packageProfiles(): StructureDefinition[] {
  return [...known]
    .filter((name) => name.startsWith('StructureDefinition-'))
    .sort()
    .map((name) => JSON.parse(readFileSync(join(folder, name), 'utf8')) as StructureDefinition)
    .filter(({ derivation }) => derivation === 'constraint');
}
