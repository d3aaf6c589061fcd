import { FhirError } from '../../fhir/errors.js';
import type { Precondition } from '../../store/store.js';
import type { Conditions } from '../../core/call.js';
import { matchCriteria, type Criteria } from '../../search-execution/criteria.js';
import { checkWrite, liveVersion } from '../../core/write/preconditions.js';
import type { WriteTarget, Target, WriteView } from '../../core/write/write-plan.js';
import { clip } from '../../fhir/quote.js';

/** Greatest number of resources that one conditional delete removes. */
export const MAX_DELETED = 1000;

/**
 * The resource that matches the criteria of a conditional write, its preconditions checked; undefined if none matches.
 *
 * @throws FhirError `precondition-failed` if several match
 */
export async function findTarget(
  criteria: Criteria,
  conditions: Conditions,
  view: WriteView,
): Promise<{ readonly target: Target | undefined; readonly preconditions: readonly Precondition[] }> {
  const { found, preconditions } = await matchCriteria(criteria, view, 2);
  const [only, second] = found;
  if (second !== undefined) throw several(criteria);
  checkWrite(conditions, only);
  return { target: only === undefined ? undefined : { id: only.id, current: only }, preconditions };
}

/** The target of a write by id, its preconditions checked. */
export async function targetById(
  type: string,
  id: string,
  conditions: Conditions,
  view: WriteView,
): Promise<WriteTarget> {
  const current = await view.read(type, id);
  checkWrite(conditions, current);
  return { type, targets: [{ id, current }], preconditions: [] };
}

/**
 * The target of a create: a new id, or the existing resource that matches the criteria. The latter needs no store
 * precondition, because nothing is written. https://hl7.org/fhir/R5/http.html#ccreate
 *
 * @throws FhirError `precondition-failed`
 */
export async function targetForCreate(
  type: string,
  id: string,
  criteria: Criteria | undefined,
  view: WriteView,
): Promise<WriteTarget> {
  // The id is new and random, so no lookup is needed.
  if (criteria === undefined) return { type, targets: [{ id, current: undefined }], preconditions: [] };
  const { target, preconditions } = await findTarget(criteria, {}, view);
  if (target !== undefined) return { type, targets: [target], preconditions: [], exists: true };
  return { type, targets: [{ id, current: undefined }], preconditions };
}

/**
 * The target of a conditional update: the resource that matches, or a new one with the id of the body or an id of the
 * server's. https://hl7.org/fhir/R5/http.html#cond-update
 *
 * @param ids the id in the body (`sent`), if there is one, and the id for a new resource otherwise (`made`)
 * @throws FhirError `precondition-failed`, `id-mismatch`, `id-taken`
 */
export async function targetByCriteria(
  criteria: Criteria,
  ids: { readonly sent: string | undefined; readonly made: string },
  conditions: Conditions,
  view: WriteView,
): Promise<WriteTarget> {
  const { type } = criteria;
  const { target, preconditions } = await findTarget(criteria, conditions, view);
  const { sent } = ids;
  if (target !== undefined) {
    if (sent === undefined || sent === target.id) return { type, targets: [target], preconditions };
    const text = `The body has the id "${sent}", the resource that fulfils the criteria "${target.id}"; leave it out`;
    throw new FhirError('id-mismatch', text, { expression: `${type}.id` });
  }
  if (sent === undefined) return { type, targets: [{ id: ids.made, current: undefined }], preconditions };
  const current = await view.read(type, sent);
  if (liveVersion(current) !== undefined) {
    const text = `${type}/${sent} is there, and does not fulfil the criteria; leave out the id, or update it by its URL`;
    throw new FhirError('id-taken', text, { expression: `${type}.id` });
  }
  return { type, targets: [{ id: sent, current }], preconditions };
}

/** The error for criteria that match too many resources. */
export function several({ text, part }: Pick<Criteria, 'text' | 'part'>, what = 'Several resources fulfil'): FhirError {
  const shown = clip(text, 200);
  const why = `${what} ${shown}; the criteria have to be more precise`;
  return new FhirError('precondition-failed', why, {
    issue: 'multiple-matches',
    ...(part === undefined ? {} : { part }),
  });
}

/** The target of a write that always has exactly one. */
export function singleTarget({ targets: [target] }: WriteTarget): Target {
  if (target === undefined) throw new Error('a write without a target');
  return target;
}
