import { type JsonObject, type JsonValue, objectsOf, type Resource } from '../../fhir/resource.js';
import { fold } from '../../indexing/values/fold.js';

/** How sure a match is. https://hl7.org/fhir/R5/valueset-match-grade.html */
export type MatchGrade = 'certain' | 'probable' | 'possible' | 'certainly-not';

/** A score from 0 to 1, and what it means. */
export interface Match {
  readonly score: number;
  readonly grade: MatchGrade;
}

/** What one agreement is worth. Those of a family name, a given name, a birth date and a gender make 0.85. */
const WEIGHTS = { family: 0.25, given: 0.2, birthDate: 0.3, gender: 0.1, telecom: 0.15, postalCode: 0.1 } as const;

/** From which score on a match without a common identifier has a grade. */
const GRADES = { probable: 0.75, possible: 0.5 } as const;

/**
 * Compares a patient with a candidate by rule. A common identifier (system and value) is certain, unless birth date or gender
 * contradict; then it is possible. Otherwise each agreement adds its weight, each contradiction of birth date or gender takes it
 * away; from 0.75 on a match is probable, from 0.5 on possible, never certain. The same input gives the same score.
 */
export function scoreMatch(wanted: Resource, candidate: Resource): Match {
  const contradicts = ['birthDate', 'gender'].some((name) => compare(wanted[name], candidate[name]) === -1);
  if (sharesIdentifier(wanted, candidate)) {
    return contradicts ? { score: 0.6, grade: 'possible' } : { score: 1, grade: 'certain' };
  }
  const points =
    WEIGHTS.family * overlap(namesOf(wanted, 'family'), namesOf(candidate, 'family')) +
    WEIGHTS.given * overlap(namesOf(wanted, 'given'), namesOf(candidate, 'given')) +
    WEIGHTS.birthDate * compareDates(wanted['birthDate'], candidate['birthDate']) +
    WEIGHTS.gender * compare(wanted['gender'], candidate['gender']) +
    WEIGHTS.telecom * overlap(textsOf(wanted, 'telecom', 'value'), textsOf(candidate, 'telecom', 'value')) +
    WEIGHTS.postalCode * overlap(textsOf(wanted, 'address', 'postalCode'), textsOf(candidate, 'address', 'postalCode'));
  const score = Math.round(Math.min(0.99, Math.max(0, points)) * 100) / 100;
  if (score >= GRADES.probable) return { score, grade: 'probable' };
  return { score, grade: score >= GRADES.possible ? 'possible' : 'certainly-not' };
}

/** Identifiers with a value, as tokens of a search. */
export function identifiersOf(patient: Resource): readonly JsonObject[] {
  return objectsOf(patient['identifier']).filter(({ value }) => typeof value === 'string');
}

/** Family or given names, also those that only the text of a name has. */
export function namesOf(patient: Resource, part: 'family' | 'given'): readonly string[] {
  return objectsOf(patient['name']).flatMap((name) => {
    const value = name[part];
    if (typeof value === 'string') return [value];
    return Array.isArray(value) ? value.filter((each) => typeof each === 'string') : [];
  });
}

function sharesIdentifier(wanted: Resource, candidate: Resource): boolean {
  const keys = new Set(identifiersOf(candidate).map(keyOf));
  return identifiersOf(wanted).some((each) => keys.has(keyOf(each)));
}

function keyOf({ system, value }: JsonObject): string {
  return JSON.stringify([system ?? null, value ?? null]);
}

/** 1: both have it and agree; -1: they contradict; 0: one of them lacks it. */
function compare(one: JsonValue | undefined, other: JsonValue | undefined): -1 | 0 | 1 {
  if (one === undefined || other === undefined) return 0;
  return one === other ? 1 : -1;
}

/** The same, and half where one date is the beginning of the other. */
function compareDates(one: JsonValue | undefined, other: JsonValue | undefined): number {
  const plain = compare(one, other);
  if (plain !== -1) return plain;
  const [a, b] = [String(one), String(other)];
  return a.startsWith(b) || b.startsWith(a) ? 0.5 : -1;
}

/** Whether two sets of texts have one in common, without case and accents. */
function overlap(some: readonly string[], others: readonly string[]): 0 | 1 {
  const folded = new Set(others.map(fold));
  return some.some((each) => folded.has(fold(each))) ? 1 : 0;
}

function textsOf(patient: Resource, list: string, member: string): readonly string[] {
  return objectsOf(patient[list]).flatMap((each) => (typeof each[member] === 'string' ? [each[member]] : []));
}
