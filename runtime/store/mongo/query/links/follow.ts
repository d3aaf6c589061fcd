import { FhirError } from '../../../../fhir/errors.js';
import type { ArmPlace } from '../../../plan/cursor.js';
import type { Hit } from '../hit.js';
import type { Candidate } from './candidate.js';

/** The place of a resource that a link leads to: at one of the other side, which has a place of its own. */
export interface LinkPlace {
  readonly outer: ArmPlace;
  readonly target: number;
  readonly key: string;
  /** Where it is among what that one leads to. */
  readonly inner: readonly string[];
}

/** @throws FhirError `page-invalid` */
export function readPlace({ arm, at }: ArmPlace): LinkPlace {
  const [target, key, ...inner] = at.at(-1) ?? [];
  const isFit = typeof target === 'number' && typeof key === 'string' && inner.every((each) => typeof each === 'string'); // prettier-ignore
  if (!isFit) throw new FhirError('page-invalid');
  return { outer: { arm, at: at.slice(0, -1) }, target, key, inner };
}

/** One of the other side. */
export interface Outer {
  readonly candidate: Candidate;
  readonly place: NonNullable<Hit['place']>;
}

/** A resource that is found by one of the other side. */
export function placed(
  { key, bytes }: Hit,
  { candidate, place }: Outer,
  target: number,
  inner: readonly string[],
): Hit {
  const { arm, at } = place;
  return { key, values: [], bytes, place: { arm, at: [...at, [target, candidate.key, ...inner]] } };
}

/** A page while it is gathered. */
export interface Gathering {
  readonly hits: Hit[];
  readonly wanted: number;
  /** Rows that may be looked at yet. */
  rows: number;
}

/**
 * Adds what some of the other side lead to.
 *
 * @param inner behind this place among what the only one leads to
 * @returns whether that was done within the rows
 */
export type Follow = (
  gathering: Gathering,
  target: number,
  outers: readonly Outer[],
  inner: LinkPlace['inner'] | undefined,
) => Promise<boolean>;
