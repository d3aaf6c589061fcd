import type { Model } from '../model/model.js';
import { byCodePoint } from '../model/names.js';
import type { Artefact, InterfaceDeclaration } from './artefact.js';

/** What a search parameter takes. */
const VALUE = 'SearchValues';

/** The search parameters of each type, for clients: `types/search-parameters.ts`. https://hl7.org/fhir/R5/searchparameter-registry.html */
export function emitSearchTypes(model: Model): Artefact {
  const concrete = model.structures.filter(({ kind, abstract }) => kind === 'resource' && abstract !== true);
  const tables = [...model.search].sort((a, b) => byCodePoint(a.type, b.type));
  const interfaces = tables.map(({ type, base, parameters }): InterfaceDeclaration => ({
    kind: 'interface',
    name: nameOf(type),
    doc: `Search parameters of ${type}.`,
    ...(base !== undefined && { extends: nameOf(base) }),
    // One that a type has anew takes what that of its base takes.
    properties: parameters
      .filter(
        ({ code }) =>
          !tables.some(({ type: of, parameters: all }) => of === base && all.some((each) => each.code === code)),
      )
      .sort((a, b) => byCodePoint(a.code, b.code))
      .map(({ code, type: kind }) => ({
        name: /^[A-Za-z_]\w*$/.test(code) ? code : `'${code}'`,
        type: `${VALUE}<'${kind}'>`,
        optional: true,
        doc: kind,
      })),
  }));
  const own = new Set(tables.map(({ type }) => type));
  return {
    kind: 'typescript',
    path: 'types/search-parameters.ts',
    source: model.package,
    imports: [],
    declarations: [
      { kind: 'alias', name: 'SearchValue', doc: 'A value of a search parameter.', type: 'string | number | boolean' },
      {
        kind: 'interface',
        name: 'OfKind<K extends string>',
        doc: 'No value is one of these: it tells types the kind of a parameter.',
        properties: [{ name: "'~kind'", type: 'K', optional: false, doc: '' }],
      },
      {
        kind: 'alias',
        name: 'SearchValues<K extends string = string>',
        doc: 'One value, or several of which all have to match. `K`: the kind of the parameter.',
        type: 'SearchValue | readonly SearchValue[] | OfKind<K>',
      },
      ...interfaces,
      {
        kind: 'interface',
        name: 'SearchParameters',
        doc: 'The search parameters of each resource type.',
        properties: concrete.map(({ name }) => ({
          name,
          type: nameOf(own.has(name) ? name : 'DomainResource'),
          optional: false,
          doc: '',
        })),
      },
    ],
  };
}

function nameOf(type: string): string {
  return `${type}Search`;
}
