import type { Level } from '../../contract/index.js';
import type { JsonValue, Resource } from '../../fhir/resource.js';

/** An operation that an installed package defines. A server has no implementation of it. */
export interface GuideOperation {
  /** Without `$`. */
  readonly name: string;
  /** Canonical of its OperationDefinition. */
  readonly url: string;
  readonly levels: readonly Level[];
  /** Types as the definition has them, abstract ones too; absent: it names none. */
  readonly types?: readonly string[];
}

/** The place that an operation is called at. */
export interface OperationPlace {
  readonly name: string;
  readonly level: Level;
  /** Absent on system level. */
  readonly type?: string;
}

/**
 * Reads what a server has to know of an OperationDefinition to refuse its calls with the right status; undefined: it cannot be called.
 * https://hl7.org/fhir/R5/operationdefinition.html
 */
export function readGuideOperation(definition: Resource): GuideOperation | undefined {
  const { code, url, resource } = definition;
  const levels = (['system', 'type', 'instance'] as const).filter((level) => definition[level] === true);
  if (typeof code !== 'string' || typeof url !== 'string' || levels.length === 0) return undefined;
  const types = Array.isArray(resource) ? resource.filter((each): each is string & JsonValue => typeof each === 'string') : []; // prettier-ignore
  return { name: code, url, levels, ...(types.length > 0 && { types }) };
}

/** Finds the operation of installed packages that a call means. @param types those that resources can have; others are abstract */
export function findGuideOperation(
  { name, level, type }: OperationPlace,
  guides: readonly { readonly operations?: readonly GuideOperation[] }[],
  types: ReadonlySet<string>,
): GuideOperation | undefined {
  return guides
    .flatMap(({ operations = [] }) => operations)
    .find(
      (each) =>
        each.name === name &&
        each.levels.includes(level) &&
        (type === undefined || each.types?.some((of) => of === type || !types.has(of)) !== false),
    );
}
