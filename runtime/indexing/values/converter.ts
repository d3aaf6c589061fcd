import type { SearchType } from '../../contract/search.js';
import type { Environment } from '../../path/evaluate/environment.js';
import type { Focus, Visit } from '../../path/visit.js';
import type { IndexEntry } from '../entry.js';
import type { PlaceKind } from '../parameter-kinds.js';
import type { OwnBases } from '../../path/own-bases.js';
import type { Zone } from './zone.js';

/** Context of the last visit of a path: the list that entries go to, and what belongs to it. */
export interface Harvest extends Focus {
  /** The resource whose entries they are: `root`, or one that is contained in it. */
  readonly resource: object;
  out: IndexEntry[];
  /** References to contained resources that have their entries: parameter and id. */
  local?: Set<string>;
  /** Environment of the expressions that are no paths, once there was one. */
  evaluation?: Environment;
  /** Codes of the parameters whose expressions failed on this resource. */
  failed?: Set<string>;
}

/** Parts of the search row that a converter makes entries for. */
export interface Target {
  /** Code of the search parameter that the entries are for. */
  readonly param: string;
  /** It is a part of a composite, which goes by nothing that is only within its resource. */
  readonly isPart?: true;
  /** Implicit system of `code` values. */
  readonly system?: string;
  /** Where dates without an offset are read. */
  readonly zone: Zone;
  /** Whether a word names a resource type. */
  readonly isResourceType: (name: string) => boolean;
  /** By which references lead to resources here. */
  readonly own: OwnBases;
}

/** Makes the visit that turns values of one FHIR type into entries. The visit never throws; bad values give none. */
export type Converter = (target: Target) => Visit<Harvest>;

/**
 * Converters by the name of the FHIR type. A type without one is converted like the type it specialises (`Age` like
 * `Quantity`, `markdown` like `string`), so only the roots are here.
 */
export type Converters = Readonly<Record<string, Converter>>;

/** Search types that values are read off elements for, and what some special parameters compare with. */
export type ValueSearchType = Exclude<SearchType, 'composite' | 'special'> | PlaceKind;
