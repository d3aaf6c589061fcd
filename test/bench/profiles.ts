import { profiles } from '../../generated/profiles.js';
import { tables } from '../../generated/tables.js';
import type { Resource } from '../../runtime/fhir/resource.js';
import { createRuleEvaluator } from '../../runtime/validate/profiles/evaluate-rule.js';
import { createFhirTypes } from '../../runtime/validate/profiles/fhir-types.js';
import { createValidator } from '../../runtime/validate/create-validator.js';
import { createRuleChecker } from '../../runtime/validate/rules/create-rule-checker.js';
import { validateProfiles } from '../../runtime/validate/profiles/validate-profiles.js';
import { readExample } from '../conformance/formats/examples.js';
import { measure } from './measuring/measure.js';
import type { Bench } from './measuring/row.js';

const BP = 'http://hl7.org/fhir/StructureDefinition/bp';
const POOL = 200;

/** What `npm run bench -- profiles` measures: a blood pressure checked in full, and by the profile `bp` alone. */
export const bench: Bench = async () => {
  const types = createFhirTypes(tables);
  const rows = new Map(profiles.map((row) => [row.url, row]));
  const evaluators = createRuleEvaluator(tables);
  const { text } = readExample('Observation-blood-pressure.json');
  const pool = Array.from({ length: POOL }, () => JSON.parse(text) as Resource);
  const structure = createValidator(tables);
  const { errors } = createRuleChecker(tables);
  const of =
    (withRules: boolean, isFull = false) =>
    async (): Promise<number> => {
      for (const resource of pool) {
        if (isFull && structure(resource).length + errors(resource).length > 0) throw new Error('refused');
        const issues = await validateProfiles(resource, [BP], {
          types,
          profile: (url) => rows.get(url),
          beginRules: withRules ? evaluators : () => () => true,
        });
        if (issues.some(({ severity }) => severity === 'error')) throw new Error(issues[0]?.text);
      }
      return POOL;
    };
  return [
    { name: 'bp by the profile', unit: 'Observations', measured: await measure(of(true)) },
    { name: 'bp but for its rules', unit: 'Observations', measured: await measure(of(false)) },
    { name: 'bp in full', unit: 'Observations', measured: await measure(of(true, true)), goal: { rate: 5000 } },
  ];
};
