import { isObject, type JsonObject, type JsonValue, objectsOf, textsOf } from '../fhir/resource.js';
import { displayOf } from './display.js';
import { template } from './engine.js';
import type { Paths } from './site.js';

interface TypeLine {
  readonly type: string;
  readonly interactions: string;
  readonly parameters: number;
  readonly operations: string;
}

interface CapabilityPage {
  readonly paths: Paths;
  readonly facts: readonly { readonly name: string; readonly value: string }[];
  readonly operations: readonly string[];
  readonly interactions: readonly string[];
  readonly types: readonly TypeLine[];
}

const render = template<CapabilityPage>('capability');

/** The page of the server's own CapabilityStatement: what each type can do, and where to try it. */
export function capabilityPage(statement: JsonObject, paths: Paths): string {
  const [rest = {}] = objectsOf(statement['rest']);
  const { software, security } = { software: statement['software'], security: rest['security'] };
  const services = isObject(security) ? security['service'] : undefined;
  return render({
    paths,
    facts: [
      {
        name: 'Software',
        value: isObject(software) ? `${displayOf(software['name'])} ${displayOf(software['version'])}` : '',
      },
      { name: 'FHIR', value: displayOf(statement['fhirVersion']) },
      { name: 'Formats', value: textsOf(statement['format']).join(', ') },
      { name: 'Patches', value: textsOf(statement['patchFormat']).join(', ') },
      { name: 'Security', value: objectsOf(services).map(displayOf).join(', ') },
    ].filter(({ value }) => value !== ''),
    operations: namesIn(rest['operation'], 'name'),
    interactions: namesIn(rest['interaction'], 'code'),
    types: objectsOf(rest['resource']).map((each) => ({
      type: displayOf(each['type']),
      interactions: namesIn(each['interaction'], 'code').join(', '),
      parameters: objectsOf(each['searchParam']).length,
      operations: namesIn(each['operation'], 'name')
        .map((name) => `$${name}`)
        .join(', '),
    })),
  });
}

function namesIn(value: JsonValue | undefined, member: string): string[] {
  return objectsOf(value).map((each) => displayOf(each[member]));
}
