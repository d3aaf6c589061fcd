import type { Document } from 'mongodb';

import { everyOf, type Way } from '../compile/compile.js';
import { idRange } from './segments.js';

/**
 * Selects the resources of a type on an access path; without a path, all of the type.
 *
 * Each alternative names the type itself: beside them it would be a way of its own, through all of the index that is hinted, and
 * the server would try both, in each search anew.
 */
export function drivingIn(type: string, way?: Way): Document {
  const ids = idRange(type, undefined, 1);
  const filter = way === undefined ? {} : (way.access.part ?? way.conjunct.filter);
  const alternatives = alternativesOf(filter);
  if (alternatives === undefined) return everyOf([{ type, ...ids }, filter]);
  return everyOf([ids, { $or: alternatives.map((each) => everyOf([{ type }, each])) }]);
}

function alternativesOf(filter: Document): readonly Document[] | undefined {
  const { $or: alternatives, ...others } = filter as { $or?: readonly Document[] };
  return Object.keys(others).length === 0 ? alternatives : undefined;
}
