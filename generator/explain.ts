import { GeneratorError } from './generator-error.js';
import type { Element, Model, Structure } from './model/model.js';
import { choiceName } from './model/names.js';

/**
 * What the model knows of a type (`Patient`, `Patient.contact`) or an element (`Patient.contact.name`,
 * `Observation.value[x]`, `Observation.valueQuantity`), for people.
 *
 * @throws GeneratorError where there is no such thing, naming what there is beside it
 */
export function explain(model: Model, path: string): string {
  const structure = model.structures.find(({ name }) => name === path);
  if (structure !== undefined) return explainType(model, structure);
  const primitive = model.primitives.find(({ name }) => name === path);
  if (primitive !== undefined) {
    const { url: _url, definition, ...row } = primitive;
    return [
      `${path}: primitive`,
      definition,
      ...Object.entries(row).map(([key, value]) => `  ${key}: ${String(value)}`),
    ].join('\n');
  }
  return explainElement(model, path);
}

function explainType(model: Model, structure: Structure): string {
  const table = model.search.find(({ type }) => type === structure.name);
  const elements = structure.elements.map((element, index) => {
    const inherited = index < structure.inherited ? `  (of ${structure.base ?? ''})` : '';
    return `  ${nameOf(element)}  ${cardinality(element)}  ${typesOf(element)}${inherited}`;
  });
  return [
    `${structure.name}: ${structure.kind}${structure.abstract === true ? ', abstract' : ''}${structure.base === undefined ? '' : `, extends ${structure.base}`}`,
    structure.short,
    structure.url,
    'elements:',
    ...elements,
    ...(structure.rules.length === 0 ? [] : [`rules: ${structure.rules.join(', ')}`]),
    ...(table === undefined
      ? []
      : [
          'search parameters:',
          ...table.parameters.map(
            (row) => `  ${row.code}  ${row.type}  ${row.paths.map(({ text }) => text).join(' | ')}`,
          ),
        ]),
  ].join('\n');
}

function explainElement(model: Model, path: string): string {
  const dot = path.lastIndexOf('.');
  const owner = typeAt(model, path.slice(0, Math.max(dot, 0)));
  const name = path.slice(dot + 1).replace(/\[x\]$/, '');
  const element = owner === undefined ? undefined : elementOf(owner, name);
  if (owner === undefined || element === undefined) {
    const beside =
      owner === undefined
        ? 'a path begins with a type, such as Patient'
        : `${owner.name} has ${owner.elements.map(nameOf).join(', ')}`;
    throw new GeneratorError(`${path}: no such type or element; ${beside}`);
  }
  const rules = (element.rules ?? []).flatMap((id) => model.invariants.filter((rule) => rule.id === id));
  const users = model.search.flatMap((table) =>
    table.parameters
      .filter((row) =>
        row.paths.some(({ text }) => text === element.path || text.startsWith(`${element.path.replace('[x]', '')}.`)),
      )
      .map((row) => `  ${table.type}?${row.code}  ${row.type}`),
  );
  return [
    `${element.path}  ${cardinality(element)}  ${typesOf(element)}`,
    element.short,
    '',
    element.definition,
    '',
    `in ${owner.name}${element.choice === true ? `, as ${element.types.map((type) => choiceName(element.name, type)).join(', ')}` : ''}`,
    ...Object.entries(element.targets ?? {}).map(([type, targets]) => `${type} to: ${targets.join(', ')}`),
    ...(element.bound === undefined ? [] : [`bound (${element.bound.strength}) to ${element.bound.valueSet}`]),
    ...(element.summary === true ? ['part of the summary'] : []),
    ...(element.modifier === true ? ['modifier'] : []),
    ...(element.xml === undefined ? [] : [`in XML: ${element.xml}`]),
    ...rules.map((rule) => `${rule.id} (${rule.severity}): ${rule.human}\n  ${rule.expression}`),
    ...(users.length === 0 ? [] : ['searched by:', ...users]),
  ].join('\n');
}

/** The type that a path leads to, through elements of one type each. */
function typeAt(model: Model, path: string): Structure | undefined {
  const [head = '', ...names] = path.split('.');
  let type = model.structures.find((structure) => structure.name === head);
  for (const name of names) {
    const element = type === undefined ? undefined : elementOf(type, name);
    const next = element?.types.find(
      (candidate) => element.types.length === 1 || choiceName(element.name, candidate) === name,
    );
    type = model.structures.find((structure) => structure.name === next);
  }
  return type;
}

function elementOf(structure: Structure, name: string): Element | undefined {
  return structure.elements.find(
    (element) =>
      element.name === name ||
      (element.choice === true && element.types.some((type) => choiceName(element.name, type) === name)),
  );
}

function nameOf(element: Element): string {
  return element.choice === true ? `${element.name}[x]` : element.name;
}

function cardinality(element: Element): string {
  return `${String(element.min ?? 0)}..${element.max ?? '1'}`;
}

function typesOf(element: Element): string {
  return element.types.length > 20 ? `any of ${String(element.types.length)} types` : element.types.join(' | ');
}
