import type { OperationParameterRow, OperationRow } from '../../contract/index.js';
import type { Call } from '../../core/call.js';
import type { Services } from '../../core/services.js';
import { validateResource } from '../../core/write/validate-resource.js';
import { FhirError } from '../../fhir/errors.js';
import { isObject, type JsonObject, type JsonValue, type Resource } from '../../fhir/resource.js';
import { readJson } from '../../format/read-json.js';
import { FORM } from '../../search/control-parameters.js';
import { compilePrimitives } from '../../validate/compile-primitives.js';
import type { PrimitiveTest } from '../../validate/plan.js';
import { quote } from '../../fhir/quote.js';
import { valueKey } from '../../patch/diff/diff-value.js';
import type { Faults } from './faults.js';

/** One argument of an operation: a value or a resource, or the arguments of its parts. */
export type Argument = { readonly value: JsonValue } | { readonly parts: Arguments };

/** The arguments of a call, by name of the parameter, in the order of the request. */
export type Arguments = ReadonlyMap<string, readonly Argument[]>;

/** Services that arguments are read with. */
export type ArgumentServices = Pick<Services, 'tables' | 'validate'>;

const PARAMETERS = 'Parameters';

/**
 * Reads the arguments of an operation by its row: from the query, from a Parameters resource, or from the resource itself where the
 * row has one parameter that is a resource. `Prefer: handling=lenient` ignores unknown parameters, and nothing else.
 * https://hl7.org/fhir/R5/operations.html#request
 *
 * @param more rows that the operation takes besides those of its definition, or in their place
 * @param faults collect what is wrong with parameters, which then have no values; those that were sent are there by their names
 * @throws FhirError `parameter-unknown`, `parameter-invalid`, `not-a-resource`, and what is wrong with the structure of the body
 */
export function readArguments(
  call: Call,
  services: ArgumentServices,
  more: readonly OperationParameterRow[] = [],
  faults?: Faults,
): Arguments {
  const row = rowOf(call, services);
  const own = row.parameters.filter(({ name }) => !more.some((each) => each.name === name));
  const rows = [...own, ...more].filter(
    ({ use, scope }) => use === 'in' && (scope === undefined || call.level === undefined || scope.includes(call.level)),
  );
  const reader = new ArgumentReader(row, call.prefer.handling === 'lenient', services, faults);
  const found = new Map<string, Argument[]>();
  reader.readQuery(call.params, rows, found);
  const { body } = call;
  if (body !== undefined) reader.attempt(rows.map(({ name }) => name), found, () => reader.readBody(body, call, rows, found)); // prettier-ignore
  reader.checkCardinality(rows, found);
  return found;
}

/** The value of a parameter that may be given once; undefined: it was not given. */
export function valueOf(found: Arguments, name: string): JsonValue | undefined {
  const [first] = found.get(name) ?? [];
  return first !== undefined && 'value' in first ? first.value : undefined;
}

/** The values of a parameter that may repeat, in the order of the request. */
export function valuesOf(found: Arguments, name: string): readonly JsonValue[] {
  return (found.get(name) ?? []).flatMap((each) => ('value' in each ? [each.value] : []));
}

/** The row of the operation that a call is of. @throws Error where there is none: a defect */
export function rowOf({ operation }: Pick<Call, 'operation'>, { tables }: Pick<Services, 'tables'>): OperationRow {
  const row = tables.operations.find(({ id }) => id === operation);
  if (row === undefined) throw new Error(`no row for the operation ${operation}`);
  return row;
}

class ArgumentReader {
  constructor(
    private readonly row: OperationRow,
    private readonly isLenient: boolean,
    private readonly services: ArgumentServices,
    private readonly faults: Faults | undefined,
  ) {}

  readQuery(params: URLSearchParams, rows: readonly OperationParameterRow[], out: Map<string, Argument[]>): void {
    for (const [name, text] of params) {
      if (FORM.has(name) || text === '') continue;
      this.attempt([name], out, () => {
        const row = this.find(name, rows);
        if (row !== undefined) add(out, name, { value: this.fromText(row, text) });
      });
    }
  }

  readBody(body: JsonValue, call: Call, rows: readonly OperationParameterRow[], out: Map<string, Argument[]>): void {
    if (!isObject(body) || typeof body['resourceType'] !== 'string') {
      throw new FhirError('not-a-resource', `$${this.row.name} takes a Parameters resource as its body`);
    }
    const resource = body as Resource;
    validateResource(resource, call, this.services);
    if (resource.resourceType === PARAMETERS) {
      this.readParts(resource['parameter'], rows, `${PARAMETERS}.parameter`, out);
      return;
    }
    const [only, ...others] = rows.filter(({ type, max }) => max === 1 && this.isResource(type));
    if (only === undefined || others.length > 0 || !this.fits(only, resource.resourceType)) {
      const text = `$${this.row.name} takes a Parameters resource as its body, not ${resource.resourceType}`;
      throw new FhirError('type-mismatch', text);
    }
    add(out, only.name, { value: resource });
  }

  checkCardinality(rows: readonly OperationParameterRow[], found: Map<string, Argument[]>, path = ''): void {
    for (const { name, min, max } of rows) {
      const count = found.get(name)?.length ?? 0;
      this.attempt([name], found, () => {
        if (count < min && !found.has(name)) {
          throw this.invalid(`The parameter ${quote(name)} is required`, path, 'required');
        }
        if (max === '*' || count <= max) return;
        if (this.faults !== undefined) found.set(name, []);
        throw this.invalid(`The parameter ${quote(name)} may be given ${max === 1 ? 'once' : `${max} times`}`, path);
      });
    }
  }

  private readParts(
    values: JsonValue | undefined,
    rows: readonly OperationParameterRow[],
    path: string,
    out: Map<string, Argument[]>,
  ): void {
    for (const [i, each] of (Array.isArray(values) ? values : []).entries()) {
      const at = `${path}[${i}]`;
      if (!isObject(each) || typeof each['name'] !== 'string') continue;
      const { name } = each;
      this.attempt([name], out, () => {
        const row = this.find(name, rows, at);
        if (row !== undefined) add(out, row.name, this.readPart(each, row, at));
      });
    }
  }

  /** Does a piece of work; where it fails, its parameters have no values. */
  attempt(names: readonly string[], out: Map<string, Argument[]>, work: () => void): void {
    if (this.faults === undefined) return work();
    const isRight = this.faults.attempt(() => {
      work();
      return true;
    });
    if (isRight === true) return;
    for (const name of names) if (!out.has(name)) out.set(name, []);
  }

  private readPart(part: JsonObject, row: OperationParameterRow, at: string): Argument {
    if (row.parts !== undefined) {
      const parts = new Map<string, Argument[]>();
      this.readParts(part['part'], row.parts, `${at}.part`, parts);
      this.checkCardinality(row.parts, parts, at);
      return { parts };
    }
    const resource = part['resource'];
    if (isObject(resource)) {
      const type = String(resource['resourceType']);
      if (this.isResource(row.type) && this.fits(row, type)) return { value: resource };
      throw this.invalid(`The parameter ${quote(row.name)} is ${typesOf(row).join(' or ')}, not ${type}`, at);
    }
    const key = Object.keys(part).find((each) => each.startsWith('value'));
    if (key === undefined) throw this.invalid(`The parameter ${quote(row.name)} has no value`, at);
    const value = part[key] as JsonValue;
    const types = typesOf(row);
    const allowed = types.map(valueKey);
    if (allowed.includes(key) || OPEN.some((each) => allowed.includes(each))) return { value };
    const type = types.find((each) => KINDRED.some((kin) => kin.has(key) && kin.has(valueKey(each))));
    if (type === undefined) {
      throw this.invalid(
        `The parameter ${quote(row.name)} has ${key}; ${this.isResource(row.type) ? 'resource' : allowed.join(' or ')} is right`,
        at,
      );
    }
    if (!TEXTS.has(key) && this.tests().get(type)?.(value) !== true) {
      throw this.invalid(`The parameter ${quote(row.name)} is a ${type}, and ${quote(String(value))} is none`, at);
    }
    return { value };
  }

  /** A value of the query. Only primitives, and what search writes as text, can be given there. */
  private fromText(row: OperationParameterRow, text: string): JsonValue {
    if (row.searchType !== undefined) return text;
    const [type = 'string'] = typesOf(row);
    const primitive = this.services.tables.primitives.find(({ name }) => name === type);
    if (primitive === undefined) {
      throw this.invalid(`The parameter ${quote(row.name)} is a ${type}; send it in the body of a POST`, '');
    }
    const value = primitive.json === 'string' ? text : parsed(text);
    if (this.tests().get(type)?.(value) === true) return value as JsonValue;
    throw this.invalid(`The parameter ${quote(row.name)} is a ${type}, and ${quote(text)} is none`, '');
  }

  private find(name: string, rows: readonly OperationParameterRow[], path = ''): OperationParameterRow | undefined {
    const row = rows.find((each) => each.name === name);
    if (row !== undefined || this.isLenient) return row;
    const valid = rows.map((each) => each.name);
    const text =
      valid.length === 0
        ? `Unknown parameter ${quote(name)}; $${this.row.name} takes none here`
        : `Unknown parameter ${quote(name)}; $${this.row.name} takes ${valid.join(', ')}`;
    throw new FhirError('parameter-unknown', text, path === '' ? {} : { expression: path });
  }

  private isResource(type: string | undefined): boolean {
    return type === 'Resource' || type === 'DomainResource' || this.services.tables.resourceTypes.includes(type ?? '');
  }

  private fits(row: OperationParameterRow, type: string): boolean {
    return typesOf(row).some((each) => each === type || each === 'Resource' || each === 'DomainResource');
  }

  private tests(): ReadonlyMap<string, PrimitiveTest> {
    return compilePrimitives(this.services.tables.primitives);
  }

  private invalid(text: string, path: string, issue = 'value'): FhirError {
    return new FhirError('parameter-invalid', text, { issue, ...(path !== '' && { expression: path }) });
  }
}

const TEXTS: ReadonlySet<string> = new Set([
  ...['valueString', 'valueCode', 'valueId', 'valueMarkdown'],
  ...['valueUri', 'valueCanonical', 'valueUrl', 'valueOid', 'valueUuid'],
]);

/** Types that clients use for each other: texts, numbers, and times. A number or a time has to be one of the type that is right. */
const KINDRED: readonly ReadonlySet<string>[] = [
  TEXTS,
  new Set(['valueInteger', 'valuePositiveInt', 'valueUnsignedInt', 'valueInteger64', 'valueDecimal']),
  new Set(['valueDate', 'valueDateTime', 'valueInstant']),
];

/** What any type is right for. */
const OPEN: readonly string[] = ['valueAny', 'valueElement'];

function add(out: Map<string, Argument[]>, name: string, argument: Argument): void {
  const all = out.get(name);
  if (all === undefined) out.set(name, [argument]);
  else all.push(argument);
}

function typesOf({ type = 'string', allowedTypes = [] }: OperationParameterRow): readonly string[] {
  return allowedTypes.length > 0 ? allowedTypes : [type];
}

/** A boolean or a number; undefined for any other text. */
function parsed(text: string): JsonValue | undefined {
  if (!/^(?:true|false|-?[0-9][0-9.eE+-]*)$/.test(text)) return undefined;
  try {
    return readJson(text);
  } catch {
    return undefined;
  }
}
