import { FhirError } from '../../fhir/errors.js';
import type { Resource } from '../../fhir/resource.js';
import type { ParameterContext } from '../../indexing/parameters/parameter-context.js';
import { faultOfParameter } from '../../indexing/parameters/parameter-set.js';
import { faultOfDescription } from '../../indexing/parameters/read-description.js';
import { isEffective } from '../../indexing/parameters/read-parameter.js';
import {
  SEARCH_PARAMETER,
  type ParameterFault,
  type StoredParameter,
} from '../../indexing/parameters/stored-parameter.js';
import type { Change } from '../../store/store.js';
import type { Fault } from '../../validate/fault.js';

const CODES = { invalid: 'search-parameter-invalid', conflict: 'search-parameter-conflict' } as const;

/**
 * Whether a SearchParameter is stored though it cannot be in effect, because what brings it is wanted as a whole: by its id. With
 * `after-others` that holds for one that collides with another stored one, too, which stays in effect (`rankOf`).
 */
export type StoredAnyway = (id: string) => boolean | 'after-others';

/** Whether one with this fault is stored, and takes no effect from another one. */
function isStoredWith({ kind, isBuiltIn }: ParameterFault, isStoredAnyway: boolean | 'after-others'): boolean {
  if (isStoredAnyway === 'after-others') return true;
  return isStoredAnyway && (kind === 'invalid' || isBuiltIn === true);
}

/**
 * Returns the faults of an active SearchParameter, beside the other parameters that are in effect. A description of a built-in
 * parameter is checked too. Other resources have no faults. A component with a missing definition is no fault here: the same
 * write may bring that definition.
 */
export function parameterFaults(
  resource: Resource,
  others: readonly StoredParameter[],
  context: ParameterContext,
  isStoredAnyway: StoredAnyway,
): readonly Fault[] {
  if (resource.resourceType !== SEARCH_PARAMETER || resource['status'] !== 'active') return [];
  const fault = isEffective(resource, context)
    ? faultOfParameter(resource, others, context).fault
    : faultOfDescription(resource);
  if (fault === undefined || fault.isMissing === true) return [];
  return isStoredWith(fault, isStoredAnyway(String(resource['id']))) ? [] : [toFault(fault)];
}

/**
 * Checks the SearchParameters among the changes of one write against those in effect and against each other.
 *
 * @throws FhirError
 */
export function checkParameters(
  changes: readonly Change[],
  present: readonly StoredParameter[],
  context: ParameterContext,
  isStoredAnyway: StoredAnyway,
): void {
  const mine = changes.filter(({ type }) => type === SEARCH_PARAMETER);
  const changed = new Set(mine.map(({ id }) => id));
  const others = present.filter(({ id }) => !changed.has(id));
  const coming = mine.flatMap(({ content }) =>
    content !== undefined && isEffective(content, context) ? [content] : [],
  );
  for (const content of coming) {
    const { fault, parameter } = faultOfParameter(content, others, context, coming);
    if (fault !== undefined && !isStoredWith(fault, isStoredAnyway(String(content['id'])))) {
      const { code, text, expression } = toFault(fault);
      throw new FhirError(code, text, { expression });
    }
    if (parameter !== undefined) others.push(parameter);
  }
}

/** Where a fault is, in FHIRPath. */
export function pathOf({ path }: ParameterFault): string {
  return path.reduce<string>(
    (at, step) => (typeof step === 'number' ? `${at}[${step}]` : `${at}.${step}`),
    SEARCH_PARAMETER,
  );
}

function toFault(fault: ParameterFault): Fault {
  const { kind, text, path } = fault;
  const code = CODES[kind];
  const expression = pathOf(fault);
  const issue = kind === 'conflict' ? 'duplicate' : 'invalid';
  return { code, issue, text: `${expression}: ${text}`, expression, path };
}
