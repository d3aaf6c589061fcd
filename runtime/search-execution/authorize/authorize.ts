import type { ScopeRow } from '../../contract/rest.js';
import { readContent, type Content, type ContentReaders } from '../../auth/access/content.js';
import { decide } from '../../auth/access/decide.js';
import type { NeededScopes } from '../../auth/access/needed-scopes.js';
import { isPlainlyGiven } from '../../auth/access/plainly-given.js';
import { scopeMissing } from '../../auth/access/refuse.js';
import type { ScopeAim } from '../../auth/access/scope-rows.js';
import type { Access } from '../../auth/scopes/access.js';
import { OPEN_ACCESS } from '../../auth/scopes/principal.js';
import { BINARY } from '../../core/binary/binary-content.js';
import type { Call } from '../../core/call.js';
import { isExportFileId } from '../../core/job-files/read-job-file.js';
import type { SearchServices } from '../parse/search-context.js';
import { needsOfUrl } from './search-needs.js';
import type { Services } from '../../core/services.js';

/** A request as far as scopes are concerned: a call, or what its URL and its headers tell of it. */
export interface ScopedRequest extends ScopeAim {
  readonly type?: string | undefined;
  readonly id?: string | undefined;
  readonly member?: string | undefined;
  readonly params?: URLSearchParams | undefined;
  readonly conditions: Pick<Call['conditions'], 'ifNoneExist'>;
  /** Types that its conditional references search. */
  readonly references?: readonly string[];
}

/** Services that scopes are checked with. */
export type ScopeServices = Pick<Services, 'scopeRows'> & SearchServices;

interface Request {
  readonly asked: ScopedRequest;
  readonly row: ScopeRow;
  readonly resourceTypes: readonly string[];
}

/** What searches bring is judged by `search` and `readCriteria`, what contents bring where they are written. */
const later = (): 'later' => 'later';

const READERS: ContentReaders<Request> = {
  'if-none-exist': ({ asked: { conditions } }) => conditions.ifNoneExist !== undefined,
  'conditional-reference': ({ asked: { references = [] } }) => references.length > 0 && references,
  'types-named': ({ asked: { member } }) => (isNamed(member) ? [member] : 'later'),
  'types-unnamed': ({ asked: { member } }) => (isNamed(member) ? false : 'later'),
  // Operations that need something of each type they touch learn the types from their parameters.
  touched: ({ asked: { interaction, level }, row, resourceTypes }) =>
    interaction === 'history-system' || (level === 'system' && needsAny(row)) ? resourceTypes : 'later',
  chain: later,
  'untyped-chain': later,
  list: later,
  in: later,
  include: later,
  revinclude: later,
  'security-context': later,
  'subscription-criteria': later,
  'mode-create': later,
  'mode-update': later,
  'mode-delete': later,
  persist: later,
  'patient-named': later,
  'graphql-instance': later,
  'graphql-list': later,
  'graphql-reference': later,
  'hfql-statement': later,
  'hfql-introspection': later,
};

/** Whether any one of the types touched is enough: only then all types count where the request names none. */
function needsAny({ needs }: ScopeRow): boolean {
  return needs.some(({ on, when }) => on === 'any' && when === undefined);
}

function isNamed(member: string | undefined): member is string {
  return member !== undefined && member !== '*';
}

/**
 * Refuses what the token does not give, as far as the request tells: before its body is read, and again when it is there.
 *
 * @throws FhirError `scope-missing`
 * @throws Error where the tables say nothing of the interaction: a defect, never served
 */
export function authorize(asked: ScopedRequest, access: Access, services: ScopeServices): void {
  const missing = missingScopes(asked, access, services);
  if (missing !== undefined) throw scopeMissing(missing, access);
}

/** All that a request needs, where some of it is missing; undefined: it is allowed as far as it is known. */
export function missingScopes(asked: ScopedRequest, access: Access, services: ScopeServices): NeededScopes | undefined {
  const { scopeRows, tables } = services;
  if (access === OPEN_ACCESS || isExportRead(asked)) return undefined;
  const row = scopeRows(asked);
  const content = readContent(row, { asked, row, resourceTypes: tables.resourceTypes }, READERS);
  const needed = neededFor(asked, content, access, scopeRows);
  const isSearch = asked.interaction.startsWith('search-');
  const more = needed === undefined || !isSearch ? undefined : needsOfUrl(asked, access, services);
  return (more && neededFor(asked, more, access, scopeRows)) ?? needed;
}

/** Whether it reads what may be a file of an export: of that the job decides, and scopes on Binary have nothing to do with it. */
function isExportRead({ interaction, type, id }: ScopedRequest): boolean {
  return interaction === 'read' && type === BINARY && isExportFileId(id);
}

/**
 * Returns all scopes that a request needs because of content that was found in it, if some of them are missing; undefined: it
 * is allowed as far as it is known.
 */
export function neededFor(
  asked: Pick<ScopedRequest, 'interaction' | 'operation' | 'level' | 'type' | 'member'>,
  content: Content,
  access: Access,
  scopeRows: Services['scopeRows'],
): NeededScopes | undefined {
  const { interaction, type, member } = asked;
  const row = scopeRows(asked);
  const isCompartment = interaction === 'search-compartment';
  if (!isCompartment && isPlainlyGiven(row, type, access, content)) return undefined;
  const searched = isCompartment ? (isNamed(member) ? member : undefined) : type;
  const decision = decide(
    {
      row,
      content,
      ...(searched !== undefined && { type: searched }),
      ...(isCompartment && type !== undefined && { compartment: type }),
    },
    access,
  );
  return decision.is === 'refused' ? decision.needed : undefined;
}
