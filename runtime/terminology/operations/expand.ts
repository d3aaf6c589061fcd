import { randomUUID } from 'node:crypto';

import type { Call, Reply } from '../../core/call.js';
import { withinBudget } from '../../search-execution/execute/search-budget.js';
import type { Services } from '../../core/services.js';
import { FhirError } from '../../fhir/errors.js';
import { formatInstant } from '../../fhir/instant.js';
import type { JsonObject, JsonValue, Resource } from '../../fhir/resource.js';
import { expand, wantedDesignations } from '../expand.js';
import type { Languages } from '../systems/languages.js';
import { supplementsNamedBy } from '../resolver.js';
import { valueOf, valuesOf } from '../../operations/common/arguments.js';
import { languagesOf, openTerminology, resourceOf, type TerminologyCall } from './context.js';

const NAMES = { url: 'url', version: 'valueSetVersion', resource: 'valueSet' };

/** Parameters that are repeated in the expansion, each with the member of its value. */
const REPEATED = {
  filter: 'valueString',
  offset: 'valueInteger',
  count: 'valueInteger',
  activeOnly: 'valueBoolean',
  excludeNested: 'valueBoolean',
  excludeNotForUI: 'valueBoolean',
  includeDesignations: 'valueBoolean',
  includeDefinition: 'valueBoolean',
  excludePostCoordinated: 'valueBoolean',
  displayLanguage: 'valueCode',
  designation: 'valueString',
  property: 'valueString',
  date: 'valueDateTime',
  useSupplement: 'valueUri',
  'exclude-system': 'valueUri',
  'system-version': 'valueUri',
  'check-system-version': 'valueUri',
  'force-system-version': 'valueUri',
} as const;

/**
 * `ValueSet/$expand`: the codes of a value set. https://hl7.org/fhir/R5/valueset-operation-expand.html
 *
 * @throws FhirError `parameter-invalid`, `terminology-not-found`, `value-set-invalid`, `expansion-too-costly`
 */
export function expandValueSet(call: Call, services: Services): Promise<Reply> {
  return withinBudget(services.limits.queryTime, call.signal, (signal) =>
    expandWithin(signal === undefined ? call : { ...call, signal }, services),
  );
}

async function expandWithin(call: Call, services: Services): Promise<Reply> {
  const opened = openTerminology(call, services);
  const { found, context, text, isSet } = opened;
  for (const name of ['offset', 'count']) {
    if (Number(valueOf(found, name) ?? 0) < 0)
      throw new FhirError('parameter-invalid', `The parameter "${name}" is at least 0`);
  }
  const valueSet = await resourceOf('ValueSet', NAMES, opened, call, services);
  const [offset, count] = [valueOf(found, 'offset'), valueOf(found, 'count')];
  const filter = text('filter');
  const options = {
    ...(filter !== undefined && filter !== '' && { filter }),
    ...(offset !== undefined && { offset: Number(offset) }),
    ...(count !== undefined && { count: Number(count) }),
    activeOnly: isSet('activeOnly'),
    excludeNested: isSet('excludeNested') || valueOf(found, 'includeHierarchy') === false,
    excludeNotForUI: isSet('excludeNotForUI'),
    includeDesignations: isSet('includeDesignations'),
    designations: wantedDesignations(valuesOf(found, 'designation').map(String)),
    languages: languagesOf(opened, call, valueSet),
    properties: new Set(propertiesOf(opened, valueSet)),
    excludedSystems: new Set(valuesOf(found, 'exclude-system').map(String)),
  };
  const expansion = await expand(valueSet, options, context);
  return { status: 200, resource: describe(valueSet, expansion, options.languages, opened) };
}

/** The properties that the client asks for, else those of the value set: valueset-definitions.html#ValueSet.compose.property */
function propertiesOf({ found }: TerminologyCall, valueSet: Resource): readonly string[] {
  const asked = valuesOf(found, 'property');
  const { property } = (valueSet['compose'] ?? {}) as JsonObject;
  return (asked.length > 0 || !Array.isArray(property) ? asked : property).map(String);
}

function describe(
  valueSet: Resource,
  expansion: JsonObject,
  languages: Languages,
  opened: TerminologyCall,
): JsonObject {
  const { compose, expansion: _old, meta: _meta, id: _id, text: _text, ...head } = valueSet;
  const { used } = opened.context;
  const { contains, ...rest } = expansion;
  const parameter: JsonValue[] = [
    ...Object.entries(REPEATED).flatMap(([name, kind]) =>
      valuesOf(opened.found, name).map((value) => ({ name, [kind]: value })),
    ),
    // What the client did not send, and the header or the value set decides.
    ...(opened.found.has('displayLanguage') || languages.tags.length === 0
      ? []
      : [{ name: 'displayLanguage', valueCode: languages.tags.join(', ') }]),
    ...supplementsNamedBy(valueSet).map((each) => ({ name: 'used-supplement', valueUri: each })),
    ...[...used.systems].map((each) => ({ name: 'used-codesystem', valueUri: each })),
    ...[...used.systems].filter((each) => each.includes('|')).map((each) => ({ name: 'version', valueUri: each })),
    ...[...used.valueSets].map((each) => ({ name: 'used-valueset', valueUri: each })),
  ];
  const uuid = randomUUID();
  return {
    ...head,
    resourceType: 'ValueSet',
    // "The server SHOULD populate the id with a newly created UUID": terminology-service.html#expand
    id: uuid,
    status: head['status'] ?? 'active',
    ...(opened.isSet('includeDefinition') && compose !== undefined && { compose }),
    expansion: {
      identifier: `urn:uuid:${uuid}`,
      timestamp: formatInstant(Date.now()),
      ...rest,
      ...(parameter.length > 0 && { parameter }),
      ...(contains !== undefined && { contains }),
    },
  } as JsonObject;
}
