import type { ProfileElementRow, ProfileRow } from '../../runtime/contract/index.js';
import type { Element, Model, Structure } from '../model/model.js';
import { byCodePoint, choiceName, kebab, tail } from '../model/names.js';
import type { AliasDeclaration, Artefact, ImportLine } from './artefact.js';

/** Structures by name, and the names of primitive types. */
interface Context {
  readonly structures: ReadonlyMap<string, Structure>;
  readonly primitives: ReadonlySet<string>;
}

/** One property of a narrowed type: `'name'`, or `'name'?`. */
interface Property {
  readonly name: string;
  readonly type: string;
  readonly isOptional: boolean;
}

/**
 * A file for each guide with a type for each of its profiles, `WardPatientOfExampleGuide`: the type that it constrains, narrowed by cardinality,
 * fixed values and closed slices. What TypeScript cannot say stays as the type has it.
 */
export function emitGuideTypes(model: Model): Artefact[] {
  const context: Context = {
    structures: new Map(model.structures.map((structure) => [structure.name, structure])),
    primitives: new Set(model.primitives.map(({ name }) => name)),
  };
  return guideModules(model).map(({ path, guide, named }): Artefact => {
    const owners = [...new Set(named.map(([, { type }]) => type))].sort(byCodePoint);
    const types = named.map(([name, row]) => aliasOf(name, row, context));
    return {
      kind: 'typescript',
      path: `types/${path}.ts`,
      source: guide,
      imports: owners.map((type) => ({ names: [type], from: `../${kebab(type)}.js` })),
      declarations: types,
    };
  });
}

/** The exports of `kiln/types` for guides. */
export function guideExports(model: Model): ImportLine[] {
  return guideModules(model).map(({ path, named }) => ({ names: named.map(([name]) => name), from: `./${path}.js` }));
}

function guideModules(model: Model) {
  const rows = new Map(model.profiles.map((row) => [row.url, row]));
  const known = new Set(model.structures.filter(({ kind }) => kind !== 'backbone').map(({ name }) => name));
  const taken = new Set<string>();
  return model.guideProfiles.flatMap(({ guide, urls }) => {
    const named = urls.flatMap((url): [string, ProfileRow][] => {
      const row = rows.get(url);
      const name = `${pascal(tail(url))}Of${pascal(guide)}`;
      if (row === undefined || !known.has(row.type) || taken.has(name)) return [];
      taken.add(name);
      return [[name, row]];
    });
    return named.length === 0 ? [] : [{ path: `guides/${guide.replaceAll('.', '-')}`, guide, named: named.sort(([a], [b]) => byCodePoint(a, b)) }]; // prettier-ignore
  });
}

/** `ward-patient` -> `WardPatient`. A digit cannot be first. */
function pascal(name: string): string {
  const text = name.split(/[^A-Za-z0-9]+/).map((part) => part.charAt(0).toUpperCase() + part.slice(1)).join(''); // prettier-ignore
  return /^[A-Za-z]/.test(text) ? text : `P${text}`;
}

function aliasOf(name: string, { type, url, root }: ProfileRow, context: Context): AliasDeclaration {
  return { kind: 'alias', name, doc: url, type: [type, ...narrowings(root, type, type, context)].join(' & ') };
}

/** Returns the types that narrow a type by a profile: both are intersected. @param at the type as an expression */
function narrowings({ children = [] }: ProfileElementRow, type: string, at: string, context: Context): string[] {
  const elements = new Map(context.structures.get(type)?.elements.map((element) => [element.name, element]));
  const properties: Property[] = [];
  const others: string[] = [];
  for (const child of children) {
    const element = elements.get(child.name);
    if (element === undefined || child.slice !== undefined) continue;
    const allowed = child.types?.flatMap(({ code }) => code ?? []) ?? [];
    const types = allowed.length === 0 ? element.types : element.types.filter((each) => allowed.includes(each));
    const nameOf = (each: string): string => (element.choice === true ? choiceName(element.name, each) : element.name);
    for (const each of child.max === 0 ? element.types : element.types.filter((other) => !types.includes(other)))
      properties.push(...never(nameOf(each), context.primitives.has(each)));
    const [only] = types;
    if (child.max === 0 || only === undefined || types.length > 1) continue;
    const name = nameOf(only);
    const value = valueOf(child, element, only, `NonNullable<${at}['${name}']>`, context);
    const min = Math.max(child.min ?? element.min ?? 0, Math.min(1, ...requiredSlices(child)));
    const isNew = min > 0 && ((element.min ?? 0) === 0 || element.choice === true || context.primitives.has(only));
    if (value === undefined && !isNew) continue;
    const narrowed = { name, type: value ?? `NonNullable<${at}['${name}']>` };
    const hasExtensions = context.primitives.has(only) && element.xml === undefined && name !== 'id';
    if (min === 0 || !hasExtensions || child.mustHaveValue === true) {
      properties.push({ ...narrowed, isOptional: min === 0 });
      continue;
    }
    // Extensions may stand for the value of a primitive. https://hl7.org/fhir/R5/json.html#primitive
    const extensions = { name: `_${name}`, type: `NonNullable<${at}['_${name}']>`, isOptional: false };
    const [whole, without] = [[{ ...narrowed, isOptional: false }], [{ ...narrowed, isOptional: true }, extensions]];
    others.push(`(${objectOf(whole)} | ${objectOf(without)})`);
  }
  return [...(properties.length === 0 ? [] : [objectOf(properties)]), ...others];
}

function requiredSlices({ slices = [] }: ProfileElementRow): number[] {
  const required = slices.filter(({ min = 0 }) => min > 0);
  return required.length === 0 ? [0] : required.map(({ min = 0 }) => min);
}

function never(name: string, isPrimitive: boolean): Property[] {
  return [name, ...(isPrimitive ? [`_${name}`] : [])].map((each) => ({ name: each, type: 'never', isOptional: true }));
}

/** The type of an element's property; undefined: as the type has it. */
function valueOf(
  row: ProfileElementRow,
  element: Element,
  type: string,
  at: string,
  context: Context,
): string | undefined {
  if (element.max !== '*') return itemOf(row, type, at, context);
  if (context.primitives.has(type)) return undefined;
  const item = `${at}[number]`;
  const isClosed = row.slicing?.rules === 'closed' && (row.slices ?? []).length > 0;
  const narrowed = isClosed
    ? row.slices!.map((slice) => `(${itemOf(slice, type, item, context) ?? item})`).join(' | ')
    : itemOf(row, type, item, context);
  const one = narrowed ?? item;
  if (row.max === 1) return `[${one}]`;
  const min = Math.max(row.min ?? element.min ?? 0, ...requiredSlices(row));
  return min > 0 ? `[${one}, ...(${one})[]]` : narrowed === undefined ? undefined : `(${one})[]`;
}

function itemOf(row: ProfileElementRow, type: string, at: string, context: Context): string | undefined {
  const value = literalOf(row.fixed ?? row.pattern);
  const parts = [...(value === undefined ? [] : [value]), ...narrowings(row, type, at, context)];
  if (parts.length === 0) return undefined;
  return context.primitives.has(type) ? parts[0] : [at, ...parts].join(' & ');
}

/** The type of a fixed value or pattern; lists are left out, because the order of a pattern's is free. */
function literalOf(value: unknown): string | undefined {
  if (typeof value === 'string')
    return `'${value.replace(/[\\']/g, '\\$&').replaceAll('\n', '\\n').replaceAll('\r', '\\r')}'`;
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
  const members = Object.entries(value).flatMap(([name, each]) => {
    const type = literalOf(each);
    return type === undefined ? [] : [{ name, type, isOptional: false }];
  });
  return members.length === 0 ? undefined : objectOf(members);
}

function objectOf(properties: readonly Property[]): string {
  const named = properties.map(({ name, type, isOptional }) => {
    const key = /^[A-Za-z_]\w*$/.test(name) ? name : `'${name}'`;
    return `${key}${isOptional ? '?' : ''}: ${type}`;
  });
  return `{ ${named.join('; ')} }`;
}
