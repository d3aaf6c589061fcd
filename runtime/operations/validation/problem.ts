import { diagnosticsOf, toIssue } from '../../core/write/validate-resource.js';
import { FhirError, type Issue } from '../../fhir/errors.js';
import { errorOutcome } from '../../fhir/operation-outcome.js';
import type { JsonObject } from '../../fhir/resource.js';
import type { Fault, JsonPath } from '../../validate/fault.js';
import { locatePaths } from '../../validate/locate-paths.js';
import type { ValidationIssue } from '../../validate/validation-issue.js';

/** Order of severities in the outcome. */
const RANKS: Readonly<Record<ValidationIssue['severity'], number>> = { error: 0, warning: 1, information: 2 };

/** A problem as an issue of the outcome, and where it is in the resource. */
export type Problem = Issue & { readonly severity: ValidationIssue['severity']; readonly path?: JsonPath };

/** The text that the resource was read from, and the way to it there. */
export interface Source {
  readonly text: string;
  readonly way: JsonPath;
}

/** A fault as a problem. */
export function problemOf(fault: Fault, severity: Problem['severity']): Problem {
  return { ...toIssue(fault), severity, path: fault.path };
}

/** Problems with line and column, as far as the text has their places. */
export function withPlaces(problems: readonly Problem[], { text, way }: Source): readonly Problem[] {
  const paths = problems.map(({ path = [] }) => [...way, ...path]);
  const positions = locatePaths(text, paths);
  return problems.map((problem, i) => {
    const position = positions[i];
    return position === undefined ? problem : { ...problem, diagnostics: diagnosticsOf(position) };
  });
}

/** Errors first. */
export function inOrder(problems: readonly Problem[]): readonly Problem[] {
  return [...problems].sort((a, b) => RANKS[a.severity] - RANKS[b.severity]);
}

/** The outcome that lists problems. */
export function outcomeOf(problems: readonly Problem[]): JsonObject {
  const [first, ...others] = problems as readonly [Problem, ...Problem[]];
  const outcome = errorOutcome(FhirError.of([first, ...others]));
  const issue = (outcome['issue'] as JsonObject[]).map((each, i) => ({ ...each, severity: problems[i]!.severity }));
  return { ...outcome, issue };
}
