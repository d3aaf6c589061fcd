import { ConfigError } from '../config/config-error.js';

/** How much a statement asks for something. https://hl7.org/fhir/extensions/StructureDefinition-capabilitystatement-expectation.html */
export const EXPECTATIONS = ['SHALL', 'SHOULD', 'MAY', 'SHOULD-NOT'] as const;

/** One of `EXPECTATIONS`. */
export type Expectation = (typeof EXPECTATIONS)[number];

/** Something that a CapabilityStatement asks of a server. */
export interface Requirement {
  readonly expectation: Expectation;
  /** The resource type that it is about; absent: the server as a whole. */
  readonly type?: string;
  readonly kind: 'interaction' | 'condition' | 'search' | 'include' | 'operation' | 'profile' | 'format';
  /** The interaction, search parameter, operation, canonical of the profile, or media type. */
  readonly name: string;
  /** Canonical of the SearchParameter or OperationDefinition. */
  readonly definition?: string;
}

type Json = Readonly<Record<string, unknown>>;

const EXPECTATION = 'http://hl7.org/fhir/StructureDefinition/capabilitystatement-expectation';

/** Elements of `rest.resource` that say by a value how something is done, and the values that say that it is not. */
const CONDITIONS: Readonly<Record<string, readonly unknown[]>> = {
  versioning: ['no-version'],
  readHistory: [false],
  updateCreate: [false],
  conditionalCreate: [false],
  conditionalRead: ['not-supported'],
  conditionalUpdate: [false],
  conditionalPatch: [false],
  conditionalDelete: ['not-supported'],
};

/**
 * Lists what a CapabilityStatement asks of a server, in its order. What has no expectation is a SHALL: a statement of requirements has
 * nothing that may be left out unless it says so.
 *
 * @throws ConfigError where it is no CapabilityStatement, or one of clients alone
 */
export function requirementsOf(statement: unknown): readonly Requirement[] {
  if (!isObject(statement) || statement['resourceType'] !== 'CapabilityStatement') {
    throw new ConfigError('it is no CapabilityStatement');
  }
  const servers = objectsOf(statement['rest']).filter((rest) => rest['mode'] === 'server');
  if (servers.length === 0) throw new ConfigError('the CapabilityStatement asks nothing of servers (rest.mode server)');
  const formats = namesOf(statement, 'format').map((each) => ({ ...each, kind: 'format' as const }));
  return unique([...formats, ...servers.flatMap(ofRest)]);
}

function ofRest(rest: Json): readonly Requirement[] {
  const whole: Requirement[] = [
    ...objectsOf(rest['interaction']).map((each) => named(each, 'interaction', each['code'])),
    ...objectsOf(rest['operation']).map((each) => operation(each)),
    ...objectsOf(rest['searchParam']).map((each) => named(each, 'search', each['name'])),
  ];
  return [...whole, ...objectsOf(rest['resource']).flatMap(ofResource)];
}

function ofResource(resource: Json): readonly Requirement[] {
  const type = String(resource['type']);
  const conditions = Object.entries(CONDITIONS).flatMap(([name, not]) => {
    const value = resource[name];
    if (value === undefined || not.includes(value)) return [];
    const said = typeof value === 'string' ? `${name} ${value}` : name;
    return [{ kind: 'condition' as const, name: said, expectation: expectationOf(resource[`_${name}`]) }];
  });
  const canonicals = (element: string, kind: Requirement['kind']): readonly Requirement[] =>
    namesOf(resource, element).map((each) => ({ ...each, kind }));
  const all: readonly Requirement[] = [
    ...objectsOf(resource['interaction']).map((each) => named(each, 'interaction', each['code'])),
    ...conditions,
    ...objectsOf(resource['searchParam']).map((each) => named(each, 'search', each['name'])),
    ...canonicals('searchInclude', 'include').map((each) => ({ ...each, name: `_include=${each.name}` })),
    ...canonicals('searchRevInclude', 'include').map((each) => ({ ...each, name: `_revinclude=${each.name}` })),
    ...objectsOf(resource['operation']).map((each) => operation(each)),
    ...canonicals('supportedProfile', 'profile'),
  ];
  return all.map((each) => ({ ...each, type }));
}

function named(element: Json, kind: Requirement['kind'], name: unknown): Requirement {
  const definition = element['definition'];
  return {
    expectation: expectationOf(element),
    kind,
    name: String(name),
    ...(typeof definition === 'string' && { definition }),
  };
}

/** Statements write names of operations with `$` and without. */
function operation(element: Json): Requirement {
  return named(element, 'operation', `$${String(element['name']).replace(/^\$/, '')}`);
}

/** Values of a repeating primitive, each with its expectation. */
function namesOf(element: Json, name: string): readonly Pick<Requirement, 'name' | 'expectation'>[] {
  const values = element[name];
  const beside = element[`_${name}`];
  if (!Array.isArray(values)) return [];
  return values.map((value, i) => ({
    name: String(value),
    expectation: expectationOf(Array.isArray(beside) ? beside[i] : undefined),
  }));
}

function expectationOf(element: unknown): Expectation {
  const found = isObject(element)
    ? objectsOf(element['extension']).find(({ url }) => url === EXPECTATION)?.['valueCode']
    : undefined;
  return EXPECTATIONS.find((each) => each === found) ?? 'SHALL';
}

function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function objectsOf(value: unknown): readonly Json[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}

/** A statement may name an interaction several times, with different documentation. */
function unique(all: readonly Requirement[]): readonly Requirement[] {
  const byName = new Map(all.map((each) => [[each.type, each.kind, each.name].join(' '), each]));
  return [...byName.values()];
}
