import { join } from 'node:path';
import { makeModel } from '../../generator/generate.js';
import { loadDefinitions } from '../../generator/load/definitions.js';
import type { FhirElement, StructureDefinition } from '../../generator/load/fhir-json.js';
import { addTypes, typesFor } from '../../generator/load/types.js';
import { buildRules } from '../../generator/model/invariants.js';
import type { Model } from '../../generator/model/model.js';
import { buildStructures } from '../../generator/model/structures.js';
import { projectRoot } from '../../generator/project-root.js';
import { R5, readPackage } from './release.js';
import { changeJson, copyPackage, forgetUnpacked, pack } from './tarball.js';

/** What an element of Patient becomes. */
export type Change = (element: FhirElement) => readonly FhirElement[];

function changed<T extends StructureDefinition>(definition: T, change: Change): T {
  return { ...definition, snapshot: { element: definition.snapshot.element.flatMap(change) } };
}

/** The model of a copy of R5 in which elements of Patient were changed, read as anyone would have it read: as a tarball. */
export async function modelOfTarball(dir: string, change: Change): Promise<Model> {
  const patient = join(copyPackage('hl7.fhir.r5.core', dir), 'StructureDefinition-Patient.json');
  changeJson<StructureDefinition>(patient, (definition) => changed(definition, change));
  const file = pack(dir);
  try {
    return await makeModel({ package: file });
  } finally {
    forgetUnpacked(file);
  }
}

/** The same of the types alone, in memory. */
export async function typesWith(published: Model, change: Change): Promise<Model> {
  const loaded = await readPackage(R5);
  const { types } = loadDefinitions(`${projectRoot()}/definitions`);
  const { structures } = addTypes(loaded, typesFor(loaded.name, types));
  const definitions = structures.map((each) => (each.id === 'Patient' ? changed(each, change) : each));
  return { ...published, structures: buildStructures(definitions, buildRules(definitions)) };
}

/** The lines between the first and the last that differ: those of before, those of after. */
export function changeOf(before: string, after: string): readonly [readonly string[], readonly string[]] {
  const [old, now] = [before.split('\n'), after.split('\n')];
  const start = now.findIndex((line, index) => line !== old[index]);
  let end = 0;
  while (old.at(-1 - end) === now.at(-1 - end) && start + end < Math.min(old.length, now.length)) end++;
  const part = (lines: readonly string[]): string[] =>
    lines.slice(start, lines.length - end).map((line) => line.trim());
  return [part(old), part(now)];
}
