import { tables } from '../../../generated/tables.js';
import { readJson } from '../../../runtime/format/read-json.js';
import { createRuleChecker } from '../../../runtime/validate/rules/create-rule-checker.js';
import { readExample } from '../formats/examples.js';

/**
 * Checks the rules of the definitions on official examples.
 *
 * @returns which examples break which rules, and how many: the generated Questionnaires have one name
 */
export function refusedExamples(files: readonly string[]): Readonly<Record<string, number>> {
  const checker = createRuleChecker(tables);
  const refused: Record<string, number> = {};
  for (const file of files) {
    const faults = checker.errors(readJson(readExample(file).text));
    if (faults.length === 0) continue;
    const keys = [...new Set(faults.map(({ rule }) => rule))].join();
    const name = `${file.startsWith('Questionnaire-qgen-') ? 'Questionnaire-qgen' : file}: ${keys}`;
    refused[name] = (refused[name] ?? 0) + 1;
  }
  return refused;
}
