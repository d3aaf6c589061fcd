import { describe, expect, it } from 'vitest';

import { tables } from '../../../generated/tables.js';
import { compileExpression } from '../../../runtime/path/evaluate/compile-expression.js';
import { NATIVE_RULES } from '../../../runtime/validate/rules/native-rules.js';
import { exampleFiles } from '../formats/examples.js';
import { refusedExamples } from './rule-examples.js';

describe('the rules of the definitions (conformance-rules.html#constraints)', () => {
  it('accept every tenth official example, but the Questionnaires that break que-2', () => {
    // test/long/formats/rules.test.ts has them all.
    const some = exampleFiles().filter((_, i) => i % 10 === 0);
    expect(refusedExamples(some)).toEqual({ 'Questionnaire-qgen: que-2': 14 });
  });

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
