import type { Model } from '../model/model.js';
import { choiceName } from '../model/names.js';
import type { Artefact } from './artefact.js';

/**
 * Which properties of a resource are of one choice element, so that a client can refuse two at once: `types/choices.ts`.
 * https://hl7.org/fhir/R5/formats.html#choice
 */
export function emitChoiceTypes(model: Model): Artefact {
  const properties = model.structures
    .filter(({ kind, abstract }) => kind === 'resource' && abstract !== true)
    .flatMap(({ name, elements }) => {
      const members = elements
        .filter(({ choice }) => choice === true)
        .flatMap((element) => element.types.map((type) => `${choiceName(element.name, type)}: '${element.name}'`));
      if (members.length === 0) return [];
      return [{ name, type: `{ ${members.join('; ')} }`, optional: false, doc: '' }];
    });
  return {
    kind: 'typescript',
    path: 'types/choices.ts',
    source: model.package,
    imports: [],
    declarations: [
      {
        kind: 'interface',
        name: 'Choices',
        doc: 'Of each resource type that has such: the properties of choice elements, each with the name of its element.',
        properties,
      },
    ],
  };
}
