import { GeneratorError } from '../generator-error.js';
import type { FhirElement, SearchParameter, StructureDefinition, ValueSet } from './fhir-json.js';
import type { LoadedPackage } from './package.js';

/** A resource type beside those of the package. A file of `definitions/types/`. */
export interface TypeDefinition {
  /** Name of the package that it is for; no other gets it. */
  readonly package: string;
  /** Its definition, with what differs from its base. */
  readonly structure: Omit<StructureDefinition, 'snapshot'> & {
    readonly differential: { readonly element: readonly Partial<FhirElement>[] };
  };
  readonly searchParameters: readonly SearchParameter[];
}

/** Value sets of the types of resources, which a type of our own belongs to. */
const RESOURCE_TYPES: ReadonlySet<string> = new Set(
  ['resource-types', 'version-independent-all-resource-types'].map((name) => `http://hl7.org/fhir/ValueSet/${name}`),
);

/** https://hl7.org/fhir/R5/codesystem-fhir-types.html */
const FHIR_TYPES = 'http://hl7.org/fhir/fhir-types';

/** Every backbone has its elements. */
const BACKBONE = 'http://hl7.org/fhir/StructureDefinition/BackboneElement';

/** The types that are for a package. */
export function typesFor(packageName: string, types: readonly TypeDefinition[]): readonly TypeDefinition[] {
  return types.filter((each) => each.package === packageName);
}

/**
 * The package with types of our own.
 *
 * @throws GeneratorError where the package has a type of the same name, or lacks the base of one
 */
export function addTypes(loaded: LoadedPackage, types: readonly TypeDefinition[]): LoadedPackage {
  if (types.length === 0) return loaded;
  for (const { structure } of types) {
    if (loaded.structures.some(({ type }) => type === structure.type))
      throw new GeneratorError(`definitions/types: ${loaded.name}@${loaded.version} has a type ${structure.type}`);
  }
  const own = types.map(({ structure }) => ({
    ...withSnapshot(structure, loaded.structures),
    isAdditional: true as const,
  }));
  return {
    ...loaded,
    structures: [...loaded.structures, ...own],
    searchParameters: [...loaded.searchParameters, ...types.flatMap(({ searchParameters }) => searchParameters)],
  };
}

/** Expansions in which the value sets of resource types have types of our own. */
export function addTypeCodes(
  expansion: (url: string) => ValueSet | undefined,
  types: readonly TypeDefinition[],
): (url: string) => ValueSet | undefined {
  if (types.length === 0) return expansion;
  const own = types.map(({ structure: { type } }) => ({ system: FHIR_TYPES, code: type, display: type }));
  return (url) => {
    const found = expansion(url);
    const contains = found?.expansion?.contains;
    if (found === undefined || contains === undefined || !RESOURCE_TYPES.has(url)) return found;
    return { ...found, expansion: { ...found.expansion, contains: [...contains, ...own] } };
  };
}

/**
 * Makes the snapshot of a type: the elements of its base, then its own, each backbone with the elements that all have.
 * https://hl7.org/fhir/R5/profiling.html#snapshot
 *
 * @throws GeneratorError where its base, or BackboneElement, is not among the definitions
 */
export function withSnapshot(
  { differential, ...structure }: TypeDefinition['structure'],
  definitions: readonly StructureDefinition[],
): StructureDefinition {
  const { type, url, baseDefinition } = structure;
  const inherited = (base: string, path: string): FhirElement[] => {
    const found = definitions.find((each) => each.url === base);
    if (found === undefined) throw new GeneratorError(`${url}: there is no definition ${base}`);
    const rename = (name: string): string => `${path}${name.slice(found.type.length)}`;
    return found.snapshot.element.map((each) => ({ ...each, id: rename(each.id), path: rename(each.path) }));
  };
  const [head, ...others] = inherited(baseDefinition ?? '', type);
  const [own, ...elements] = differential.element;
  const parts = elements.flatMap((part): FhirElement[] => {
    const element = based(part);
    const isBackbone = element.type?.[0]?.code === 'BackboneElement';
    const below = isBackbone ? inherited(BACKBONE, element.path).slice(1) : [];
    return [element, ...below];
  });
  const root = { ...based(own ?? {}), constraint: [...(head?.constraint ?? []), ...(own?.constraint ?? [])] };
  return { ...structure, snapshot: { element: [root, ...others, ...parts] } };
}

/** The base of an element that no other definition has is the element itself. */
function based(element: Partial<FhirElement>): FhirElement {
  const { id = '', path = '', min = 0, max = '1' } = element;
  return { ...element, id, path, min, max, base: { path } };
}
