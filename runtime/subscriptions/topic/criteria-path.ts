import type { ServiceTables } from '../../core/services.js';
import type { Resource } from '../../fhir/resource.js';
import { FhirError } from '../../fhir/errors.js';
import { compileChecked } from '../../path/evaluate/check-names.js';
import type { Environment } from '../../path/evaluate/environment.js';
import type { Evaluate } from '../../path/evaluate/function-types.js';
import { PathItem, toBoolean } from '../../path/evaluate/item.js';
import { createSchema, type Schema } from '../../path/evaluate/schema.js';
import { ExpressionError } from '../../path/expression/expression-error.js';
import { indexRows } from '../../path/expression/type-index.js';

/** Variables of the criteria of topics. https://hl7.org/fhir/R5/subscriptiontopic-definitions.html#SubscriptionTopic.resourceTrigger.fhirPathCriteria */
const VARIABLES: ReadonlySet<string> = new Set(['current', 'previous']);

/** Characters of one expression. */
const LONGEST = 10_000;

/** Values that one evaluation may look at. */
const BUDGET = 100_000;

const schemas = new WeakMap<ServiceTables['types'], Schema>();

/** The elements of all types, put together when first needed. */
function schemaOf({ types, primitives }: Pick<ServiceTables, 'types' | 'primitives'>): Schema {
  let schema = schemas.get(types);
  if (schema === undefined) schemas.set(types, (schema = createSchema(indexRows(types, primitives))));
  return schema;
}

/**
 * Compiles FHIRPath criteria of a trigger.
 *
 * @param root the type of the trigger
 * @throws FhirError `parameter-invalid` for what does not compile, or names what does not exist
 */
export function compileCriteriaPath(
  text: string,
  root: string,
  tables: Pick<ServiceTables, 'types' | 'primitives'>,
): Evaluate {
  if (text.length > LONGEST) throw new FhirError('parameter-invalid', `it may have ${LONGEST} characters`);
  try {
    return compileChecked(text, root, VARIABLES, schemaOf(tables).types);
  } catch (error) {
    if (!(error instanceof ExpressionError) && !(error instanceof RangeError)) throw error;
    throw new FhirError('parameter-invalid', error.message);
  }
}

/** The versions that FHIRPath criteria are about. */
export interface PathVersions {
  readonly current: Resource | undefined;
  readonly previous: Resource | undefined;
  /** Time of the event: milliseconds since the epoch. */
  readonly time: number;
}

/**
 * Whether FHIRPath criteria hold: their result is true, or one item that is no boolean. `|` between booleans is `or`.
 *
 * @throws CriteriaFault where the evaluation fails, whatever the reason: it has nothing but the versions
 */
export function pathHolds(
  evaluate: Evaluate,
  { current, previous, time }: PathVersions,
  tables: Pick<ServiceTables, 'types' | 'primitives'>,
): boolean {
  const resource = current ?? previous;
  if (resource === undefined) return false;
  const itemOf = (version: Resource): PathItem => new PathItem(version, version.resourceType);
  const focus = itemOf(resource);
  const environment: Environment = {
    schema: schemaOf(tables),
    ...{ resource: focus, root: focus, context: focus, isUndecided: false, budget: BUDGET, now: new Date(time) },
    versions: {
      ...(current !== undefined && { current: itemOf(current) }),
      ...(previous !== undefined && { previous: itemOf(previous) }),
    },
    resolve: () => undefined,
    isMember: () => undefined,
  };
  try {
    return toBoolean(evaluate([focus], environment)) === true;
  } catch (error) {
    throw new CriteriaFault(error instanceof Error ? error.message : 'it failed', { cause: error });
  }
}

/** FHIRPath criteria that fail on versions. */
export class CriteriaFault extends Error {}
