import { join } from 'node:path';
import { loadPackage } from '../../generator/load/package.js';
import { buildModel } from '../../generator/model/build.js';
import type { Model } from '../../generator/model/model.js';
import { verifyModel } from '../../generator/verify/verify.js';

/** Folder of the toy package: ten types, enough to show every form that a table takes. */
export const TOY_PACKAGE = join(import.meta.dirname, 'package');

/** The model of the toy package, verified, with one profile and one scope row of its own. */
export function toyModel(dir = TOY_PACKAGE): Model {
  const loaded = loadPackage({ name: 'toy.fhir.core', version: '1.0.0', dir });
  const model = buildModel({
    package: loaded,
    expansion: loaded.valueSet,
    inputs: [{ name: loaded.name, version: loaded.version, sha256: loaded.integrity }],
    corrections: [],
    operations: [],
    exchanges: {
      headers: {},
      rows: [{ interactions: ['read'], headers: [], answers: [{ status: 200, text: 'The resource' }] }],
    },
    scopes: {
      rows: [
        { interaction: 'read', needs: [{ on: 'type', letters: 'r' }] },
        { interaction: 'operation', operation: 'Animal-weigh', needs: [{ on: 'type', letters: 'r' }] },
      ],
      custom: [],
      withheld: [],
      ownChains: [],
    },
    aliases: [
      { package: loaded.name, type: 'Visit', name: 'remark', code: 'note', reason: 'Others call it so.' },
      { package: loaded.name, type: 'Visit', name: 'animal', reason: 'It is called so already.' },
    ],
    profiles: { Animal: ['http://toy.example/fhir/StructureDefinition/dog'] },
  });
  verifyModel(model);
  return model;
}
