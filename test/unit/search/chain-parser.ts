import { OwnBases } from '../../../runtime/path/own-bases.js';
import { tables } from '../../../generated/tables.js';
import { FhirError } from '../../../runtime/fhir/errors.js';
import { searchDefinitions } from '../../../runtime/indexing/definitions.js';
import { parseCriterion, type CriterionContext } from '../../../runtime/search/parse/parse-criterion.js';
import { printCondition } from '../../../runtime/search/query/print.js';
import type { Condition, Criterion } from '../../../runtime/search/query/query.js';
import { utc } from '../../../runtime/indexing/values/zone.js';

/** The generated tables. */
export const definitions = searchDefinitions(tables);

/** What criteria of a type are read with, by the generated tables; hierarchies are followed. */
export function contextOf(type: string, more: Partial<CriterionContext> = {}): CriterionContext {
  return {
    rows: definitions.rowsOf(type),
    isResourceType: definitions.isResourceType,
    zone: utc,
    own: new OwnBases(),
    now: 0,
    maxAlternatives: 1000,
    hierarchy: { type, hierarchies: definitions.hierarchies() },
    links: { type, definitions },
    ...more,
  };
}

/** `Observation?subject.name` and a value, read. */
export function parse(target: string, value: string, more?: Partial<CriterionContext>): Criterion {
  const [type = '', name = ''] = target.split(/\?(.*)/s);
  return parseCriterion(name, value, contextOf(type, more));
}

/** The same, printed; of criteria without hierarchies. */
export function printed(target: string, value: string): string {
  return printCondition(parse(target, value) as Condition);
}

/** Code and message of the refusal; `it is taken` where there is none. */
export function refusal(target: string, value: string, more?: Partial<CriterionContext>): string {
  try {
    parse(target, value, more);
  } catch (error) {
    if (error instanceof FhirError) return `${error.status} ${error.code}: ${error.message}`;
    throw error;
  }
  return 'it is taken';
}
