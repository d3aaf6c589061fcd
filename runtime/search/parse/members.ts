import { FhirError } from '../../fhir/errors.js';
import { isId } from '../../fhir/id.js';
import type { PlainContext } from './criterion-context.js';
import type { MembersCriterion } from '../query/query.js';
import { splitAt, unescape } from './parse-value.js';
import { invalidParameter } from '../../fhir/catalog/invalid-parameter.js';
import { clip, quote } from '../../fhir/quote.js';

/** How resources of a type list others. */
export interface Listing {
  /** The search parameter that leads to what is listed. */
  readonly param: string;
  /** Element of the entries, of each the reference, and what says that it does not belong to it (any more). */
  readonly entries: string;
  readonly reference: string;
  readonly gone?: string;
  readonly period?: string;
}

/**
 * The types that membership is asked of. https://hl7.org/fhir/R5/search.html#_in,
 * https://hl7.org/fhir/R5/search.html#_list
 */
export const LISTINGS: Readonly<Record<string, Listing>> = {
  List: { param: 'item', entries: 'entry', reference: 'item', gone: 'deleted' },
  Group: { param: 'member', entries: 'member', reference: 'entity', gone: 'inactive', period: 'period' },
  CareTeam: { param: 'participant', entries: 'participant', reference: 'member', period: 'coveragePeriod' },
};

/** Which of them each parameter takes. */
const TAKEN: Readonly<Record<MembersCriterion['members'], readonly string[]>> = {
  _list: ['List'],
  _in: Object.keys(LISTINGS),
};

/** Resources whose active members one search asks for: each is read, and may be a condition of its own. */
export const MAX_LISTINGS = 100;

/**
 * Reads `_list=42`, `_in=Group/1,List/2`, `_in:not=…`: what is referenced by a List, and what is an active member of one.
 *
 * @throws FhirError `parameter-invalid`, `modifier-unknown`
 */
export function parseMembership(
  members: MembersCriterion['members'],
  modifier: string,
  value: string,
  { isResourceType, own, now, maxAlternatives, hierarchy }: PlainContext,
  label: string,
): MembersCriterion {
  const isNot = members === '_in' && modifier === 'not';
  if (modifier !== '' && !isNot) {
    const valid = members === '_in' ? ':not alone' : 'no modifiers';
    throw new FhirError(
      'modifier-unknown',
      `The parameter ${quote(members)} takes ${valid}; it has :${clip(modifier)}`,
    );
  }
  if (members === '_in' && hierarchy === undefined)
    throw invalidParameter(label, 'is asked of one type: [base]/[type]?_in=…');
  const parts = splitAt(value, ',').map(unescape);
  const most = members === '_in' ? Math.min(MAX_LISTINGS, maxAlternatives) : maxAlternatives;
  if (parts.length > most) throw invalidParameter(label, `has ${parts.length} values, and may have ${most}`);
  const types = TAKEN[members];
  const form = members === '_list' ? '42 or List/42' : types.map((type) => `${type}/42`).join(', ');
  const of = parts.map((part) => {
    if (part.startsWith('$'))
      throw invalidParameter(label, `has ${quote(part)}: there are no functional lists here; name a List`);
    if (members === '_list' && isId(part)) return { type: 'List', id: part };
    const read = own.readLocal(part);
    if (read === undefined || read.version !== undefined || !isResourceType(read.type)) {
      throw invalidParameter(label, `is ${form}, a resource of this server, not ${quote(part)}`);
    }
    const { type, id } = read;
    if (!types.includes(type)) throw invalidParameter(label, `is ${form}: resources of type ${type} have no members`);
    return { type, id };
  });
  return { members, ...(hierarchy !== undefined && { type: hierarchy.type }), of, isNot, now };
}
