import type { SearchDefinitions } from '../../indexing/definitions.js';
import { isLocalParam, namesByUrl } from '../../indexing/parameter-kinds.js';
import { isCovered, isLink } from '../query/criterion.js';
import { CONTENT } from '../../indexing/text/parameters.js';
import { LISTINGS } from './members.js';
import { valuedBy, type Criterion } from '../query/query.js';

/** A search parameter, by a type that has it (itself or by inheritance) and its code. */
export interface UsedParameter {
  readonly type: string;
  readonly code: string;
}

/**
 * The parameters whose index entries decide what a criterion finds, each once: its own, those that links go by, those of the
 * types at their ends, those that have the values of a composite's parts, those that lead up hierarchies, and, where canonicals
 * lead to a type that has them, its `url` and `version`. `_id` and `_lastUpdated` are in the resource itself and are left out.
 *
 * @param type the type that is searched
 */
export function usedBy(
  type: string,
  criterion: Criterion,
  definitions: Pick<SearchDefinitions, 'rowsOf'>,
): UsedParameter[] {
  const found = new Map<string, UsedParameter>();
  collect(type, criterion, definitions, (type, code) => void found.set(`${type} ${code}`, { type, code }));
  return [...found.values()];
}

type Note = (type: string, code: string) => void;

function collect(type: string, criterion: Criterion, definitions: Pick<SearchDefinitions, 'rowsOf'>, note: Note): void {
  const inner = (each: Criterion): void => collect(type, each, definitions, note);
  if ('all' in criterion) criterion.all.forEach(inner);
  else if ('some' in criterion) criterion.some.forEach(inner);
  else if ('not' in criterion) inner(criterion.not);
  else if ('members' in criterion) {
    for (const each of criterion.of) note(each.type, LISTINGS[each.type]!.param);
  } else if ('hierarchies' in criterion) {
    note(type, criterion.param);
    for (const each of criterion.hierarchies) note(each.type, each.by);
  } else if (isLink(criterion)) {
    if ('chain' in criterion) {
      noteReference(type, criterion.param, criterion.chain, definitions, note);
      for (const target of criterion.chain) collect(target.type, target.where, definitions, note);
    } else {
      const { has } = criterion;
      noteReference(has.type, has.param, [{ type }], definitions, note);
      collect(has.type, has.where, definitions, note);
    }
  } else if ('param' in criterion) {
    // The parameter itself is beside it.
    if (isLocalParam(criterion.param)) return;
    for (const code of valuedBy(criterion)) note(type, code);
    // Stores may find a composite by the parameters of its parts.
    if (isCovered(criterion)) for (const { param } of criterion.coveredBy) note(type, param);
    // The words beside codes and references are made when those of the content are.
    if ('words' in criterion) note(type, CONTENT);
  }
}

/** Canonicals lead to what has that `url`, and that version. */
function noteReference(
  type: string,
  code: string,
  targets: readonly { readonly type: string }[],
  { rowsOf }: Pick<SearchDefinitions, 'rowsOf'>,
  note: Note,
): void {
  note(type, code);
  const row = rowsOf(type).get(code);
  if (row === undefined || !namesByUrl(row)) return;
  for (const target of targets) {
    for (const each of ['url', 'version']) if (rowsOf(target.type).has(each)) note(target.type, each);
  }
}
