/** A StructureDefinition of one rule. */
const profile = (type: string, name: string, path: string, more: object) => ({
  ...{ resourceType: 'StructureDefinition', id: `${type}-${name}`, url: `http://profiles.example/${type}-${name}` },
  ...{ name: 'Made', status: 'active', kind: 'resource', abstract: false, type, derivation: 'constraint' },
  baseDefinition: `http://hl7.org/fhir/StructureDefinition/${type}`,
  differential: { element: [{ id: type, path: type }, { id: path, path, ...more }] }, // prettier-ignore
});

const rule = (expression: string) => ({
  constraint: [{ key: 'x-1', severity: 'error', human: 'It is another one', expression }],
});

/** What about half of the resources that references lead to conform to. */
const TARGETS = [
  ['Patient', "gender = 'male'"],
  ['Encounter', "status = 'planned'"],
  ['Observation', "status = 'final'"],
] as const;

const WAYS = [
  ['Observation', 'subject', 'Patient'],
  ['Observation', 'encounter', 'Encounter'],
  ['Observation', 'hasMember', 'Observation'],
  ['Encounter', 'subject', 'Patient'],
  ['Condition', 'subject', 'Patient'],
  ['Condition', 'encounter', 'Encounter'],
  ['Basic', 'subject', 'Patient'],
] as const;

const targets = TARGETS.map(([type, expression]) => profile(type, 'half', type, rule(expression)));

/** Profiles of every twin, with rules on what references lead to. */
export const PROFILES = [
  ...targets,
  ...WAYS.flatMap(([type, element, target]) => {
    const [, expression] = TARGETS.find(([name]) => name === target)!;
    const { url } = targets.find((each) => each.type === target)!;
    const path = `${type}.${element}`;
    return [
      profile(type, `${element}-target`, path, { type: [{ code: 'Reference', targetProfile: [url] }] }),
      profile(type, `${element}-resolved`, path, rule(`resolve().${expression}`)),
      profile(type, `${element}-exists`, path, rule('resolve().exists()')),
      profile(type, `${element}-conforming`, path, rule(`resolve().conformsTo('${url}')`)),
    ];
  }),
];
