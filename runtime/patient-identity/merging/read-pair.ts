import type { Services } from '../../core/services.js';
import { FhirError } from '../../fhir/errors.js';
import type { ResourceKey } from '../../store/store.js';
import { valueOf, type Arguments } from '../../operations/common/arguments.js';
import { parseNamed } from '../../operations/common/read-argument.js';

/** The resource that is referred to, and the one that shall be. */
export interface Pair {
  readonly source: ResourceKey;
  readonly target: ResourceKey;
}

const SOURCE = 'source-reference-id';
const TARGET = 'target-reference-id';

/**
 * The two resources that the arguments of an operation name.
 *
 * @throws FhirError `parameter-invalid`
 */
export function readPair(found: Arguments, services: Pick<Services, 'tables' | 'own'>): Pair {
  const read = (name: string): ResourceKey => {
    const text = String(valueOf(found, name)).trim();
    if (text === '') throw invalid(`The parameter "${name}" is blank; Type/id is right`);
    const { type, id, versionId } = parseNamed(text, name, services);
    if (versionId !== undefined) {
      throw invalid(`The parameter "${name}" names version ${versionId}; ${type}/${id} without a version is right`);
    }
    return { type, id };
  };
  const pair = { source: read(SOURCE), target: read(TARGET) };
  const { source, target } = pair;
  if (source.type !== target.type) {
    throw invalid(`"${SOURCE}" names a ${source.type} and "${TARGET}" a ${target.type}; both have to be of one type`);
  }
  if (source.id === target.id) throw invalid(`"${SOURCE}" and "${TARGET}" name the same resource`);
  return pair;
}

function invalid(text: string): FhirError {
  return new FhirError('parameter-invalid', text);
}
