import type { Call } from '../../core/call.js';
import type { Services } from '../../core/services.js';
import { FhirError } from '../../fhir/errors.js';
import { isObject, objectsOf, type JsonObject, type JsonValue, type Resource } from '../../fhir/resource.js';
import { compileView, type CompiledView, type ViewContext } from '../compile-view.js';
import { readView } from '../read-view.js';
import { ViewError, type ViewFault } from '../view-error.js';
import { valueOf, type Arguments } from '../../operations/common/arguments.js';
import { findByCanonical, findByReference, VIEW } from './find-artifact.js';

/** Parameters that name a subject. */
const SUBJECTS = ['subjectCanonical', 'subjectReference', 'subjectResource'] as const;

/** Failures of a request that are reported together, the gravest first. What a token may not do ends it at once. */
export const FAULTS = [404, 400, 422, 406];

/** A view or a query to run, and the parameter that it came by. */
export interface Subject {
  readonly view: JsonObject;
  readonly parameter: string;
}

/**
 * Takes the resources out of a Parameters body that are not checked like those that are stored: a view is judged when it is compiled, and
 * data may be as they like.
 *
 * @param names of their parameters
 * @returns the rest as a call, and the resources by name
 */
export function withoutResources(
  call: Call,
  names: readonly string[],
): { readonly rest: Call; readonly resources: ReadonlyMap<string, readonly Resource[]> } {
  const { body, text: _text, ...rest } = call;
  const resources = new Map<string, Resource[]>();
  const take = (part: JsonObject): JsonObject[] => {
    const { name, resource } = part;
    if (typeof name !== 'string' || !names.includes(name) || !isObject(resource)) return [part];
    resources.set(name, [...(resources.get(name) ?? []), resource as Resource]);
    return [];
  };
  if (!isObject(body) || body['resourceType'] !== 'Parameters' || !Array.isArray(body['parameter']))
    return { rest: call, resources };
  const kept = body['parameter'].flatMap((each): JsonValue[] => (isObject(each) ? take(each) : [each]));
  const { parameter: _parameter, ...others } = body;
  return { rest: { ...rest, body: kept.length === 0 ? others : { ...others, parameter: kept } }, resources };
}

/**
 * The view that a request names or brings: exactly one of three parameters does.
 *
 * @param path of the parameters, for messages: `subject[1].`, or nothing
 * @returns undefined: what names it is wrong, which was reported
 * @throws FhirError `parameter-invalid`, `not-found`, `scope-missing`
 */
export async function readSubject(
  found: Arguments,
  inline: readonly Resource[],
  path: string,
  call: Call,
  services: Services,
): Promise<Subject | undefined> {
  const canonical = valueOf(found, 'subjectCanonical');
  const reference = valueOf(found, 'subjectReference');
  const given = [canonical, reference, ...inline].filter((each) => each !== undefined);
  const parameter = path === '' ? 'subject' : path.slice(0, -1);
  if (given.length === 0) {
    if (SUBJECTS.some((name) => found.has(name))) return undefined;
    const text = `The request names no view; give one of ${SUBJECTS.join(', ')}`;
    throw new FhirError('parameter-invalid', text, { issue: 'required', expression: parameter });
  }
  if (given.length > 1) {
    const text = `The request names ${given.length} views; give one of ${SUBJECTS.join(', ')}, once`;
    throw new FhirError('parameter-invalid', text, { issue: 'invalid', expression: parameter });
  }
  const [view] = inline;
  if (view !== undefined) return { view, parameter: `${path}subjectResource` };
  const name = `${path}${canonical === undefined ? 'subjectReference' : 'subjectCanonical'}`;
  const placed = <T>(work: Promise<T>): Promise<T> =>
    work.catch((error: unknown) => {
      throw error instanceof FhirError ? error.map((issue) => ({ ...issue, expression: name })) : error;
    });
  const text = isObject(reference) ? reference['reference'] : reference;
  const stored = placed(
    canonical === undefined
      ? findByReference(text, call, services)
      : findByCanonical(String(canonical), call, services),
  );
  return { view: await stored, parameter: name };
}

/** Faults of a view that an answer lists. */
const MOST = 100;

/** The services that say whether a resource is valid. */
export type Validity = Pick<Services, 'validate' | 'rules' | 'validation'>;

/** Says why a write of a view or of a Library would be refused. */
export function faultsOfWrite(resource: Resource, { validate, rules, validation }: Validity): ViewFault[] {
  const faults = validate(resource);
  const found = faults.length > 0 || validation !== 'full' ? faults : rules.errors(resource);
  return found.map(({ path, text }) => ({ place: path.join('.'), text }));
}

/**
 * Compiles a view.
 *
 * @throws FhirError `view-invalid` with all faults
 */
export function compileSubject(
  { view, parameter }: Subject,
  services: Pick<Services, 'tables' | 'own'> & Validity,
  context: Omit<ViewContext, 'bases'>,
): CompiledView {
  const { tables, own } = services;
  const { resourceType } = view;
  if (resourceType !== VIEW) {
    const text = `A view is a resource of the type ${VIEW}, or a Library of the type sql-query or sql-view, not ${String(resourceType)}`;
    throw new FhirError('view-invalid', text, { expression: parameter });
  }
  try {
    const compiled = compileView(readView(view), tables, { ...context, bases: own });
    if (!tables.resourceTypes.includes(VIEW)) return compiled;
    const faults = faultsOfWrite(view as Resource, services);
    if (faults.length > 0) throw new ViewError(faults);
    return compiled;
  } catch (error) {
    throw faultsOf(error, 'view-invalid', parameter);
  }
}

/** The answer to a client that sent something faulty. @returns what is no ViewError as it is */
export function faultsOf(error: unknown, code: 'view-invalid' | 'parameter-invalid', parameter: string): Error {
  if (!(error instanceof ViewError)) return error as Error;
  const issues = error.faults.slice(0, MOST).map(({ place, text }) => ({
    ...{ code, text: `${place}: ${text}`, expression: parameter },
    ...(code === 'parameter-invalid' && { issue: 'invalid' }),
  }));
  const [first, ...others] = issues;
  return first === undefined ? error : FhirError.of([first, ...others]);
}

/** The resources that a request brings in place of those of the server. A Bundle counts as its entries. */
export function inlineData(resources: readonly Resource[]): readonly Resource[] {
  return resources.flatMap((each) =>
    each.resourceType === 'Bundle'
      ? objectsOf(each['entry']).flatMap(({ resource }) => (isObject(resource) ? [resource as Resource] : []))
      : [each],
  );
}
