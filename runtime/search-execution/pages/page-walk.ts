import { FhirError } from '../../fhir/errors.js';
import { FORM } from '../../search/control-parameters.js';
import type { Call } from '../../core/call.js';
import type { SentParameter } from '../parse/search-context.js';
import { PAGE_PARAMETER, type PageBinding, type PageLinks } from '../../core/search-services/page-links/page-link.js';

/** Longest value of a `FORM` parameter in characters, so that links stay short: they repeat the first one as it is. */
const MAX_FORM = 256;

/** @throws FhirError `parameter-invalid` where a value is too long for links */
export function checkForm({ params }: Pick<Call, 'params'>): void {
  for (const name of FORM) {
    if ((params.get(name)?.length ?? 0) <= MAX_FORM) continue;
    throw new FhirError('parameter-invalid', `The parameter ${name} may have ${MAX_FORM} characters`);
  }
}

/**
 * A URL of this server with these parameters and the `FORM` parameters of the call's URL.
 *
 * @param path below the base; empty: the base itself
 */
export function writeLink(
  { base, params }: Pick<Call, 'base' | 'params'>,
  path: string,
  pairs: readonly (readonly [string, string])[],
): string {
  const form = [...FORM].flatMap((name) => {
    const value = params.get(name);
    return value === null ? [] : [[name, value] as const];
  });
  const query = new URLSearchParams([...pairs, ...form] as [string, string][]).toString();
  return `${base}${path === '' ? '' : `/${path}`}${query === '' ? '' : `?${query}`}`;
}

/** How far a client has come through the pages of a search. */
export interface PageWalk {
  /** The parameters of the first page. */
  readonly params: readonly SentParameter[];
  /** When the first page was asked for: milliseconds since the epoch. */
  readonly began: number;
  /** Matches on the pages before. */
  readonly shown: number;
  /** The cursor of the store; absent: this is the first page. */
  readonly after?: string;
  /** `SearchBounds.effect` of the page before; absent: this is the first page. */
  readonly effect?: string;
}

/** The parameters of a call, those of its URL first. */
function sentParameters({ params, form }: Call): SentParameter[] {
  const inUrl = [...params].map(([name, value]) => ({ name, value, isInUrl: true }));
  if (form === undefined) return inUrl;
  return [...inUrl, ...[...form].map(([name, value]) => ({ name, value, isInUrl: false }))];
}

/**
 * Continues the walk whose page link the call follows, or begins one.
 *
 * @throws FhirError `page-invalid`, `parameter-invalid`
 */
export async function openWalk(call: Call, pages: PageLinks): Promise<PageWalk> {
  const params = sentParameters(call);
  const [token, second] = params.filter(({ name }) => name === PAGE_PARAMETER);
  if (token === undefined) return { params, began: Date.now(), shown: 0 };
  if (second !== undefined)
    throw new FhirError('parameter-invalid', `The parameter "${PAGE_PARAMETER}" may appear once`);
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
 * Refuses a page link to a token that gives something else in this search than the token for which it was made: the link carries
 * a cursor and a total of what that token shows.
 *
 * @param effect `SearchBounds.effect` of the present token
 * @throws FhirError `page-invalid`
 */
export function checkEffect(walk: PageWalk, effect: string): void {
  if (walk.after === undefined || (walk.effect ?? '') === effect) return;
  const text = 'This page link was made for scopes that show something else; search again from the beginning';
  throw new FhirError('page-invalid', text);
}

/**
 * The link to the next page.
 *
 * @param path of the search, below the base
 * @param walk how far the client has come with the present page
 */
export async function nextLink(call: Call, path: string, walk: PageWalk, pages: PageLinks): Promise<string> {
  const { params, began, shown, after = '', effect = '' } = walk;
  const query = new URLSearchParams(params.map(({ name, value }): [string, string] => [name, value])).toString();
  const place = `${began.toString(36)}.${shown.toString(36)}.${effect}.${after}`;
  const token = await pages.seal(bindingOf(call), { query, after: place });
  return writeLink(call, path, [[PAGE_PARAMETER, token]]);
}

/**
 * The `self` link. The first page names the parameters as they were understood, as far as they were in the URL: links reveal
 * nothing of a body. A later page repeats its page link.
 *
 * @param path of the search, below the base
 * @param understood the parameters of the first page; undefined: this is a later one
 */
export function selfLink(call: Call, path: string, understood: readonly SentParameter[] | undefined): string {
  if (understood === undefined) {
    const token = call.params.get(PAGE_PARAMETER);
    return writeLink(call, path, token === null ? [] : [[PAGE_PARAMETER, token]]);
  }
  const pairs = understood.filter(({ isInUrl }) => isInUrl).map(({ name, value }) => [name, value] as const);
  return writeLink(call, call.form === undefined ? path : `${path}/_search`.replace(/^\//, ''), pairs);
}

/** What a token is valid for: a link of a search of the system, a type or a compartment is invalid in the others. */
function bindingOf({ interaction, type, id, member }: Call): PageBinding {
  return {
    interaction,
    ...(type !== undefined && { type }),
    ...(id !== undefined && { id }),
    ...(member !== undefined && { member }),
  };
}
