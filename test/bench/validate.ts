import { createValidator } from '../../runtime/validate/create-validator.js';
import { createRuleChecker } from '../../runtime/validate/rules/create-rule-checker.js';
import { readExample } from '../conformance/formats/examples.js';
import { compare } from './measuring/measure.js';
import { patients } from './data/patients.js';
import type { Bench, Row } from './measuring/row.js';

type Resource = Record<string, unknown>;

/** What `npm run bench -- validate` measures: structure and rules together, against structure alone. */
export const bench: Bench = async () => {
  const { tables } = await import('../../generated/tables.js');
  const structure = createValidator(tables);
  const { errors } = createRuleChecker(tables);
  const pools: Readonly<Record<string, readonly Resource[]>> = {
    'made Patients': patients(500),
    'the example Patient': [readExample('Patient-example.json').resource],
    'blood pressures': [readExample('Observation-blood-pressure.json').resource],
  };
  const rows: Row[] = [];
  for (const [name, pool] of Object.entries(pools)) {
    const { measured, floor } = await compare(
      over(pool, (resource) => structure(resource).length === 0 && errors(resource).length === 0),
      over(pool, (resource) => structure(resource).length === 0),
    );
    rows.push({
      name: `validate ${name} in full`,
      unit: 'resources',
      measured,
      floor: { name: 'structure', measured: floor },
      goal: { rate: name.includes('Patient') ? 20_000 : 5000 },
    });
  }
  return rows;
};

function over(pool: readonly Resource[], isValid: (resource: Resource) => boolean): () => number {
  return () => {
    for (const resource of pool) if (!isValid(resource)) throw new Error(`refused: ${JSON.stringify(resource)}`);
    return pool.length;
  };
}
