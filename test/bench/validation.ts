import { readExample } from '../conformance/formats/examples.js';
import { compileTypeSchemas } from '../conformance/validation/json-schema-oracle.js';
import { createValidator } from '../../runtime/validate/create-validator.js';
import { compare } from './measuring/measure.js';
import { patients } from './data/patients.js';
import type { Bench, Row } from './measuring/row.js';

type Resource = Record<string, unknown>;

/** What `npm run bench -- validation` measures: checks of structure, against the official JSON schema compiled by ajv. */
export const bench: Bench = async () => {
  const { tables } = await import('../../generated/tables.js');
  const validate = createValidator(tables);
  const schemas = compileTypeSchemas(['Patient', 'Observation']);
  const isValid = (resource: Resource): boolean => validate(resource).length === 0;
  const rows: Row[] = [];
  const pools = { Patient: patients(500), Observation: observations(500) };
  for (const [type, narratives] of [
    ['Patient', false],
    ['Observation', false],
    ['Observation', true],
  ] as const) {
    const schema = schemas.get(type)!;
    const pool = narratives ? pools[type] : pools[type].map(({ text: _text, ...rest }) => rest);
    const { measured, floor } = await compare(
      over(pool, isValid),
      over(pool, (resource) => schema(resource) as boolean),
    );
    rows.push({
      name: `check ${type}s${narratives ? ' and their narratives' : ''}`,
      unit: `${type}s`,
      measured,
      floor: { name: 'ajv', measured: floor },
      // The schema takes a narrative for any string, so that there is nothing to compare.
      ...(narratives ? {} : { goal: { ratio: 0.4 } }),
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

const EXAMPLES = ['f001', 'blood-pressure', 'bmi', 'f204', 'f202', 'vp-oyster', 'example', 'satO2'];

/** Official Observations, each parsed on its own as a server would have them. */
function observations(count: number): Resource[] {
  const texts = EXAMPLES.map((id) => JSON.stringify(readExample(`Observation-${id}.json`).resource));
  return Array.from({ length: count }, (_, n) => {
    const text = texts[n % texts.length]!;
    return JSON.parse(text.replace('"id":', `"language":"en-x${n}","id":`)) as Resource;
  });
}
