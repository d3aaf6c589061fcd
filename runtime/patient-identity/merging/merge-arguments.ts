import type { Call } from '../../core/call.js';
import type { Services } from '../../core/services.js';
import { FhirError } from '../../fhir/errors.js';
import { isObject, type JsonObject, type JsonValue, type Resource } from '../../fhir/resource.js';
import { escapeValue } from '../../search/parse/parse-value.js';
import type { ResourceKey } from '../../store/store.js';
import { readArguments, valueOf, valuesOf, type Arguments } from '../../operations/common/arguments.js';
import { findMatches } from '../../operations/common/find-matches.js';
import { parseNamed } from '../../operations/common/read-argument.js';
import { hasIdentifier, type Identifier } from '../../jobs/replacement/merged-content.js';
import { invalidParameter } from '../../fhir/catalog/invalid-parameter.js';

/** How a request names one of the two resources: by a reference, which may have an identifier too, or by identifiers. */
export interface NamedResource {
  /** `source-patient` or `target-patient`. */
  readonly parameter: string;
  readonly key?: ResourceKey;
  /** The resource has all of them. Not empty where there is no key. */
  readonly identifiers: readonly Identifier[];
}

/** The arguments of `Patient/$merge`. */
export interface MergeArguments {
  readonly source: NamedResource;
  readonly target: NamedResource;
  /** What the target shall be afterwards; absent: the server decides. */
  readonly result?: Resource;
  readonly isPreview: boolean;
}

const SOURCE = 'source-patient';
const TARGET = 'target-patient';

/**
 * Reads the arguments of `Patient/$merge`.
 *
 * @throws FhirError `parameter-invalid` and as `readArguments`
 */
export function readMergeArguments(call: Call, services: Services): MergeArguments {
  const found = readArguments(call, services);
  const result = valueOf(found, 'result-patient') as Resource | undefined;
  return {
    source: readNamed(found, SOURCE, call, services),
    target: readNamed(found, TARGET, call, services),
    ...(result !== undefined && { result }),
    isPreview: valueOf(found, 'preview') === true,
  };
}

/**
 * The two resources of an undo, which are named by reference: after a merge an identifier may be that of both.
 *
 * @throws FhirError `parameter-invalid` and as `readArguments`
 */
export function readMergedPair(call: Call, services: Services): { source: ResourceKey; target: ResourceKey } {
  const found = readArguments(call, services);
  const read = (parameter: string): ResourceKey => {
    const { key } = readNamed(found, parameter, call, services);
    if (key === undefined) throw invalid(parameter, `needs a reference here: ${call.type}/[id]`);
    return key;
  };
  return { source: read(SOURCE), target: read(TARGET) };
}

/**
 * Key of the resource that a request names. Identifiers are looked up as a search of the client would.
 *
 * @throws FhirError `scope-missing` where the token may not search, `not-found`, `merge-refused` where several resources have the
 * identifiers
 */
export async function findNamed(
  { parameter, key, identifiers }: NamedResource,
  call: Call,
  services: Services,
  signal: AbortSignal | undefined,
): Promise<ResourceKey> {
  if (key !== undefined) return key;
  const type = String(call.type);
  const params = identifiers.map((each) => ['identifier', searchValue(each)] as const);
  const ids: string[] = [];
  for await (const resource of findMatches(type, params, call, services, signal)) {
    ids.push(String(resource['id']));
    if (ids.length > 1) break;
  }
  const [id, other] = ids;
  if (id === undefined) throw new FhirError('not-found', `There is no ${type} with the identifiers of "${parameter}"`);
  if (other === undefined) return { type, id };
  const text = `Several resources have the identifiers of "${parameter}"; name one of them by reference`;
  throw new FhirError('merge-refused', text, { issue: 'multiple-matches' });
}

/** @throws FhirError `parameter-invalid` where a resource lacks an identifier that its parameter gives */
export function checkIdentifiers({ parameter, identifiers }: NamedResource, resource: Resource): void {
  if (identifiers.every((each) => hasIdentifier(resource, each))) return;
  throw invalid(`${parameter}-identifier`, `gives an identifier that the resource of "${parameter}" does not have`);
}

function readNamed(found: Arguments, parameter: string, call: Call, services: Services): NamedResource {
  const reference = valueOf(found, parameter);
  const given = valuesOf(found, `${parameter}-identifier`);
  const within = isObject(reference) ? reference['identifier'] : undefined;
  const identifiers = [...(within === undefined ? [] : [within]), ...given].map((each) =>
    readIdentifier(each, parameter),
  );
  if (reference !== undefined && given.length > 0) {
    throw invalid(
      parameter,
      `and the parameter "${parameter}-identifier" name a resource in two ways; send one of them`,
    );
  }
  const text = isObject(reference) ? reference['reference'] : undefined;
  if (text === undefined) {
    if (identifiers.length > 0) return { parameter, identifiers };
    throw invalid(parameter, `has to name a resource: by a reference ${call.type}/[id], or by identifiers`, 'required');
  }
  const { type, id, versionId } = parseNamed(String(text), parameter, services);
  if (type !== call.type) throw invalid(parameter, `names a ${type}; ${call.type}/[id] is right`);
  if (versionId !== undefined) {
    throw invalid(parameter, `names version ${versionId}; ${type}/${id} without a version is right`);
  }
  return { parameter, key: { type, id }, identifiers };
}

function readIdentifier(value: JsonValue, parameter: string): Identifier {
  const { system, value: text } = value as JsonObject;
  if (typeof text !== 'string') throw invalid(`${parameter}-identifier`, 'has an identifier without a value');
  return { value: text, ...(typeof system === 'string' && { system }) };
}

function searchValue({ system, value }: Identifier): string {
  return system === undefined ? escapeValue(value) : `${escapeValue(system)}|${escapeValue(value)}`;
}

function invalid(parameter: string, what: string, issue = 'value'): FhirError {
  return invalidParameter(parameter, what, { parameter, issue });
}
