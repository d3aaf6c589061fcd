import type { SearchRow } from '../../contract/search.js';
import { FhirError } from '../../fhir/errors.js';
import { FILTER, readFilter } from '../filter/read-filter.js';
import { NO_CRITERIA } from '../../indexing/parameter-kinds.js';
import type { CriterionContext } from './criterion-context.js';
import { isLinkName, MAX_LINKS, splitLinkName } from './link-name.js';
import { findPlainRow, parsePlain } from './parse-plain.js';
import { parseUnion } from './parse-union.js';
import type { Condition, Criterion } from '../query/query.js';
import { countWays, readFound, resolveLinks, type ResolvedName } from './resolve-links.js';
import { splitAt } from './parse-value.js';
import { quote } from '../../fhir/quote.js';

export type { CriterionContext } from './criterion-context.js';
export { findPlainRow as findRow } from './parse-plain.js';

/**
 * Reads one criterion: `code[:modifier]` and its value, alternatives separated by commas; or a chain or reverse chain to such
 * a parameter of another type: `subject:Patient.name`, `_has:Observation:patient:code`, each of them nested in the other.
 * A reference that leads to several types becomes one condition for each that has the parameter and takes the value.
 *
 * @throws FhirError `parameter-unknown`, `modifier-unknown`, `prefix-unknown` for what does not exist, or not yet, and
 * `parameter-invalid`: which parameter, what is wrong, what would be right
 */
export function parseCriterion(
  name: string,
  value: string,
  context: CriterionContext & { readonly hierarchy?: never },
): Condition;
export function parseCriterion(name: string, value: string, context: CriterionContext): Criterion;
export function parseCriterion(name: string, value: string, context: CriterionContext): Criterion {
  if (name === FILTER) return readFilter(value, context);
  const { rows } = context;
  if (!isLinkName(name)) {
    const read = (row: SearchRow): Criterion => parsePlain(name, value, context, row);
    return parseUnion(findPlainRow(name, rows), rows, read, name);
  }
  const { last, found } = resolveName(name, context);
  return parseLinks({ name, last, value }, found, context);
}

/**
 * Checks a name that has no value: what `parseCriterion` would say of it with one.
 *
 * @throws FhirError `parameter-unknown`, `parameter-invalid`; modifiers at the end are not looked at
 */
export function checkName(name: string, context: Pick<CriterionContext, 'rows' | 'links'>): void {
  if (isLinkName(name)) resolveName(name, context);
  else if (!Object.hasOwn(NO_CRITERIA, name)) findPlainRow(name, context.rows);
}

function resolveName(name: string, { links }: Pick<CriterionContext, 'links'>) {
  if (links === undefined) throw notHere(name);
  const parts = splitLinkName(name, links.most ?? MAX_LINKS);
  return { last: parts.last, found: resolveLinks(parts, name, links) };
}

function notHere(name: string): FhirError {
  const text = `The parameter ${quote(name)} leads to other resources, which only a search of one type does: [base]/[type]?…`;
  return new FhirError('parameter-unknown', text);
}

/** Values times types that they are compared in, of one parameter. */
export const MAX_COMPARED = 20_000;

/** A parameter with links, as it was sent. */
interface Sent {
  readonly name: string;
  /** `code[:modifier]`, as it is at the end of the name. */
  readonly last: string;
  readonly value: string;
}

/**
 * Reads the value of a name with links, once for each type whose parameter is at its end. Types that do not take the
 * value, or the modifier, are left out, if there are others.
 *
 * @param found what the name means
 * @throws FhirError as `parseCriterion`: what the first type says where none takes the value
 */
function parseLinks({ name, last, value }: Sent, found: ResolvedName, context: CriterionContext): Criterion {
  const alternatives = splitAt(value, ',').length;
  const most = Math.max(MAX_COMPARED, context.maxAlternatives);
  if (alternatives * countWays(found) > most) {
    const text = `The parameter ${quote(name)} has ${alternatives} values, and would compare each in many types; say which types are meant, or give fewer values`;
    throw new FhirError('parameter-invalid', text);
  }
  return readFound(found, {
    row({ type, row }) {
      const { hierarchy, links, ...rest } = context;
      const own = { ...rest, ...(hierarchy !== undefined && { hierarchy: { ...hierarchy, type } }) };
      // There are links, or nothing would have been found by them.
      const read = (each: SearchRow): Criterion => parsePlain(last, value, own, each, `${type}.${last}`);
      return parseUnion(row, links!.definitions.rowsOf(type), read, last);
    },
  });
}
