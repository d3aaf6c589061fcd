import type { OperationParameterRow, SearchRow } from '../runtime/contract/index.js';
import { cardinality } from './emit/pages-elements.js';
import { conditionWords, rowWords } from './emit/pages-scope-words.js';
import { descriptionFor, searchTables } from './emit/pages-search.js';
import { columns, nearest, text, titled, wrapped } from './explain-text.js';
import { GeneratorError } from './generator-error.js';
import type { Element, Model, OperationModel, Structure } from './model/model.js';
import { choiceName } from './model/names.js';
import { printInline, type InlineFormat } from './print/pages-inline.js';

/**
 * Describes for people, from the model,
 * - a type (`Patient`, `Patient.contact`, `HumanName`, `code`),
 * - an element (`Patient.contact.name`, `Patient.name.family`, `Observation.value[x]`, `Observation.valueQuantity`),
 * - a search parameter (`Patient?name`),
 * - an operation (`$everything`, `Patient/$everything`).
 *
 * @throws GeneratorError for an unknown name, with the nearest known ones
 */
export function explain(model: Model, path: string): string {
  if (path.includes('$')) return explainOperations(model, path);
  if (path.includes('?')) return explainParameter(model, path);
  const structure = model.structures.find(({ name }) => name === path);
  if (structure !== undefined) return explainType(model, structure);
  const primitive = model.primitives.find(({ name }) => name === path);
  if (primitive !== undefined) {
    const { url, definition, name, base, ...row } = primitive;
    return text(
      `${name}: primitive${base === undefined ? '' : `, extends ${base}`}`,
      definition,
      url,
      Object.entries(row).map(([key, value]) => `  ${key}: ${String(value)}`),
    );
  }
  return explainElement(model, path);
}

function explainType(model: Model, structure: Structure): string {
  const { name, base } = structure;
  const holder = model.structures.flatMap(({ elements }) => elements).find((element) => element.path === name);
  const [own, ...inherited] = searchTables(name, model);
  const operations = model.operations.filter((operation) => operation.types?.includes(name) === true);
  const compartments = model.compartments.filter(({ members }) => members[name] !== undefined);
  return text(
    [
      `${name}: ${structure.abstract === true ? 'abstract ' : ''}${structure.kind}`,
      ...(base === undefined ? [] : [`extends ${base}`]),
      ...(holder === undefined || structure.kind !== 'backbone' ? [] : [cardinality(holder)]),
    ].join(', '),
    structure.short,
    structure.url,
    titled('elements:', elementLines(structure)),
    titled('rules:', ruleLines(model, structure.rules)),
    titled('search parameters:', columns((own?.parameters ?? []).map(parameterColumns))),
    titled(
      'inherited search parameters:',
      wrapped([...new Set(inherited.flatMap(({ parameters }) => parameters.map(({ code }) => code)))]),
    ),
    titled(
      'operations:',
      columns(operations.map((operation) => [`$${operation.name}`, operation.levels.join(', '), operation.title])),
    ),
    compartments.length === 0 ? [] : `in compartments of ${compartments.map(({ type }) => type).join(', ')}`,
  );
}

function elementLines(structure: Structure): string[] {
  return columns(
    structure.elements.map((element, index) => [
      nameOf(element),
      cardinality(element),
      `${typesOf(element)}${index < structure.inherited ? `  (of ${structure.base ?? ''})` : ''}`,
    ]),
  );
}

function explainElement(model: Model, path: string): string {
  const [owner, element] = elementAt(model, path);
  const asked = path.slice(path.lastIndexOf('.') + 1).replace(/\[x\]$/, '');
  const form = element.types.find((type) => asked !== element.name && choiceName(element.name, type) === asked);
  const forms = element.choice === true ? element.types.map((type) => choiceName(element.name, type)) : [];
  return text(
    form === undefined
      ? `${element.path}  ${cardinality(element)}  ${typesOf(element)}`
      : `${owner.name}.${asked}  ${cardinality(element)}  ${form}, one form of ${nameOf(element)}`,
    element.short,
    '',
    element.definition.split(/\r?\n/),
    '',
    `in ${owner.name}${inheritedFrom(owner, element)}`,
    form === undefined ? titled('as:', wrapped(forms)) : [],
    Object.entries(element.targets ?? {})
      .filter(([type]) => form === undefined || form === type)
      .map(([type, targets]) => `${type} to: ${targets.join(', ')}`),
    bindingLines(model, element),
    element.summary === true ? 'part of the summary' : [],
    element.hierarchy === true ? 'hierarchy: refers to what this is below' : [],
    element.modifier === true ? 'modifier: may change the meaning of what holds it' : [],
    element.xml === undefined ? [] : `in XML: ${element.xml}`,
    titled('rules:', ruleLines(model, element.rules ?? [])),
    titled('searched by:', columns(searchedBy(model, owner, element))),
  );
}

function inheritedFrom(owner: Structure, element: Element): string {
  return owner.elements.indexOf(element) < owner.inherited ? `, inherited from ${owner.base ?? ''}` : '';
}

function bindingLines(model: Model, { bound }: Element): string[] {
  if (bound === undefined) return [];
  const table = model.codes.find(({ url }) => url === bound.valueSet);
  const codes = Object.values(table?.codes ?? {}).flat();
  return [`bound (${bound.strength}) to ${bound.valueSet}`, ...titled('codes:', wrapped(codes))];
}

/** The element that a path names, and its type. Each step leads through an element of one type, or one type of a choice. */
function elementAt(model: Model, path: string): readonly [Structure, Element] {
  const [head = '', ...names] = path.split('.');
  let owner = model.structures.find(({ name }) => name === head);
  if (owner === undefined) {
    const known = [
      ...model.structures.map(({ name }) => name).filter((name) => !name.includes('.')),
      ...model.primitives.map(({ name }) => name),
    ];
    throw missing(path, head === '' ? 'a path begins with a type, such as Patient' : `no type ${head}`, head, known);
  }
  for (const [index, name] of names.entries()) {
    const element = elementOf(owner, name);
    if (element === undefined) {
      const known = owner.elements.flatMap((candidate) => [nameOf(candidate), ...formsOf(candidate)]);
      throw missing(
        path,
        `${owner.name} has no element ${name === '' ? 'without a name' : name}`,
        name,
        known,
        owner.elements.map(nameOf),
      );
    }
    if (index === names.length - 1) return [owner, element];
    owner = typeOf(model, element, name, path);
  }
  throw missing(path, 'is neither a type nor a path; a path begins with a type, such as Patient', '', []);
}

function elementOf(structure: Structure, name: string): Element | undefined {
  const stem = name.replace(/\[x\]$/, '');
  return structure.elements.find((element) => element.name === stem || formsOf(element).includes(name));
}

/** The type of an element's children, if it has any, by the name that the path gives it. */
function typeOf(model: Model, element: Element, name: string, path: string): Structure {
  const type =
    element.types.length === 1
      ? element.types[0]
      : element.types.find((each) => choiceName(element.name, each) === name);
  if (type === undefined)
    throw missing(path, `${nameOf(element)} has several types; name one form`, '', [], formsOf(element));
  const structure = model.structures.find((candidate) => candidate.name === type);
  if (structure === undefined) throw missing(path, `${name} is a ${type}, which has no elements to go on to`, '', []);
  return structure;
}

function formsOf(element: Element): string[] {
  return element.choice === true ? element.types.map((type) => choiceName(element.name, type)) : [];
}

/** Search parameters whose expressions select an element or a descendant, for each type that inherits it. */
function searchedBy(model: Model, owner: Structure, element: Element): string[][] {
  const chain: Structure[] = [owner];
  for (let last = owner; last.elements.findIndex(({ name }) => name === element.name) < last.inherited;) {
    const base = model.structures.find(({ name }) => name === last.base);
    if (base === undefined) break;
    chain.push(base);
    last = base;
  }
  const starts = chain.map(
    ({ name }) => new RegExp(`(?<![\\w.])${name.replaceAll('.', '\\.')}\\.${element.name}(?!\\w)`),
  );
  return model.search.flatMap((table) =>
    table.parameters
      .filter(({ paths }) => paths.some((row) => starts.some((start) => start.test(row.text))))
      .map((row) => [`${table.type}?${row.code}`, row.type]),
  );
}

function explainParameter(model: Model, path: string): string {
  const [type = '', rest = ''] = path.split('?');
  const asked = rest.replace(/[:=&.].*$/, '');
  const tables = searchTables(type, model);
  const alias = tables.flatMap(({ aliases = [] }) => aliases).find(({ name }) => name === asked);
  const code = alias?.code ?? asked;
  if (tables.length === 0) {
    throw missing(
      path,
      `no resource type ${type}`,
      type,
      model.search.map((table) => table.type),
    );
  }
  const table = tables.find(({ parameters }) => parameters.some((row) => row.code === code));
  const parameter = table?.parameters.find((row) => row.code === code);
  if (table === undefined || parameter === undefined) {
    const known = tables.flatMap(({ parameters }) => parameters.map((row) => row.code));
    throw missing(path, `${type} has no search parameter ${code}`, code, known);
  }
  return text(
    `${type}?${code}: ${parameter.type} search parameter${table.type === type ? '' : `, inherited from ${table.type}`}`,
    parameter.url,
    alias === undefined ? [] : `${alias.name} is another name of it: ${alias.reason}`,
    descriptionFor(type, parameter.description).split(/\r?\n/),
    titled('looks at:', parameter.paths.length === 0 ? ['  no element'] : columns(pathColumns(parameter.paths))),
    titled(
      'components:',
      (parameter.components ?? []).flatMap(({ code: name, type: kind, paths }) => [
        `  ${name} (${kind})`,
        ...columns(pathColumns(paths)).map((line) => `  ${line}`),
      ]),
    ),
    titled('targets:', wrapped(parameter.targets ?? [])),
    titled('comparators:', wrapped(parameter.comparators ?? [])),
    titled('modifiers:', wrapped(parameter.modifiers ?? [])),
    parameter.hierarchy === undefined ? [] : 'hierarchy: its references lead up, level by level',
    parameter.slot === undefined ? [] : `sort slot: ${String(parameter.slot)}`,
  );
}

function pathColumns(paths: SearchRow['paths']): string[][] {
  return paths.map((row) => [row.text, row.types.join(' | '), ...(row.system === undefined ? [] : [row.system])]);
}

function parameterColumns(row: SearchRow): string[] {
  return [row.code, row.type, row.paths.map((path) => path.text).join(' | ')];
}

function explainOperations(model: Model, path: string): string {
  const [place = '', rest = ''] = path.split('$');
  const name = `$${rest}`;
  const type = place.replaceAll('/', '');
  const named = model.operations.filter((operation) => operation.name === rest);
  if (named.length === 0) {
    const known = model.operations.map((operation) => `$${operation.name}`);
    throw missing(path, `no operation ${name}`, name, known);
  }
  const found = named.filter(({ types, levels }) => {
    if (type === '') return true;
    return levels.some((level) => level !== 'system') && types?.includes(type) !== false;
  });
  if (found.length === 0) {
    const where = [...new Set(named.flatMap(({ types }) => types ?? ['only the whole system']))];
    throw missing(path, `${name} is not an operation of ${type}`, type, where, where);
  }
  return found.map((operation) => explainOperation(model, operation)).join('\n\n');
}

function explainOperation(model: Model, operation: OperationModel): string {
  const { types, levels, methods } = operation;
  const scopes = model.scopes.rows.filter((row) => row.operation === operation.id);
  return text(
    `$${operation.name}: ${operation.title}`,
    operation.url,
    operation.description.split(/\r?\n/),
    `called by ${methods.join(' or ')} on ${levels.join(', ')}`,
    titled(
      'types:',
      types === undefined ? (levels.some((level) => level !== 'system') ? ['  all'] : []) : wrapped(types),
    ),
    operation.affectsState ? 'changes what is stored' : 'changes nothing',
    titled('parameters:', columns(operation.parameters.flatMap((row) => operationParameter(row, '')))),
    titled('scopes:', columns(scopes.map((row) => [(row.levels ?? levels).join(', '), scopesOf(row, types)]))),
  );
}

/** The scopes that every such request needs, and the conditions that need further ones. */
function scopesOf(row: Model['scopes']['rows'][number], types: readonly string[] | undefined): string {
  const always = row.needs.filter(({ when }) => when === undefined);
  const some = conditionWords(row);
  const words = printInline(rowWords(row, always, types?.length === 1 ? types[0] : undefined), PLAIN);
  return some === '' ? words : `${words}; more with: ${some}`;
}

const PLAIN: InlineFormat = {
  text: String,
  code: String,
  mark: String,
  link: String,
  newLine: ' ',
  file: String,
};

function operationParameter(row: OperationParameterRow, path: string): string[][] {
  const name = `${path}${row.name}`;
  const type = (row.allowedTypes ?? [row.type ?? 'parts']).join(' | ');
  return [
    [name, row.use, `${String(row.min)}..${String(row.max)}`, type],
    ...(row.parts ?? []).flatMap((part) => operationParameter(part, `${name}.`)),
  ];
}

function ruleLines(model: Model, ids: readonly string[]): string[] {
  return model.invariants
    .filter(({ id }) => ids.includes(id))
    .flatMap((rule) => [`  ${rule.id} (${rule.severity}): ${rule.human}`, `    ${rule.expression}`]);
}

function nameOf(element: Element): string {
  return element.choice === true ? `${element.name}[x]` : element.name;
}

function typesOf(element: Element): string {
  return element.types.length > 20 ? `any of ${String(element.types.length)} types` : element.types.join(' | ');
}

/** The error for an unknown name: the fault, the nearest names, and the known names. */
function missing(
  path: string,
  fault: string,
  name: string,
  known: readonly string[],
  listed: readonly string[] = [],
): GeneratorError {
  const near = nearest(name, known);
  const advice = near.length === 0 ? '' : `; did you mean ${near.join(' or ')}?`;
  const list = listed.length === 0 ? [] : [`known here: ${listed.join(', ')}`];
  return new GeneratorError(`${path}: ${fault}${advice}`, list);
}
