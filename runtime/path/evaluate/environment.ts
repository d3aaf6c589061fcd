import type { OwnBases } from '../own-bases.js';
import type { PathItem, Items } from './item.js';
import type { Schema } from './schema.js';

/** Variables of the criteria of topics. */
export type VersionVariable = 'current' | 'previous';

/** Environment of an evaluation: all that it knows besides its focus. https://hl7.org/fhir/R5/fhirpath.html#vars */
export interface Environment {
  readonly schema: Schema;
  /** `%resource`: the innermost resource that the focus is in. */
  readonly resource: PathItem;
  /** `%rootResource`: of a contained resource the one that contains it, otherwise `%resource`. */
  readonly root: PathItem;
  /** `%context`: where the expression begins. */
  readonly context: PathItem;
  /** The resource behind a Reference or a URL; undefined: it is not known. */
  readonly resolve: (reference: PathItem) => PathItem | undefined;
  /** Whether a code is in a value set; undefined: it cannot be decided here. */
  readonly isMember: (code: PathItem, valueSet: string) => boolean | undefined;
  /** Whether a value conforms to a profile; undefined: it cannot be decided. Absent: profiles are not at hand. */
  readonly conforms?: (value: PathItem, canonical: string) => boolean | undefined;
  /** `%current` and `%previous` of triggers: a version and the one before; absent: there are none. https://hl7.org/fhir/R5/subscriptiontopic.html */
  readonly versions?: Readonly<Partial<Record<VersionVariable, PathItem>>>;
  /** Values of the variables that `compileExpression` was given the names of; absent: there are none. */
  readonly variables?: Readonly<Record<string, Items>>;
  /** URLs of this server, by which absolute references lead to resources here; absent: none are known. */
  readonly bases?: OwnBases;
  /** Set where something could not be decided: a reference that leads elsewhere, a value set that is not known, units without a common one. */
  isUndecided: boolean;
  /** Set where a comparison was neither true nor false: times of different precision. */
  isOpen?: boolean;
  /** Set where values were compared or calculated with that have no common kind, or several were where one may be. */
  isMistaken?: boolean;
  /** `$total` of `aggregate()`. */
  total?: Items | undefined;
  /** `$index`: position of the value that criteria are evaluated at. */
  index?: number | undefined;
  /** Whether expressions come with the definitions, whose regular expressions are quick; those of others are matched in linear time. */
  readonly isDefinition?: true;
  /** Whether values of FHIR are also of the types of FHIRPath that they are taken for: `active` of `Boolean`. */
  readonly takesForSystem?: true;
  /** `now()`; absent: the time is not known. */
  readonly now?: Date;
  /** Values that evaluations may still look at. */
  budget: number;
}

/** An evaluation that looks at too much; the message says at how much, and what the limit is. */
export class TooCostly extends RangeError {}

/** Counts values that are looked at. @throws TooCostly */
export function spend(environment: Environment, count: number): void {
  environment.budget -= count;
  if (environment.budget < 0) throw new TooCostly('the expression looks at too many values');
}

/**
 * Returns the values below some, counted before those of the next are added: many may have all of a resource below them.
 *
 * @param add adds those of one
 * @throws TooCostly
 */
export function childrenOf(
  items: Items,
  environment: Environment,
  add: (item: PathItem, found: PathItem[]) => void,
): readonly PathItem[] {
  const found: PathItem[] = [];
  for (const item of items) {
    const before = found.length;
    add(item, found);
    spend(environment, found.length - before);
  }
  return found;
}

/**
 * Returns what is found at each of some values, counted before that of the next is added: each may find all that there is.
 *
 * @param cost of each, beside what it finds
 * @throws TooCostly
 */
export function gathered(
  items: Items,
  environment: Environment,
  find: (item: PathItem, i: number) => Items,
  cost = 0,
): readonly PathItem[] {
  const all: PathItem[] = [];
  for (const [i, item] of items.entries()) {
    const found = find(item, i);
    spend(environment, found.length + cost);
    for (const each of found) all.push(each);
  }
  return all;
}

/** Returns some values of an environment or a list, which are gone through where they are used. @throws TooCostly */
export function counted(items: Items, environment: Environment): Items {
  spend(environment, items.length);
  return items;
}

/** Greatest length of a text that an expression makes, in UTF-16 code units. */
const MAX_TEXT = 100_000;

/** Code units of a text that cost as much as a value. */
export const TEXT_IN_A_VALUE = 64;

/** Counts a text that is about to be read by its length. @throws TooCostly */
export function spendReading(environment: Environment, { length }: string): void {
  if (length > TEXT_IN_A_VALUE) spend(environment, length / TEXT_IN_A_VALUE);
}

/** Counts a text that is about to be made by its length. @throws TooCostly */
export function spendText(environment: Environment, length: number): void {
  if (length > MAX_TEXT) throw new TooCostly('the expression makes too long a text');
  spend(environment, Math.ceil(length / TEXT_IN_A_VALUE));
}
