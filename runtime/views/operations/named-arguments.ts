import type { OperationParameterRow } from '../../contract/index.js';
import type { Call } from '../../core/call.js';
import type { Services } from '../../core/services.js';
import { FhirError, type Issue } from '../../fhir/errors.js';
import { isObject, objectsOf, type JsonObject } from '../../fhir/resource.js';
import { readArguments, type Arguments } from '../../operations/common/arguments.js';
import { Faults } from '../../operations/common/faults.js';
import { FAULTS } from './subject.js';

/**
 * Reads the arguments of a call as `readArguments` does. What is wrong with them is placed by the names of their parameters: the
 * resources are taken out of the body before, so that places in it are not those that the client knows.
 */
export function readNamedArguments(
  call: Call,
  services: Services,
  more: readonly OperationParameterRow[],
  faults: Faults,
): Arguments {
  const own = new Faults(FAULTS);
  const found = readArguments(call, services, more, own);
  const parameters = objectsOf(isObject(call.body) ? call.body['parameter'] : undefined);
  faults.attempt(() => {
    try {
      own.check();
    } catch (error) {
      throw error instanceof FhirError ? error.map((issue) => named(issue, parameters)) : error;
    }
  });
  return found;
}

/** The place of a parameter in a body, or of a part of it. */
const PLACE = /^Parameters\.parameter\[(\d+)\](?:\.part\[(\d+)\])?/;

/** How texts begin that say what is wrong with a parameter whose place they do not tell. */
const TEXT = /^(?:The|Unknown) parameter "([A-Za-z_]{1,64})"/;

function named(issue: Issue, parameters: readonly JsonObject[]): Issue {
  const [, at, partAt] = PLACE.exec(issue.expression ?? '') ?? [];
  const [, parameterName] = TEXT.exec(issue.text) ?? [];
  if (at === undefined) return parameterName === undefined ? issue : { ...issue, expression: parameterName };
  const { name, part } = parameters[Number(at)] ?? {};
  if (typeof name !== 'string') return issue;
  if (part === undefined) return { ...issue, expression: name };
  const place = parameters.slice(0, Number(at)).filter((each) => each['name'] === name).length;
  const inner = partAt === undefined ? parameterName : objectsOf(part)[Number(partAt)]?.['name'];
  return { ...issue, expression: `${name}[${place}]${typeof inner === 'string' && inner !== name ? `.${inner}` : ''}` };
}
