import { describe, expect, it } from 'vitest';

import { tables } from '../../../generated/tables.js';
import { createRuleChecker } from '../../../runtime/validate/rules/create-rule-checker.js';
import { createValidator } from '../../../runtime/validate/create-validator.js';
import { RULE_INSTANCES } from './rule-instances.js';

describe('a rule is broken alone by one instance, and kept by another (conformance-rules.html#constraints)', () => {
  const checker = createRuleChecker(tables);
  const structure = createValidator(tables);
  // As they come from JSON.
  const sent = (resource: object): never => JSON.parse(JSON.stringify(resource)) as never;
  const keys = (resource: object): string[] => [
    ...structure(sent(resource)).map(({ text }) => text),
    ...new Set(checker.thorough(sent(resource)).faults.filter(({ severity }) => severity === 'error').map(({ rule }) => rule ?? '')), // prettier-ignore
  ];

  it.each(RULE_INSTANCES.map((each) => [each.id, each] as const))('%s', (id, { failing, passing, also }) => {
    expect(keys(passing)).toEqual([]);
    expect(keys(failing).sort()).toEqual([id.replace(/@.*/, ''), ...also].sort());
  });
});
