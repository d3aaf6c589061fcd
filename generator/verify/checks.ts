import { SORT_SLOTS, type PathStep } from '../../runtime/contract/index.js';
import type { Model } from '../model/model.js';

/** A check of a model: returns its faults, one line each. */
export type Check = (model: Model) => string[];

/** Names of all types that an element or a path may have. */
function typeNames(model: Model): Set<string> {
  return new Set([...model.structures, ...model.primitives].map(({ name }) => name));
}

function resourceNames(model: Model): Set<string> {
  return new Set(model.structures.filter(({ kind }) => kind === 'resource').map(({ name }) => name));
}

const elementTypesExist: Check = (model) => {
  const known = typeNames(model);
  return model.structures.flatMap((structure) =>
    structure.elements.flatMap((element) =>
      element.types.length === 0
        ? [`${element.path}: has no type`]
        : element.types.filter((type) => !known.has(type)).map((type) => `${element.path}: unknown type ${type}`),
    ),
  );
};

const targetsExist: Check = (model) => {
  const known = resourceNames(model);
  return model.structures.flatMap((structure) =>
    structure.elements.flatMap((element) =>
      Object.values(element.targets ?? {})
        .flat()
        .filter((target) => !known.has(target))
        .map((target) => `${element.path}: unknown target ${target}`),
    ),
  );
};

const namesAreUnique: Check = (model) => [
  ...repeated(
    'type',
    model.structures.map(({ name }) => name),
  ),
  ...repeated(
    'rule',
    model.invariants.map(({ id }) => id),
  ),
  ...repeated(
    'operation',
    model.operations.map(({ id }) => id),
  ),
  ...repeated(
    'compartment',
    model.compartments.map(({ type }) => type),
  ),
  ...model.structures.flatMap(({ name, elements }) =>
    repeated(
      `${name}: element`,
      elements.map((element) => element.name),
    ),
  ),
  ...model.search.flatMap(({ type, parameters }) =>
    repeated(
      `${type}: search parameter`,
      parameters.map(({ code }) => code),
    ),
  ),
];

function repeated(what: string, names: readonly string[]): string[] {
  const seen = new Set<string>();
  return names.filter((name) => seen.size === seen.add(name).size).map((name) => `${what} ${name} is defined twice`);
}

const rulesExist: Check = (model) => {
  const known = new Set(model.invariants.map(({ id }) => id));
  const used = model.structures.flatMap((structure) => [
    ...structure.rules,
    ...structure.elements.flatMap((element) => element.rules ?? []),
  ]);
  return [...new Set(used)].filter((id) => !known.has(id)).map((id) => `rule ${id} does not exist`);
};

const searchTargetsExist: Check = (model) => {
  const known = resourceNames(model);
  const parameters = model.search.flatMap(({ type, parameters }) =>
    parameters.map((parameter) => ({ type, parameter })),
  );
  return parameters.flatMap(({ type, parameter }) => [
    ...(parameter.targets ?? [])
      .filter((target) => !known.has(target))
      .map((target) => `${type}?${parameter.code}: unknown target ${target}`),
    ...parameter.paths
      .flatMap((path) => path.steps)
      .flatMap((step) => targetOf(step))
      .filter((target) => !known.has(target))
      .map((target) => `${type}?${parameter.code}: unknown type ${target}`),
  ]);
};

function targetOf(step: PathStep): string[] {
  if ('refers' in step) return [step.refers];
  return 'is' in step ? [step.is] : [];
}

/** A composite compares values of one element: without components it has nothing to compare. */
const compositesAreWhole: Check = (model) =>
  model.search.flatMap(({ type, parameters }) =>
    parameters
      .filter((parameter) => parameter.type === 'composite' && (parameter.components ?? []).length < 2)
      .map(({ code }) => `${type}?${code}: a composite with less than two components`),
  );

const slotsSuffice: Check = (model) => {
  const tables = new Map(model.search.map((table) => [table.type, table]));
  return model.search.flatMap((table) => {
    const slots: number[] = [];
    for (let next = tables.get(table.type); next !== undefined; next = tables.get(next.base ?? '')) {
      slots.push(...next.parameters.flatMap(({ slot }) => slot ?? []));
    }
    const fits = new Set(slots).size === slots.length && slots.every((slot) => slot >= 0 && slot < SORT_SLOTS);
    return fits
      ? []
      : [`${table.type}: its ${String(slots.length)} sortable parameters do not fit ${String(SORT_SLOTS)} slots`];
  });
};

const compartmentsHoldTogether: Check = (model) => {
  const tables = new Map(model.search.map((table) => [table.type, table]));
  const references = (type: string): Set<string> => {
    const codes = new Set<string>();
    for (let next = tables.get(type); next !== undefined; next = tables.get(next.base ?? '')) {
      next.parameters.filter((parameter) => parameter.type === 'reference').forEach(({ code }) => codes.add(code));
    }
    return codes;
  };
  return model.compartments.flatMap(({ type, members }) =>
    Object.entries(members).flatMap(([member, codes]) =>
      codes
        .filter((code) => code !== '{def}' && !references(member).has(code))
        .map((code) => `compartment ${type}: ${member} has no reference parameter ${code}`),
    ),
  );
};

const operationTypesExist: Check = (model) => {
  const known = new Set([...typeNames(model), 'Any', 'Type', 'Element', 'DataType']);
  return model.operations.flatMap((operation) =>
    operation.parameters
      .flatMap(({ name, type, allowedTypes }) => [type, ...(allowedTypes ?? [])].map((each) => ({ name, type: each })))
      .filter(({ type }) => type !== undefined && !known.has(type))
      .map(({ name, type }) => `$${operation.name}: parameter ${name} is of unknown type ${type ?? ''}`),
  );
};

/** Patterns are used in Unicode mode, where stray characters are errors. */
const patternsAreRegular: Check = (model) =>
  model.primitives.flatMap(({ name, pattern }) => {
    try {
      new RegExp(pattern ?? '', 'u');
      return [];
    } catch (error) {
      return [`${name}: its pattern is no regular expression (${(error as Error).message})`];
    }
  });

/** All checks of a model. */
export const checks: readonly Check[] = [
  elementTypesExist,
  targetsExist,
  namesAreUnique,
  rulesExist,
  searchTargetsExist,
  compositesAreWhole,
  slotsSuffice,
  compartmentsHoldTogether,
  operationTypesExist,
  patternsAreRegular,
];
