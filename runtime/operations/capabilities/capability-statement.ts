import { issueText } from '../../fhir/operation-outcome.js';
import type { Call, Reply } from '../../core/call.js';
import type { Services } from '../../core/services.js';
import { FhirError } from '../../fhir/errors.js';
import type { Resource } from '../../fhir/resource.js';
import { capabilities } from '../../interactions/capabilities/capabilities.js';
import { readArguments, valueOf, valuesOf, type Arguments } from '../common/arguments.js';
import {
  checkSizeOf,
  formatsMissing,
  intersectionOf,
  missingFrom,
  subsetOf,
  unionOf,
  type Missing,
} from './capability-compare.js';
import { findCanonical } from '../find-canonical.js';
import { readNamed } from '../common/read-argument.js';

const TYPE = 'CapabilityStatement';

/**
 * `CapabilityStatement/$subset`: the statement of this server, or a stored one, with the resource types that are asked for.
 * https://hl7.org/fhir/R5/capabilitystatement-operation-subset.html
 *
 * @throws FhirError `not-found` for an unknown statement
 */
export async function subset(call: Call, services: Services): Promise<Reply> {
  const found = readArguments(call, services);
  const types = new Set(valuesOf(found, 'resource').map(String));
  return { status: 200, resource: subsetOf(await serverOf(found, call, services), types) };
}

/**
 * `CapabilityStatement/$implements`: an OperationOutcome with an error for each thing that a client wants and the server does
 * not offer; 422 where there is any. https://hl7.org/fhir/R5/capabilitystatement-operation-implements.html
 *
 * @throws FhirError `parameter-invalid` unless exactly one of `client` and `resource` is given
 */
export async function implementsStatement(call: Call, services: Services): Promise<Reply> {
  const found = readArguments(call, services);
  const client = valueOf(found, 'client');
  const resource = valueOf(found, 'resource');
  if ((client === undefined) === (resource === undefined)) {
    const text = 'Give the statement of the client, either as "client" (its canonical) or as "resource"';
    throw new FhirError('parameter-invalid', text);
  }
  const wanted =
    client === undefined ? (resource as Resource) : await findCanonical(TYPE, String(client), call, services);
  const offered = await serverOf(found, call, services);
  for (const each of [wanted, offered]) checkSizeOf(each);
  const missing = missingFrom(offered, wanted);
  return { status: missing.length === 0 ? 200 : 422, resource: outcomeOf(missing) };
}

/**
 * `CapabilityStatement/$conforms`: compares two statements. With `mode=server/server` both offer; with `mode=client/server` the
 * left one is what a client wants. https://hl7.org/fhir/R5/capabilitystatement-operation-conforms.html
 */
export async function conforms(call: Call, services: Services): Promise<Reply> {
  const found = readArguments(call, services);
  const mode = valueOf(found, 'mode') ?? 'server/server';
  if (mode !== 'server/server' && mode !== 'client/server') {
    throw new FhirError('parameter-invalid', 'The parameter "mode" is server/server or client/server');
  }
  const sideOf = async (name: string): Promise<Resource> => {
    const canonical = valueOf(found, name);
    return canonical === undefined
      ? ownStatement(call, services)
      : findCanonical(TYPE, String(canonical), call, services);
  };
  const [left, right] = [await sideOf('left'), await sideOf('right')];
  for (const each of [left, right]) checkSizeOf(each);
  const compare = (offered: Resource, wanted: Resource): readonly Missing[] => [
    ...formatsMissing(offered, wanted),
    ...missingFrom(offered, wanted),
  ];
  const issues = [...compare(right, left), ...(mode === 'server/server' ? compare(left, right) : [])];
  const parameter = [
    { name: 'issues', resource: outcomeOf(issues) },
    { name: 'union', resource: unionOf(left, right) },
    { name: 'intersection', resource: intersectionOf(left, right) },
  ];
  return { status: 200, resource: { resourceType: 'Parameters', parameter } };
}

/** The statement that the URL or `server` names, or this server's own. */
async function serverOf(found: Arguments, call: Call, services: Services): Promise<Resource> {
  const { id } = call;
  if (id !== undefined) return (await readNamed({ type: TYPE, id }, call, services)).resource;
  const server = valueOf(found, 'server');
  const own = await ownStatement(call, services);
  if (server === undefined || server === call.base || server === own['url']) return own;
  return findCanonical(TYPE, String(server), call, services);
}

async function ownStatement(call: Call, services: Services): Promise<Resource> {
  const { json = '{}' } = await capabilities({ ...call, params: new URLSearchParams(), conditions: {} }, services);
  // The server has written it, without numbers that a double would not give back.
  return JSON.parse(json) as Resource;
}

/** Errors that are listed. */
const MOST_ERRORS = 1000;

/** One error for each thing that is missing, the first of very many, or the information that all is there. */
function outcomeOf(missing: readonly Missing[]): Resource {
  const issue = missing.slice(0, MOST_ERRORS).map(({ expression, text }) => ({
    severity: 'error',
    code: 'not-supported',
    ...issueText(text),
    expression: [expression],
  }));
  if (missing.length > MOST_ERRORS) {
    const text = `${missing.length - MOST_ERRORS} more things are not supported`;
    issue.push({ severity: 'error', code: 'not-supported', ...issueText(text), expression: [TYPE] });
  }
  const fine = { severity: 'information', code: 'informational', ...issueText('Everything is supported') };
  return { resourceType: 'OperationOutcome', issue: issue.length > 0 ? issue : [fine] };
}
