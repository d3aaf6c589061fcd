import type { Document } from 'mongodb';

import type { SortKey } from '../../../../search/query/query.js';
import { canonicalParam, referenceParams } from '../../bson/index-rows.js';
import { listed } from './row-expression.js';
import type { Kind as RowKind } from './row-test.js';

type Kind = Exclude<SortKey['by'], 'id' | 'updated'>;

/** What a row of each kind is sorted by, ascending and descending. */
const VALUES: Readonly<Record<Kind, { readonly array: RowKind; readonly asc: unknown; readonly desc: unknown }>> = {
  token: { array: 'token', asc: code(), desc: code() },
  string: { array: 'string', asc: '$$row.folded', desc: '$$row.folded' },
  date: { array: 'date', asc: '$$row.low', desc: '$$row.high' },
  number: { array: 'number', asc: '$$row.value', desc: '$$row.value' },
  quantity: { array: 'number', asc: end('low'), desc: end('high') },
  reference: { array: 'reference', asc: { $ifNull: ['$$row.to', ''] }, desc: { $ifNull: ['$$row.to', ''] } },
  uri: { array: 'uri', asc: '$$row.value', desc: '$$row.value' },
};

/** An entry without a code comes before all that have one. */
function code(): Document {
  return { $ifNull: ['$$row.code', ''] };
}

/** An end that is open is the value. */
function end(name: 'low' | 'high'): Document {
  const path = `$$row.${name}`;
  return { $cond: [{ $in: [path, { $literal: [-Infinity, Infinity] }] }, '$$row.value', path] };
}

/** The least or the greatest value of a document, for orders that no slot serves; null: it has none. */
export function sortExpression(params: readonly string[], by: Kind, isDescending: boolean): Document {
  const { array, asc, desc } = VALUES[by];
  const rows = {
    $filter: { input: listed(array), as: 'row', cond: { $or: params.map((param) => isChosen(param, by)) } },
  };
  const values = { $map: { input: rows, as: 'row', in: isDescending ? desc : asc } };
  return isDescending ? { $max: values } : { $min: values };
}

function isChosen(param: string, by: Kind): Document {
  const isParam = { $eq: ['$$row.p', { $literal: param }] };
  const lacks = (name: string): Document => ({ $eq: [{ $type: `$$row.${name}` }, 'missing'] });
  if (by === 'reference') return { $and: [{ $in: ['$$row.p', { $literal: referenceParams(param) }] }, lacks('also')] };
  if (by !== 'quantity') return isParam;
  // The canonical value where there is one, in whatever unit.
  const begin = canonicalParam(param, '').slice(0, -1);
  const isCanonical = { $eq: [{ $indexOfBytes: ['$$row.p', { $literal: begin }] }, 0] };
  return { $or: [{ $and: [isParam, lacks('canonical')] }, isCanonical] };
}
