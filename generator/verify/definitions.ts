import { GeneratorError } from '../generator-error.js';
import type { Definition, StructureDefinition } from '../load/fhir-json.js';
import type { LoadedGuide } from '../load/guides.js';
import type { LoadedPackage } from '../load/package.js';
import { isId } from '../../runtime/fhir/id.js';
import { tail } from '../model/names.js';

/** Names become names of files, TypeScript types and properties, so they may have only letters and digits. */
const NAME = /^[A-Za-z][A-Za-z0-9]*$/;
/** The last part of an element's path may be a choice. */
const ELEMENT = /^[A-Za-z][A-Za-z0-9]*(\[x\])?$/;
/** Names in URLs: operations, search parameters. */
const CODE = /^[A-Za-z0-9_][A-Za-z0-9._-]*$/;
/** Text that may be quoted in a comment: one line without control characters. */
const CANONICAL = /^[^\s\p{Cc}\u2028\u2029]+$/u;

/**
 * Rejects a package with malformed definitions or with names that FHIR does not allow. Packages are untrusted, and their
 * names go into code and paths.
 *
 * @throws GeneratorError naming each fault
 */
export function verifyDefinitions(loaded: LoadedPackage): void {
  const { structures, searchParameters, operations, compartments } = loaded;
  if (structures.length === 0) {
    throw new GeneratorError(
      `${loaded.name}@${loaded.version} holds no StructureDefinition: it is no package of definitions`,
    );
  }
  const faults = [
    ...[...structures, ...compartments].flatMap(canonicalFaults),
    ...structures.filter((definition) => definition.derivation !== 'constraint').flatMap(structureFaults),
    ...cycleFaults(structures),
    ...nameFaults(searchParameters, operations),
    ...compartments.filter(({ code }) => !NAME.test(code)).map(({ url, code }) => `${url}: ${show(code)} is no type`),
  ];
  if (faults.length > 0) {
    throw new GeneratorError(`${loaded.name}@${loaded.version} has definitions that cannot be used`, faults);
  }
}

/**
 * Rejects a guide with names that FHIR does not allow, as `verifyDefinitions` does.
 *
 * @throws GeneratorError naming each fault
 */
export function verifyGuide({ pin, structures, searchParameters, operations }: LoadedGuide): void {
  const faults = [
    ...structures.flatMap(canonicalFaults),
    ...structures
      .filter(({ type }) => !NAME.test(type))
      .map(({ url, type }) => `${url}: ${show(type)} is no name of a type`),
    ...nameFaults(searchParameters, operations),
    ...operations.filter(({ id = '' }) => !isId(id)).map(({ url, id }) => `${url}: ${show(id)} is no id`),
  ];
  if (faults.length > 0)
    throw new GeneratorError(`${pin.name}@${pin.version} has definitions that cannot be used`, faults);
}

function nameFaults(
  searchParameters: LoadedPackage['searchParameters'],
  operations: LoadedPackage['operations'],
): string[] {
  const named = [...searchParameters, ...operations];
  return [
    ...named.flatMap(canonicalFaults),
    ...named
      .filter(({ code }) => !CODE.test(code))
      .map(({ url, code }) => `${url}: ${show(code)} is no name for a URL`),
  ];
}

function canonicalFaults({ resourceType, id, url }: Definition): string[] {
  return typeof url === 'string' && CANONICAL.test(url)
    ? []
    : [`${resourceType} ${show(id)}: ${show(url)} is no canonical url`];
}

function structureFaults({ url, type, snapshot }: StructureDefinition): string[] {
  // Logical models are counted, not generated: their types are urls.
  const name = tail(type);
  if (!NAME.test(name)) return [`${url}: ${show(type)} is no name of a type`];
  // Packages are untrusted JSON: the file may lack a member that the TypeScript type requires.
  const elements = (snapshot as StructureDefinition['snapshot'] | undefined)?.element;
  if (elements === undefined) return [`${url}: has no snapshot; the generator reads elements from there`];
  return elements
    .filter(({ path }) => {
      const [head = '', ...names] = path.split('.');
      return !NAME.test(head) || names.some((each, index) => !(index === names.length - 1 ? ELEMENT : NAME).test(each));
    })
    .map(({ path }) => `${url}: ${show(path)} is no path of an element`);
}

/** A type that specialises itself, directly or through other types. */
function cycleFaults(structures: readonly StructureDefinition[]): string[] {
  const bases = new Map(
    structures
      .filter((definition) => definition.derivation !== 'constraint')
      .map((definition) => [definition.type, tail(definition.baseDefinition ?? '')]),
  );
  return [...bases.keys()].flatMap((type) => {
    const way = [type];
    for (let base = bases.get(type); base !== undefined && base !== ''; base = bases.get(base)) {
      if (way.includes(base))
        return base === type ? [`${[...way, base].join(' -> ')}: a type cannot specialise itself`] : [];
      way.push(base);
    }
    return [];
  });
}

function show(value: unknown): string {
  return JSON.stringify(value)?.slice(0, 80) ?? 'nothing';
}
