import type { Element, Model, Structure } from '../model/model.js';
import { byCodePoint, choiceName, kebab } from '../model/names.js';
import type { Artefact, ImportLine, InterfaceDeclaration } from './artefact.js';
import { emitChoiceTypes } from './choice-types.js';
import { emitGuideTypes, guideExports } from './guide-types.js';
import { emitOperationTypes } from './operation-types.js';
import { emitSearchTypes } from './search-types.js';
import { owners } from './type-tables.js';
import { viewExports } from './view-types.js';

/** TypeScript type of a primitive's JSON form. */
type Primitives = ReadonlyMap<string, string>;

/** Codes of a value set that is bound as required, by its URL. */
type Codes = ReadonlyMap<string, readonly string[]>;

/** What the type of an element depends on. */
interface Context {
  readonly primitives: Primitives;
  readonly codes: Codes;
  /** Types of references: they take the names of the types that they lead to. */
  readonly references: ReadonlySet<string>;
}

/**
 * Interfaces for the JSON form, one file for each resource type and datatype, and `resource.ts` with the union of all
 * resources, discriminated by `resourceType`. https://hl7.org/fhir/R5/json.html
 */
export function emitTypes(model: Model): Artefact[] {
  const primitives: Primitives = new Map(model.primitives.map((primitive) => [primitive.name, primitive.json]));
  const codes: Codes = new Map(
    model.codes.map(({ url, codes: all }) => [url, [...new Set(Object.values(all).flat())]]),
  );
  const context: Context = { primitives, codes, references: referencesOf(model, primitives) };
  const fileOf = new Map(model.structures.map((structure) => [structure.name, structure.owner]));
  const files = [...owners(model)].map(([owner, structures]): Artefact => {
    const declarations = structures.map((structure) => toInterface(structure, context));
    return {
      kind: 'typescript',
      path: `types/${kebab(owner)}.ts`,
      source: structures[0]?.url ?? '',
      imports: importsOf(owner, structures, primitives, fileOf),
      declarations,
    };
  });
  return [
    ...files,
    ...emitGuideTypes(model),
    emitUnion(model),
    emitOperationTypes(model),
    emitSearchTypes(model),
    emitChoiceTypes(model),
    emitIndex(model),
  ];
}

/** `Patient.contact` -> `PatientContact`. */
function interfaceName(type: string): string {
  return type
    .split('.')
    .map((part) => part.charAt(0).toUpperCase() + part.slice(1))
    .join('');
}

function importsOf(
  owner: string,
  structures: readonly Structure[],
  primitives: Primitives,
  fileOf: ReadonlyMap<string, string>,
): ImportLine[] {
  const files = new Map<string, Set<string>>();
  const use = (file: string, name: string): void => {
    if (file !== kebab(owner)) files.set(file, (files.get(file) ?? new Set()).add(name));
  };
  const useType = (type: string): void => use(kebab(fileOf.get(type) ?? type), interfaceName(type));
  for (const structure of structures) {
    if (structure.base !== undefined) useType(structure.base);
    for (const element of structure.elements.slice(structure.inherited)) {
      for (const type of element.types) {
        if (type === 'Resource') use('resource-union', 'AnyResource');
        else if (!primitives.has(type)) useType(type);
        else if (hasExtensions(element, structure)) useType('Element');
      }
    }
  }
  return [...files]
    .sort(([a], [b]) => byCodePoint(a, b))
    .map(([file, names]) => ({ names: [...names].sort(byCodePoint), from: `./${file}.js` }));
}

function toInterface(structure: Structure, context: Context): InterfaceDeclaration {
  const properties = structure.elements
    .slice(structure.inherited)
    .flatMap((element) => propertiesOf(element, structure, context));
  const concrete = structure.kind === 'resource' && structure.abstract !== true;
  const resourceType = concrete
    ? [{ name: 'resourceType', type: `'${structure.name}'`, optional: false, doc: 'Always the name of the type.' }]
    : [];
  return {
    kind: 'interface',
    name: interfaceName(structure.name) + (context.references.has(structure.name) ? '<T extends string = string>' : ''),
    doc: structure.short,
    ...(structure.base === undefined ? {} : { extends: interfaceName(structure.base) }),
    properties: [...resourceType, ...properties],
  };
}

/** The properties of an element: one for each of its types, and for primitives a second one with id and extensions. */
function propertiesOf(element: Element, structure: Structure, context: Context): InterfaceDeclaration['properties'] {
  const { primitives, codes } = context;
  return element.types.flatMap((type) => {
    const name = element.choice === true ? choiceName(element.name, type) : element.name;
    const json = primitives.get(type);
    const literals = literalsOf(element, type, codes) ?? leadsTo(element, type, structure, context);
    const one = literals ?? json ?? (type === 'Resource' ? 'AnyResource' : interfaceName(type));
    const many = element.max === '*';
    // A required primitive may have only an extension and no value (data absent), so its property is optional.
    const optional =
      (element.min ?? 0) === 0 || element.choice === true || (json !== undefined && element.xml === undefined);
    const doc = describe(element, type);
    const value = { name, type: many ? (json === undefined ? `${one}[]` : `(${one} | null)[]`) : one, optional, doc };
    if (json === undefined || !hasExtensions(element, structure)) return [value];
    return [
      value,
      {
        name: `_${name}`,
        type: many ? '(Element | null)[]' : 'Element',
        optional: true,
        doc: `Id and extensions of ${name}.`,
      },
    ];
  });
}

/**
 * The types whose elements name the types that a reference leads to: Reference, which says so in its element `type`, and what
 * holds one. https://hl7.org/fhir/R5/references.html
 */
function referencesOf({ structures }: Model, primitives: Primitives): ReadonlySet<string> {
  const targeted = new Set(
    structures.flatMap(({ elements }) => elements.flatMap(({ targets = {} }) => Object.keys(targets))),
  );
  const candidates = structures.filter(({ name }) => targeted.has(name) && !primitives.has(name));
  const own = candidates.filter(({ elements }) => elements.some(saysType)).map(({ name }) => name);
  const holders = candidates.filter(({ elements }) =>
    elements.some(({ types }) => types.some((type) => own.includes(type))),
  );
  return new Set([...own, ...holders.map(({ name }) => name)]);
}

function saysType({ name, types }: Element): boolean {
  return name === 'type' && types.includes('uri');
}

/** A reference with the types that it leads to; undefined: the element says nothing about them. */
function leadsTo(element: Element, type: string, { name }: Structure, { references }: Context): string | undefined {
  const isReference = references.has(name);
  if (isReference && saysType(element)) return 'T';
  if (!references.has(type)) return undefined;
  const targets = element.targets?.[type]?.map((target) => `'${target}'`).join(' | ');
  const parameter = targets ?? (isReference ? 'T' : undefined);
  return parameter === undefined ? undefined : `${interfaceName(type)}<${parameter}>`;
}

/** A union of more codes would say little and slow editors down. */
const MOST_LITERALS = 60;

/** The codes of a required binding as a union; undefined: the type says no more than its primitive. */
function literalsOf({ binding }: Element, type: string, codes: Codes): string | undefined {
  if (type !== 'code' || binding?.strength !== 'required') return undefined;
  const found = codes.get(binding.valueSet);
  if (found === undefined || found.length === 0 || found.length > MOST_LITERALS) return undefined;
  return found.map((code) => `'${code.replace(/[\\']/g, '\\$&')}'`).join(' | ');
}

/**
 * Whether a primitive may have an id and extensions: not if it is an attribute in XML, XHTML, or a resource's id.
 * https://hl7.org/fhir/R5/resource.html#id
 */
function hasExtensions(element: Element, structure: Structure): boolean {
  return element.xml === undefined && !(structure.name === 'Resource' && element.name === 'id');
}

function describe(element: Element, type: string): string {
  const targets = element.targets?.[type];
  const parts = [
    element.short,
    `${String(element.min ?? 0)}..${element.max ?? '1'} ${type}${targets === undefined ? '' : `(${targets.join(' | ')})`}`,
    ...(element.bound === undefined ? [] : [`${element.bound.strength}: ${element.bound.valueSet}`]),
    ...(element.modifier === true ? ['modifier'] : []),
  ];
  return parts.filter((part) => part !== '').join(' — ');
}

function emitUnion(model: Model): Artefact {
  const concrete = model.structures
    .filter((structure) => structure.kind === 'resource' && structure.abstract !== true)
    .map((structure) => structure.name);
  return {
    kind: 'typescript',
    path: 'types/resource-union.ts',
    source: model.package,
    imports: concrete.map((name) => ({ names: [name], from: `./${kebab(name)}.js` })),
    declarations: [
      {
        kind: 'alias',
        name: 'AnyResource',
        doc: 'Any resource; `resourceType` tells which.',
        type: concrete.join(' | '),
      },
      { kind: 'alias', name: 'ResourceType', doc: 'Name of a resource type.', type: "AnyResource['resourceType']" },
      {
        kind: 'alias',
        name: 'ResourceOf<T extends ResourceType>',
        doc: 'The interface of a resource type by its name.',
        type: 'Extract<AnyResource, { resourceType: T }>',
      },
    ],
  };
}

/** One module with all types of all resources and datatypes: `kiln/types`. */
function emitIndex(model: Model): Artefact {
  const modules = [...owners(model)].map(([owner, structures]) => ({
    names: structures.map(({ name }) => interfaceName(name)),
    from: `./${kebab(owner)}.js`,
  }));
  const others = [
    { names: ['AnyResource', 'ResourceOf', 'ResourceType'], from: './resource-union.js' },
    { names: ['Operations'], from: './operations.js' },
    { names: ['SearchParameters', 'SearchValues'], from: './search-parameters.js' },
    { names: ['Choices'], from: './choices.js' },
  ];
  return {
    kind: 'typescript',
    path: 'types/index.ts',
    source: model.package,
    imports: [],
    declarations: [],
    exports: [...modules, ...others, ...guideExports(model), ...viewExports(model)],
  };
}
