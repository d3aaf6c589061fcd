import { splitBranches } from '../../runtime/path/expression/branches.js';
import { tail, unversioned } from '../model/names.js';
import type { FhirElement, SearchParameter, StructureDefinition } from '../load/fhir-json.js';
import type { LoadedPackage } from '../load/package.js';

/** Counts of a package's definitions, by name. */
export type Census = Readonly<Record<string, number>>;

/**
 * Counts a package before corrections. `definitions/packages.json` has the expected counts: if one differs, the package is
 * not the one that the errata, the policy and the tests were written for.
 *
 * @param published the package with all its files
 * @param loaded the same without the definitions that the errata omit: counted for everything except the files
 */
export function takeCensus(published: LoadedPackage, loaded: LoadedPackage, expansions?: LoadedPackage): Census {
  const specializations = loaded.structures.filter((definition) => definition.derivation !== 'constraint');
  const ofKind = (kind: StructureDefinition['kind'], abstract: boolean): StructureDefinition[] =>
    specializations.filter((definition) => definition.kind === kind && definition.abstract === abstract);
  const resources = ofKind('resource', false);
  const types = specializations.filter((definition) => definition.kind !== 'logical');
  return {
    searchParameterFiles: published.searchParameters.length,
    operationDefinitionFiles: published.operations.length,
    resourceTypes: resources.length,
    abstractResourceTypes: ofKind('resource', true).length,
    complexTypes: ofKind('complex-type', false).length,
    abstractComplexTypes: ofKind('complex-type', true).length,
    primitiveTypes: ofKind('primitive-type', false).length,
    resourceProfiles: loaded.structures.filter(
      ({ kind, derivation }) => kind === 'resource' && derivation === 'constraint',
    ).length,
    ...countElements(resources, types),
    ...countSearch(loaded.searchParameters, resources),
    compartments: loaded.compartments.length,
    patientCompartmentTypes:
      loaded.compartments
        .find((definition) => definition.code === 'Patient')
        ?.resource?.filter((member) => (member.param ?? []).length > 0).length ?? 0,
    operations: loaded.operations.length,
    ...countInvariants(types),
    ...countBindings(specializations, loaded, expansions),
  };
}

function elementsOf(definitions: readonly StructureDefinition[]): FhirElement[] {
  return definitions.flatMap((definition) => definition.snapshot.element);
}

function countElements(resources: readonly StructureDefinition[], types: readonly StructureDefinition[]): Census {
  const elements = elementsOf(resources);
  const references = elements.filter((element) => element.contentReference !== undefined);
  const open = (list: readonly FhirElement[]): number =>
    list.filter((element) => (element.type ?? []).length === 54).length;
  return {
    resourceElements: elements.length,
    declaredElements: resources.reduce(
      (sum, { type, snapshot }) =>
        sum + snapshot.element.filter((element) => element.base?.path.split('.')[0] === type).length,
      0,
    ),
    largestResource: Math.max(...resources.map((definition) => definition.snapshot.element.length)),
    choiceElements: elements.filter((element) => element.path.endsWith('[x]')).length,
    openChoiceElements: open(elementsOf(types)),
    openChoiceElementsOfResources: open(elements),
    contentReferences: references.length,
    recursiveElements: references.filter((element) =>
      element.path.startsWith(`${element.contentReference?.slice(1) ?? ''}.`),
    ).length,
    versionedBindings: elementsOf(types.filter((type) => !type.abstract)).filter(
      (element) => element.binding?.valueSet?.includes('|') === true,
    ).length,
  };
}

function countSearch(parameters: readonly SearchParameter[], resources: readonly StructureDefinition[]): Census {
  const names = new Set(resources.map(({ type }) => type));
  const byType = new Map<string, number>();
  const pairs = new Set<string>();
  const branches = new Set<string>();
  for (const parameter of parameters) {
    byType.set(parameter.type, (byType.get(parameter.type) ?? 0) + 1);
    const all = splitBranches(parameter.expression ?? '');
    for (const base of parameter.base ?? []) {
      pairs.add(`${base} ${parameter.code}`);
      for (const branch of all) {
        if (/^\(*([A-Za-z]+)/.exec(branch)?.[1] === base) branches.add(`${base}\n${branch}`);
      }
    }
  }
  return {
    searchParameters: parameters.length,
    ownSearchPairs: [...pairs].filter((pair) => names.has(pair.slice(0, pair.indexOf(' ')))).length,
    allSearchPairs: expandPairs(parameters, resources).size,
    ...Object.fromEntries([...byType].map(([type, count]) => [`searchParameters.${type}`, count])),
    branches: branches.size,
    ...countBranchKinds([...branches].map((branch) => branch.slice(branch.indexOf('\n') + 1))),
  };
}

/** Pairs of concrete type and code; inherited parameters count for each type that inherits them. */
function expandPairs(parameters: readonly SearchParameter[], resources: readonly StructureDefinition[]): Set<string> {
  return new Set(
    resources.flatMap(({ type, baseDefinition }) => {
      const bases = [type, tail(baseDefinition ?? ''), 'Resource'];
      return parameters
        .filter(({ base }) => bases.some((name) => base?.includes(name)))
        .map(({ code }) => `${type} ${code}`);
    }),
  );
}

/** Kinds of branches; one with `ofType` below a `where` is nested. */
function countBranchKinds(branches: readonly string[]): Census {
  const counts = { nested: 0, ofType: 0, resolve: 0, where: 0, as: 0, notFalse: 0, extension: 0, plain: 0 };
  for (const branch of branches) {
    if (branch.includes('exists()).')) counts.nested++;
    else if (branch.includes('ofType(')) counts.ofType++;
    else if (branch.includes('resolve()')) counts.resolve++;
    else if (branch.includes('where(')) counts.where++;
    else if (branch.includes(' as ')) counts.as++;
    else if (branch.includes('!= false')) counts.notFalse++;
    else if (branch.includes('extension(')) counts.extension++;
    else counts.plain++;
  }
  return Object.fromEntries(Object.entries(counts).map(([kind, count]) => [`branches.${kind}`, count]));
}

function countInvariants(types: readonly StructureDefinition[]): Census {
  const constraints = elementsOf(types).flatMap((element) => element.constraint ?? []);
  const rules = new Map(constraints.map((rule) => [`${rule.key}\n${rule.expression ?? ''}`, rule]));
  const all = [...rules.values()];
  const judging = all.filter((rule) => rule.key !== 'ele-1' && rule.key !== 'ext-1');
  return {
    invariantKeys: new Set(all.map((rule) => rule.key)).size,
    invariants: all.length,
    errorInvariants: all.filter((rule) => rule.severity === 'error').length,
    warningInvariants: all.filter((rule) => rule.severity === 'warning').length,
    bestPracticeInvariants: all.filter((rule) =>
      rule.extension?.some(
        (extension) => tail(extension.url) === 'elementdefinition-bestpractice' && extension.valueBoolean === true,
      ),
    ).length,
    distinctExpressions: new Set(judging.map((rule) => rule.expression)).size,
  };
}

function countBindings(
  definitions: readonly StructureDefinition[],
  loaded: LoadedPackage,
  expansions: LoadedPackage | undefined,
): Census {
  const required = new Set(
    elementsOf(definitions)
      .filter((element) => element.binding?.strength === 'required')
      .map((element) => unversioned(element.binding?.valueSet ?? '')),
  );
  const expanded = [...required].filter((url) => expansions?.valueSet(url) !== undefined);
  const rest = [...required].filter((url) => !expanded.includes(url));
  return {
    requiredValueSets: required.size,
    expandedValueSets: expanded.length,
    decidableValueSets: expanded.length + rest.filter((url) => isEnumerable(url, loaded)).length,
  };
}

/** Whether the package has all codes of a value set: it includes whole code systems, which are complete in the package. */
function isEnumerable(url: string, loaded: LoadedPackage): boolean {
  const include = loaded.valueSet(url)?.compose?.include ?? [];
  return (
    include.length > 0 &&
    include.every(
      ({ system, filter }) => system !== undefined && filter === undefined && loaded.isCompleteCodeSystem(system),
    )
  );
}
