import { FhirError } from '../../../fhir/errors.js';
import type { Call } from '../../call.js';
import { FORM } from './page-form.js';
import { PAGE_PARAMETER, type PageBinding, type PageLinks } from './page-link.js';
import type { SentParameter } from '../parse/search-input.js';

/** Where a walk through the pages of a search stands. */
export interface Walk {
  /** What was asked at its beginning. */
  readonly params: readonly SentParameter[];
  /** When it began: milliseconds since the epoch. */
  readonly began: number;
  /** Matches on the pages before. */
  readonly shown: number;
  /** Place in the store's order; absent: this is the first page. */
  readonly after?: string;
  /** `SearchBounds.effect` of its beginning; absent: there were no bounds. */
  readonly effect?: string;
}

/** The parameters of a call, those of its URL first. */
function sentParameters({ params, form }: Call): SentParameter[] {
  const inUrl = [...params].map(([name, value]) => ({ name, value, isInUrl: true }));
  if (form === undefined) return inUrl;
  return [...inUrl, ...[...form].map(([name, value]) => ({ name, value, isInUrl: false }))];
}

/**
 * Takes up the walk that a page link goes on with, or begins one.
 *
 * @throws FhirError `page-invalid`, `parameter-invalid`
 */
export async function openWalk(call: Call, pages: PageLinks): Promise<Walk> {
  const params = sentParameters(call);
  const [token, second] = params.filter(({ name }) => name === PAGE_PARAMETER);
  if (token === undefined) return { params, began: Date.now(), shown: 0 };
  if (second !== undefined)
    throw new FhirError('parameter-invalid', `The parameter "${PAGE_PARAMETER}" may stand once`);
  const other = params.find(({ name }) => name !== PAGE_PARAMETER && !FORM.has(name));
  if (other !== undefined && call.prefer.handling !== 'lenient') {
    throw new FhirError('parameter-invalid', `A page link is complete; it takes no "${other.name.slice(0, 64)}"`);
  }
  const { query, after } = await pages.open(bindingOf(call), token.value);
  const [, began, shown, effect = '', place] = /^([0-9a-z]+)\.([0-9a-z]+)\.([\w-]*)\.(.*)$/s.exec(after) ?? [];
  if (began === undefined || shown === undefined || place === undefined) throw new FhirError('page-invalid');
  return {
    params: [...new URLSearchParams(query)].map(([name, value]) => ({ name, value, isInUrl: false })),
    began: Number.parseInt(began, 36),
    shown: Number.parseInt(shown, 36),
    after: place,
    effect,
  };
}

/**
 * Refuses a page link to whom tokens give something else in this search than to whom it was made for: it carries a place and a
 * total that are of what that could see.
 *
 * @param effect `SearchBounds.effect` of the token presented
 * @throws FhirError `page-invalid`
 */
export function checkEffect(walk: Walk, effect: string): void {
  if (walk.after === undefined || (walk.effect ?? '') === effect) return;
  const text = 'This page link was made for scopes that show something else; search again from the beginning';
  throw new FhirError('page-invalid', text);
}

/** The token that goes on with a walk, where `walk` says how far it is then. */
export function sealWalk(
  call: Call,
  { params, began, shown, after = '', effect = '' }: Walk,
  pages: PageLinks,
): Promise<string> {
  const query = new URLSearchParams(params.map(({ name, value }): [string, string] => [name, value])).toString();
  return pages.seal(bindingOf(call), {
    query,
    after: `${began.toString(36)}.${shown.toString(36)}.${effect}.${after}`,
  });
}

/** A search of the system, of a type and of a compartment are never each other's. */
function bindingOf({ interaction, type, id, member }: Call): PageBinding {
  return {
    interaction,
    ...(type !== undefined && { type }),
    ...(id !== undefined && { id }),
    ...(member !== undefined && { member }),
  };
}
