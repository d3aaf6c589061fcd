import { createSchema } from '../../path/evaluate/schema.js';
import { indexRows } from '../../path/expression/type-index.js';
import { isJson } from '../../path/evaluate/item.js';
import { ERRORS } from '../../fhir/errors.js';
import { createCodeFinder, type CodeFinder, type FoundCodes } from '../codes/find-codes.js';
import type { Fault } from '../fault.js';
import { checkResourceRules } from './check-rules.js';
import { createCodeTests } from './code-sets.js';
import { createFindRulePlan, type RuleTables } from './rule-plan.js';
import { RuleRun, type OpenBinding } from './rule-run.js';

/** Findings of a thorough check. */
export interface RuleFindings {
  /** Errors and warnings. */
  readonly faults: readonly Fault[];
  /** Bindings that the tables cannot decide. */
  readonly open: readonly OpenBinding[];
  /** Codes with their systems, which a terminology service knows. */
  readonly named: FoundCodes;
}

/** Checks the rules of resources whose structure is right; what is wrong there is passed over. Never throws. */
export interface RuleChecker {
  /** The errors of a resource, as they refuse a write. */
  errors(resource: unknown): readonly Fault[];
  /** Errors, warnings and what is left open, for `$validate`. */
  thorough(resource: unknown): RuleFindings;
}

/** Faults of one severity that are listed; one more says that there are others. */
const MAX_FAULTS = 100;

/**
 * Makes the checker of rules beyond structure: the invariants of resources and datatypes, required bindings, references
 * within the resource and their target types, ids that repeat, Bundles. Rules are compiled when their type first comes.
 * https://hl7.org/fhir/R5/validation.html
 */
export function createRuleChecker(tables: RuleTables): RuleChecker {
  let made: ReturnType<typeof prepare> | undefined;
  let findCodes: CodeFinder | undefined;
  const check = (resource: unknown, isThorough: boolean): RuleRun | undefined => {
    if (!isJson(resource)) return undefined;
    const { find, tools } = (made ??= prepare(tables));
    const run = new RuleRun(resource, { ...tools, most: MAX_FAULTS, isThorough });
    checkResourceRules(resource, find, run);
    return run;
  };
  return {
    errors(resource) {
      const run = check(resource, false);
      return run === undefined ? [] : listed(run);
    },
    thorough(resource) {
      const run = check(resource, true);
      const named = (findCodes ??= createCodeFinder(tables))(resource);
      return run === undefined ? { faults: [], open: [], named } : { faults: listed(run), open: run.open, named };
    },
  };
}

function prepare(tables: RuleTables) {
  const codeTest = createCodeTests(tables.codes);
  return {
    find: createFindRulePlan(tables, codeTest),
    tools: {
      schema: createSchema(indexRows(tables.types, tables.primitives)),
      codeTest,
      resourceTypes: new Set(tables.resourceTypes),
    },
  };
}

function listed({ faults, full, rootName }: RuleRun): RuleFindings['faults'] {
  const { issue } = ERRORS['more-faults'];
  const more = [...full].map((severity) => {
    const text = `There are more ${severity === 'error' ? 'faults' : 'warnings'} than the ${MAX_FAULTS} listed`;
    return { code: 'more-faults', severity, issue, text, expression: rootName, path: [] } as const;
  });
  return [...faults, ...more];
}
