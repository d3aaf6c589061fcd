import { describe, expect, it } from 'vitest';

import { tables } from '../../generated/tables.js';
import { compileExpression } from '../../runtime/path/evaluate/compile-expression.js';
import { readJson } from '../../runtime/format/read-json.js';
import { createRuleChecker } from '../../runtime/validate/rules/create-rule-checker.js';
import { NATIVE_RULES } from '../../runtime/validate/rules/native-rules.js';
import { exampleFiles, readExample } from './examples.js';

describe('the rules of the definitions (conformance-rules.html#constraints)', () => {
  it('accept all 2,822 official examples but the 161 Questionnaires that break que-2', () => {
    const checker = createRuleChecker(tables);
    const refused = new Map<string, number>();
    const files = exampleFiles();
    for (const file of files) {
      const faults = checker.errors(readJson(readExample(file).text));
      if (faults.length === 0) continue;
      const keys = [...new Set(faults.map(({ key }) => key))].join();
      const name = /^Questionnaire-qgen-/.test(file) ? `Questionnaire-qgen: ${keys}` : `${file}: ${keys}`;
      refused.set(name, (refused.get(name) ?? 0) + 1);
    }
    expect(files).toHaveLength(2822);
    expect(Object.fromEntries(refused)).toEqual({ 'Questionnaire-qgen: que-2': 161 });
  }, 120_000);

  it('all compile, or are checked by hand', () => {
    for (const { expression } of tables.invariants) {
      if (!NATIVE_RULES.has(expression)) expect(() => compileExpression(expression), expression).not.toThrow();
    }
  });

  it('are those by hand that the package has, word for word', () => {
    const expressions = new Set(tables.invariants.map(({ expression }) => expression));
    expect([...NATIVE_RULES.keys()].filter((expression) => !expressions.has(expression))).toEqual([]);
  });
});
