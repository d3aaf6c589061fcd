import { createHash } from 'node:crypto';
import { CONTRACT_VERSION } from '../../runtime/contract/index.js';
import type { Model } from '../model/model.js';
import { GENERATOR_VERSION } from '../print/header.js';
import type { Artefact } from './artefact.js';
import { routesOf } from './routes.js';

/** The file that marks a folder as the generator's, in which it may write and delete files. */
export const MANIFEST = 'manifest.json';

/** The sources of the output, the counts of its content, and a sha256 for every other file. */
export function emitManifest(model: Model, files: ReadonlyMap<string, string>): Artefact {
  const parameters = model.search.flatMap((table) => table.parameters);
  return {
    kind: 'json',
    path: MANIFEST,
    value: {
      generatedBy: 'kiln; do not edit: change the definitions and run `npm run generate`',
      generator: GENERATOR_VERSION,
      contract: CONTRACT_VERSION,
      fhirVersion: model.fhirVersion,
      inputs: model.inputs,
      ...(model.guides.length > 0 && {
        guides: model.guides.map(({ name, version, sha256, file }) => ({ name, version, sha256, file })),
      }),
      counts: {
        resourceTypes: model.capabilities.length,
        types: model.structures.length,
        elements: model.structures.reduce((sum, structure) => sum + structure.elements.length - structure.inherited, 0),
        primitives: model.primitives.length,
        searchParameters: parameters.length,
        searchAliases: model.search.reduce((sum, { aliases = [] }) => sum + aliases.length, 0),
        branches: parameters.reduce((sum, parameter) => sum + parameter.paths.length, 0),
        invariants: model.invariants.length,
        compartments: model.compartments.length,
        operations: model.operations.length,
        routes: routesOf(model).length,
        codeTables: model.codes.length,
        corrections: model.corrections.length,
        ...(model.views.length > 0 && { views: model.views.length }),
      },
      files: Object.fromEntries(
        [...files].map(([path, text]) => [path, createHash('sha256').update(text).digest('hex')]),
      ),
    },
  };
}
