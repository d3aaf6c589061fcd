import type {
  DiscriminatorRow,
  ExtensionContextRow,
  ProfileBindingRow,
  ProfileElementRow,
  ProfileRow,
  ProfileRuleRow,
  SlicingRow,
} from '../../../contract/profiles.js';
import type { ElementRow } from '../../../contract/types.js';
import { treeOf, type ElementNode } from './element-tree.js';
import type { FhirTypes } from '../fhir-types.js';
import { ProfileFault, unversioned, type DefinedElement, type StructureDefinition } from './structure-definition.js';
import { typesOf } from './type-rows.js';
import { withoutSame } from './without-same.js';

/**
 * Makes the row of a profile: what its snapshot has that the definition of its type has not.
 *
 * @throws ProfileFault where there is no snapshot, or it cannot be read
 */
export function profileRow(definition: StructureDefinition, types: FhirTypes): ProfileRow {
  const elements = definition.snapshot?.element;
  if (elements === undefined || elements.length === 0) throw new ProfileFault(`${definition.url} has no snapshot`);
  const { url, version, type, contextInvariant = [] } = definition;
  const tree = treeOf(elements);
  if (tree.name !== type) throw new ProfileFault(`${url} is of type ${type}; its elements begin with ${tree.name}`);
  const whole = rowOf(tree, undefined, [type], types) ?? { name: type };
  const { max = '*' } = tree.element ?? {};
  const root = type === 'Extension' && max !== '*' ? { ...whole, max: Number(max) } : whole;
  const contexts = contextsOf(definition);
  const imposes = imposedBy(definition);
  return {
    url,
    ...(version !== undefined && { version }),
    type,
    root,
    ...(imposes.length > 0 && { imposes }),
    ...(contexts.length > 0 && { contexts }),
    ...(type === 'Extension' && contextInvariant.length > 0 && { contextRules: contextInvariant }),
    ...(type === 'Extension' && tree.element?.isModifier === true && { modifier: true as const }),
    ...(type === 'Extension' && isTrial(definition) && { trial: true as const }),
  };
}

const STANDARDS_STATUS = 'http://hl7.org/fhir/StructureDefinition/structuredefinition-standards-status';

/** Whether a definition is marked as other than normative: its next version may contradict it. https://hl7.org/fhir/R5/versions.html#std-process */
export function isTrial({ extension = [] }: Pick<StructureDefinition, 'extension'>): boolean {
  return extension.some(({ url, valueCode }) => url === STANDARDS_STATUS && valueCode !== 'normative');
}

const IMPOSE = 'http://hl7.org/fhir/StructureDefinition/structuredefinition-imposeProfile';

/**
 * Canonicals of the profiles that a resource of this one has to conform to as well.
 * https://hl7.org/fhir/extensions/StructureDefinition-structuredefinition-imposeProfile.html
 */
export function imposedBy({ extension = [] }: Pick<StructureDefinition, 'extension'>): readonly string[] {
  return extension.flatMap(({ url, valueCanonical }) =>
    url === IMPOSE && typeof valueCanonical === 'string' ? [valueCanonical] : [],
  );
}

const CONTEXTS: ReadonlySet<string> = new Set(['element', 'extension', 'fhirpath']);

function contextsOf({ type, context = [] }: StructureDefinition): ExtensionContextRow[] {
  if (type !== 'Extension') return [];
  return context.flatMap(({ type: kind, expression }) =>
    CONTEXTS.has(kind) ? [{ type: kind as ExtensionContextRow['type'], expression }] : [],
  );
}

/**
 * The row of an element; undefined: the profile adds nothing.
 *
 * @param base the element as the type has it; undefined: it is the root
 * @param own types of its values
 */
function rowOf(
  node: ElementNode,
  base: ElementRow | undefined,
  own: readonly string[],
  types: FhirTypes,
): ProfileElementRow | undefined {
  const { element } = node;
  const slice = element?.sliceName;
  const name = node.name.replace('[x]', '');
  const children = node.children.flatMap((child) => childRow(child, own, types));
  const slicing = slicingOf(element);
  const main: ProfileElementRow = {
    ...{ name, ...(node.name.endsWith('[x]') && { choice: true as const }) },
    ...(slice !== undefined && { slice }),
    ...(element !== undefined && restrictions(element, base, own, types)),
    ...(children.length > 0 && { children }),
  };
  const slices = node.slices.map((each): ProfileElementRow => {
    const row = rowOf(each, base, narrowed(each, own, types), types) ?? { name, slice: each.element?.sliceName ?? '' };
    return withoutSame(row, main);
  });
  const isSliced = slices.length > 0 || slicing?.rules === 'closed';
  const row: ProfileElementRow = {
    ...main,
    ...(isSliced && slicing !== undefined && { slicing }),
    ...(slices.length > 0 && { slices }),
  };
  const isBare = Object.keys(row).every((key) => key === 'name' || key === 'choice');
  return isBare ? undefined : row;
}

function childRow(child: ElementNode, own: readonly string[], types: FhirTypes): ProfileElementRow[] {
  const name = child.name.replace('[x]', '');
  const [type = 'Element', ...others] = own;
  const base = types.element(others.length === 0 ? type : 'Element', name) ?? unknownElement(name, child);
  const row = rowOf(child, base, narrowed(child, base.types, types), types);
  return row === undefined ? [] : [row];
}

/** Of no type that is known here: all that is said of it is a restriction. */
function unknownElement(name: string, { element }: ElementNode): ElementRow {
  return { name, types: definedTypes(element), max: '*' };
}

/** The types that an element or slice is restricted to: what is below it is looked up in them. */
function narrowed({ element }: ElementNode, own: readonly string[], types: FhirTypes): readonly string[] {
  const defined = definedTypes(element).filter((type) => own.includes(type) || types.kindOf(type) === 'resource');
  return defined.length > 0 ? defined : own;
}

function definedTypes(element: DefinedElement | undefined): readonly string[] {
  return [...new Set(element?.type?.map(({ code }) => code))];
}

/** What is said about the element itself. */
function restrictions(
  element: DefinedElement,
  base: ElementRow | undefined,
  own: readonly string[],
  types: FhirTypes,
): Partial<ProfileElementRow> {
  const [fixed, pattern] = [valueOf(element, 'fixed'), valueOf(element, 'pattern')];
  const [minValue, maxValue] = [valueOf(element, 'minValue'), valueOf(element, 'maxValue')];
  const { maxLength } = element;
  const binding = bindingOf(element, base);
  const rules = rulesOf(element, types);
  const like = likeOf(element);
  const restricted = base === undefined ? undefined : typesOf(element, base, own, types);
  return {
    ...(base !== undefined && cardinality(element, base)),
    ...(restricted !== undefined && { types: restricted }),
    ...(fixed !== undefined && { fixed }),
    ...(pattern !== undefined && { pattern }),
    ...(typeof maxLength === 'number' && { maxLength }),
    ...(minValue !== undefined && { minValue }),
    ...(maxValue !== undefined && { maxValue }),
    ...(element.mustHaveValue === true && { mustHaveValue: true as const }),
    ...(binding !== undefined && { binding }),
    ...(rules.length > 0 && { rules }),
    ...(element.mustSupport === true && { mustSupport: true as const }),
    ...(like !== undefined && { like }),
  };
}

/** Of a slice all that is said: it holds for the slice alone. */
function cardinality({ min = 0, max, sliceName }: DefinedElement, base: ElementRow): Partial<ProfileElementRow> {
  const isSlice = sliceName !== undefined;
  const most = max === undefined || max === '*' ? Number.POSITIVE_INFINITY : Number(max);
  const hasMax = most < (base.max === '*' ? Number.POSITIVE_INFINITY : 1);
  return {
    ...(min > (isSlice ? 0 : (base.min ?? 0)) && { min }),
    ...(hasMax && { max: most }),
  };
}

/** `fixed[x]`, `pattern[x]`, `minValue[x]`, `maxValue[x]`. */
function valueOf(element: DefinedElement, stem: string): unknown {
  const key = Object.keys(element).find((each) => each.startsWith(stem) && /^[A-Z]/.test(each.slice(stem.length)));
  return key === undefined ? undefined : element[key];
}

function bindingOf({ binding }: DefinedElement, base: ElementRow | undefined): ProfileBindingRow | undefined {
  if (binding?.valueSet === undefined) return undefined;
  const { strength } = binding;
  if (strength !== 'required' && strength !== 'extensible') return undefined;
  const valueSet = binding.valueSet.replace(/\|5\.0\.0$/, '');
  const isSame = base?.binding?.strength === strength && base.binding.valueSet === unversioned(valueSet);
  return isSame ? undefined : { strength, valueSet };
}

function rulesOf({ constraint = [] }: DefinedElement, types: FhirTypes): ProfileRuleRow[] {
  return constraint.flatMap(({ key, severity, expression, human }) =>
    expression === undefined || types.isBaseRule(key, expression)
      ? []
      : [{ key, severity: severity === 'warning' ? ('warning' as const) : ('error' as const), expression, human }],
  );
}

/** A reference to an element of the same profile; one to the definition of the type says nothing more. */
function likeOf({ contentReference }: DefinedElement): string | undefined {
  return contentReference?.startsWith('#') === true ? contentReference.slice(1) : undefined;
}

const KINDS: ReadonlySet<string> = new Set(['value', 'pattern', 'type', 'exists', 'position', 'profile']);
const RULES: ReadonlySet<string> = new Set(['open', 'closed', 'openAtEnd']);

function slicingOf(element: DefinedElement | undefined): SlicingRow | undefined {
  const slicing = element?.slicing;
  if (slicing === undefined) return undefined;
  const { rules = 'open', ordered, discriminator = [] } = slicing;
  for (const { type } of discriminator) {
    if (!KINDS.has(type)) throw new ProfileFault(`${element?.path ?? ''}: ${type} is no type of discriminator`);
  }
  return {
    discriminators: discriminator.map(({ type, path }) => ({ type: type as DiscriminatorRow['type'], path })),
    rules: RULES.has(rules) ? (rules as SlicingRow['rules']) : 'open',
    ...(ordered === true && { ordered }),
  };
}
