import fhirpath, { type UserInvocationTable } from 'fhirpath';

import { model } from './oracle-model.js';

/** A value that an expression reaches, and what the library holds its type to be. */
export interface OracleValue {
  readonly value: unknown;
  /** `HumanName`, `code`; for a value that is no node of the resource, a System type (`Boolean`). */
  readonly type: string;
}

/** Evaluates one expression on a resource. */
export type Oracle = (resource: object) => OracleValue[];

/**
 * Compiles an expression with the FHIRPath library and its R5 model. `resolve()`, asynchronous there, gives a stub of
 * the type that the reference names: in its text, by `#id` of a contained resource, or in `Reference.type`.
 */
export function oracle(expression: string): Oracle {
  const options = { resolveInternalTypes: false, userInvocationTable: { resolve } };
  const run = fhirpath.compile(expression.replace(AS, '.ofType($1)'), model, options);
  return (resource) => (run(resource, {}) as unknown[]).map(readNode);
}

/** `x as T` is an error where x is many, though search expressions mean each of them, which `x.ofType(T)` says. */
const AS = / as ([A-Za-z]+)$/;

/** What the library hands about; it exports no such type. */
interface Node {
  readonly data: unknown;
  readonly parentResNode: Node | null;
  readonly fhirNodeDataType: string | null;
  getTypeInfo(): { readonly name: string };
}

interface NodeClass {
  makeResNode(context: unknown, data: object, parent: null, path: string, twin: null, type: string): unknown;
}

function readNode(result: unknown): OracleValue {
  if (!isNode(result)) return { value: result, type: typeof result === 'boolean' ? 'boolean' : typeof result };
  return { value: plain(result.data), type: result.getTypeInfo().name };
}

/** Numbers and dates are objects of the library's own. */
function plain(data: unknown): unknown {
  if (typeof data === 'bigint') return String(data);
  if (typeof data === 'object' && data !== null && Object.getPrototypeOf(data) !== Object.prototype) {
    return Number(String(data));
  }
  return data;
}

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && 'fhirNodeDataType' in value;
}

const resolve: UserInvocationTable[string] = {
  fn(this: unknown, inputs: unknown) {
    const nodes = (inputs as unknown[]).filter(isNode);
    return nodes.flatMap((node) => {
      const type = typeOfTarget(node);
      const { makeResNode } = node.constructor as unknown as NodeClass;
      return type === undefined ? [] : [makeResNode(this, { resourceType: type }, null, type, null, type)];
    });
  },
  arity: { 0: [] },
  internalStructures: true,
};

// Written without looking at the evaluator under test.
const LITERAL =
  /^(?:https?:\/\/[^/]+\/(?:.*\/)?)?([A-Z][A-Za-z]*)\/[A-Za-z0-9.-]{1,64}(?:\/_history\/[A-Za-z0-9.-]{1,64})?$/;

function typeOfTarget(node: Node): string | undefined {
  const { data } = node;
  const { reference: text, type: declared } = (typeof data === 'string' ? { reference: data } : data) as {
    reference?: string;
    type?: string;
  };
  let root: Node = node;
  while (root.parentResNode !== null) root = root.parentResNode;
  const resource = root.data as { resourceType?: string; contained?: { id?: string; resourceType?: string }[] };
  if (text === '#') return resource.resourceType;
  const told = text?.startsWith('#')
    ? resource.contained?.find(({ id }) => `#${id}` === text)?.resourceType
    : LITERAL.exec(text ?? '')?.[1];
  return told ?? declared?.replace('http://hl7.org/fhir/StructureDefinition/', '');
}
