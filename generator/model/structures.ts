import { isDeepStrictEqual } from 'node:util';
import type { BindingStrength, ElementRow } from '../../runtime/contract/index.js';
import type { FhirElement, FhirElementType, StructureDefinition } from '../load/fhir-json.js';
import { GeneratorError } from '../generator-error.js';
import type { Rules } from './invariants.js';
import type { Element, Structure } from './model.js';
import { byCodePoint, tail, unversioned } from './names.js';

const FHIR_TYPE = 'http://hl7.org/fhir/StructureDefinition/structuredefinition-fhir-type';

/** https://hl7.org/fhir/extensions/StructureDefinition-structuredefinition-hierarchy.html */
const HIERARCHY = 'http://hl7.org/fhir/StructureDefinition/structuredefinition-hierarchy';

/** Types of elements whose children form a backbone type. */
const INLINE = new Set(['BackboneElement', 'Element']);

/**
 * Resources and datatypes (abstract ones too), each followed by its backbone types.
 * https://hl7.org/fhir/R5/structuredefinition.html
 */
export function buildStructures(definitions: readonly StructureDefinition[], rules: Rules): Structure[] {
  const specializations = definitions
    .filter((definition) => definition.derivation !== 'constraint')
    .filter((definition) => definition.kind === 'resource' || definition.kind === 'complex-type')
    .filter((definition) => definition.type !== 'PrimitiveType')
    .sort((a, b) => byCodePoint(a.type, b.type));
  const whole = specializations.flatMap((definition) => readStructures(definition, rules));
  const byName = new Map(whole.map((structure) => [structure.name, structure]));
  return whole.map((structure) => inherit(structure, byName));
}

function readStructures(definition: StructureDefinition, rules: Rules): Structure[] {
  const elements = definition.snapshot.element;
  const parents = new Set(elements.map((element) => parentOf(element.path)));
  return elements
    .filter((element) => element.path === definition.type || parents.has(element.path))
    .map((head) => {
      const root = head.path === definition.type;
      const base = root ? tail(definition.baseDefinition ?? '') : (head.type?.[0]?.code ?? '');
      if (!root && !INLINE.has(base)) {
        throw new GeneratorError(`${definition.url}: ${head.path} has children but is of type ${base}`);
      }
      return {
        name: head.path,
        kind: root ? (definition.kind === 'resource' ? 'resource' : 'datatype') : 'backbone',
        ...(root && definition.abstract ? { abstract: true as const } : {}),
        ...(root && definition.isAdditional === true ? { additional: true as const } : {}),
        ...(base === '' ? {} : { base }),
        url: definition.url,
        owner: definition.type,
        short: head.short ?? '',
        definition: head.definition ?? '',
        elements: elements
          .filter((element) => parentOf(element.path) === head.path && element.max !== '0')
          .map((element) => readElement(element, parents, rules)),
        inherited: 0,
        rules: rules.idsOf(head),
      };
    });
}

function parentOf(path: string): string {
  const dot = path.lastIndexOf('.');
  return dot < 0 ? '' : path.slice(0, dot);
}

function readElement(element: FhirElement, parents: ReadonlySet<string>, rules: Rules): Element {
  if (element.max !== '1' && element.max !== '*') {
    throw new GeneratorError(`${element.path}: maximum ${element.max} is neither 1 nor *`);
  }
  const stem = element.path.slice(element.path.lastIndexOf('.') + 1);
  const choice = stem.endsWith('[x]');
  const strength = element.binding?.strength;
  const valueSet = element.binding?.valueSet;
  const backbone = parents.has(element.path);
  const ids = backbone ? [] : rules.idsOf(element);
  const targets = targetsOf(element.type ?? []);
  const xml = element.representation?.[0];
  return {
    name: choice ? stem.slice(0, -3) : stem,
    types: backbone ? [element.path] : typesOf(element),
    ...(choice ? { choice: true as const } : {}),
    ...(element.min > 0 ? { min: element.min } : {}),
    ...(element.max === '*' ? { max: '*' as const } : {}),
    ...(targets === undefined ? {} : { targets }),
    ...(strength !== undefined && strength !== 'example' && valueSet !== undefined
      ? { binding: { strength: strength as BindingStrength, valueSet: unversioned(valueSet) } }
      : {}),
    ...(element.isSummary === true ? { summary: true as const } : {}),
    ...(element.isModifier === true ? { modifier: true as const } : {}),
    ...(ids.length > 0 ? { rules: ids } : {}),
    ...(xml === 'xmlAttr' ? { xml: 'attribute' as const } : isXhtml(element) ? { xml: 'xhtml' as const } : {}),
    path: element.path,
    short: element.short ?? '',
    definition: element.definition ?? '',
    ...(isHierarchy(element) ? { hierarchy: true as const } : {}),
    ...(strength === undefined || valueSet === undefined
      ? {}
      : { bound: { strength, valueSet: unversioned(valueSet) } }),
  };
}

/**
 * Type names of an element. Ids are strings to FHIRPath; their FHIR type depends on what they identify: snapshots
 * name `id` for those of elements too, whose values may be any string, and older releases `string` for resources.
 */
function typesOf(element: FhirElement): string[] {
  if (element.contentReference !== undefined) {
    return [element.contentReference.slice(element.contentReference.indexOf('#') + 1)];
  }
  if (element.base?.path === 'Element.id') return ['string'];
  if (element.base?.path === 'Resource.id') return ['id'];
  const codes = (element.type ?? []).map(
    (type) => type.extension?.find((extension) => extension.url === FHIR_TYPE)?.valueUrl ?? type.code,
  );
  if (element.path.endsWith('.div') && codes[0] === 'xhtml') return ['xhtml'];
  return [...new Set(codes)];
}

function targetsOf(types: readonly FhirElementType[]): Record<string, string[]> | undefined {
  const entries = types
    .map((type): [string, string[]] => [type.code, (type.targetProfile ?? []).map(tail)])
    // Resource as target allows any resource, which is no restriction.
    .filter(([, targets]) => targets.length > 0 && !targets.includes('Resource'));
  return entries.length === 0 ? undefined : Object.fromEntries(entries);
}

/** The XML representation, which is published on the type's value, not on the elements of that type. */
function isXhtml(element: FhirElement): boolean {
  return element.type?.[0]?.code === 'xhtml';
}

/** Whether an element is a hierarchy. The extension may be present with the value false. */
function isHierarchy({ type = [] }: FhirElement): boolean {
  const extensions = type.flatMap(({ extension = [] }) => extension);
  return extensions.some(({ url, valueBoolean }) => url === HIERARCHY && valueBoolean === true);
}

/** Finds the nearest ancestor whose elements are, unchanged, the first elements of this type. */
function inherit(structure: Structure, byName: ReadonlyMap<string, Structure>): Structure {
  const { base: declared, ...rest } = structure;
  for (let base = byName.get(declared ?? ''); base !== undefined; base = byName.get(base.base ?? '')) {
    const front = structure.elements.slice(0, base.elements.length).map(rowOf);
    if (isDeepStrictEqual(front, base.elements.map(rowOf))) {
      return { ...rest, base: base.name, inherited: base.elements.length };
    }
  }
  return rest;
}

/** The row of an element in the generated tables. */
export function rowOf(element: Element): ElementRow {
  const { path: _path, short: _short, definition: _definition, bound: _bound, hierarchy: _hierarchy, ...row } = element;
  return row;
}
