/** A rule, an instance that breaks it alone, and one that keeps it. */
export interface RuleInstances {
  readonly id: string;
  readonly failing: object;
  readonly passing: object;
  /** Rules that cannot but be broken with it: they say the same of the same element, or more. */
  readonly also: readonly string[];
}

const of = (id: string, base: object, bad: object, good: object = {}): RuleInstances => ({
  id,
  failing: { ...base, ...bad },
  passing: { ...base, ...good },
  also: [],
});

const together = (also: string, instances: RuleInstances): RuleInstances => ({ ...instances, also: [also] });

/** Error rules that nothing of right structure with codes of their value sets breaks, and why. */
export const UNBREAKABLE: Readonly<Record<string, string>> = {
  'eld-11': 'select() gives true or false for each type, and exists() takes either',
  'que-1a': 'it is about the status "complete", which the value set does not have',
  'tst-4': 'both elements are required',
};

const text = { text: 'x' };
const UCUM = 'http://unitsofmeasure.org';
const coding = (code: string, system = 'u:s'): object => ({ coding: [{ system, code }] });
const extended = (value: object): object => ({ resourceType: 'Basic', code: text, extension: [{ url: 'u:x', ...value }] }); // prettier-ignore
const UUID = 'urn:uuid:61ebe359-bfdc-4613-8bf2-c5e300945f0a';

const account = { resourceType: 'Account', status: 'active' };
const bundle = { resourceType: 'Bundle' };
const active = { resourceType: 'Patient', active: true };
const composition = { resourceType: 'Composition', status: 'final', type: text, date: '2024', title: 'x', author: [{ display: 'x' }] }; // prettier-ignore
const signed = { type: 'document', identifier: { system: 'u:s', value: 'x' }, timestamp: '2024-01-01T00:00:00Z', entry: [{ fullUrl: UUID, resource: composition }] }; // prettier-ignore
const capability = { resourceType: 'CapabilityStatement', status: 'draft', rest: [{ mode: 'server' }], date: '2024', kind: 'requirements', fhirVersion: '5.0.0', format: ['json'] }; // prettier-ignore
const scenario = { resourceType: 'ExampleScenario', status: 'draft' };
const actor = { key: 'a', type: 'system', title: 'A' };
const other = { key: 'b', type: 'system', title: 'B' };
const instance = { key: 'i', structureType: { code: 'Patient', system: 'http://hl7.org/fhir/fhir-types' }, title: 'I' };
const second = { ...instance, key: 'j', title: 'J' };
const observation = { resourceType: 'Observation', status: 'final', code: coding('a') };
const definition = { resourceType: 'OperationDefinition', name: 'A', status: 'draft', kind: 'query', code: 'a', system: false, type: false, instance: false }; // prettier-ignore
const result = { name: 'result', use: 'out', min: 0, max: '1', type: 'Bundle' };
const plan = { resourceType: 'PlanDefinition', status: 'draft' };
const provenance = { resourceType: 'Provenance', target: [{ reference: 'Patient/1' }] };
const questionnaire = { resourceType: 'Questionnaire', status: 'draft' };
const item = (more: object): object => ({ item: [{ linkId: 'a', type: 'string', text: 'x', ...more }] });
const choice = { type: 'coding', answerOption: [{ valueCoding: { code: 'a' } }] };
const risk = { resourceType: 'RiskAssessment', status: 'final', subject: { reference: 'Patient/1' } };
const patient = { resourceType: 'Patient' };
const org = { resourceType: 'Organization', id: 'o', name: 'x' };
const refer = { managingOrganization: { reference: '#o' } };
const script = { resourceType: 'TestScript', name: 'A', status: 'draft' };
const assert = (more: object): object => ({ test: [{ action: [{ assert: { stopTestOnFail: true, warningOnly: false, ...more } }] }] }); // prettier-ignore
const setup = (more: object): object => ({ setup: { action: [{ assert: { stopTestOnFail: true, warningOnly: false, ...more } }] } }); // prettier-ignore
const operation = { encodeRequestUrl: true, type: { system: 'http://hl7.org/fhir/restful-interaction', code: 'read' } };
const terminology = { resourceType: 'TerminologyCapabilities', status: 'draft', date: '2024', kind: 'requirements' };
const described = { ...terminology, description: 'x' };
const view = { resourceType: 'ViewDefinition', status: 'draft', resource: 'Patient' };
const rows = (more: object): object => ({ select: [{ ...more, column: [{ name: 'a', path: 'id' }] }] });
const valueSet = { resourceType: 'ValueSet', url: 'http://x.org/v', status: 'draft' };
const include = (more: object): object => ({ compose: { include: [more] } });
const parameter = { resourceType: 'SearchParameter', url: 'http://x.org/s', name: 'A', status: 'draft', description: 'x', code: 'a', base: ['Patient'], type: 'number', expression: 'Patient.id', processingMode: 'normal' }; // prettier-ignore
const map = { resourceType: 'ConceptMap', url: 'http://x.org/m', status: 'active' };
const target = (more: object): object => ({ group: [{ source: 'http://x.org/a', target: 'http://x.org/b', element: [{ code: 'a', target: [{ code: 'b', relationship: 'source-is-broader-than-target', ...more }] }] }] }); // prettier-ignore
const narrative = (div: string): object => ({ text: { status: 'generated', div: `<div xmlns="http://www.w3.org/1999/xhtml">${div}</div>` } }); // prettier-ignore

// StructureDefinitions: the elements of a snapshot, and of a differential.
const structure = { resourceType: 'StructureDefinition', url: 'http://x.org/d', name: 'A', status: 'draft', kind: 'logical', abstract: false, type: 'http://x.org/d', derivation: 'specialization', baseDefinition: 'http://hl7.org/fhir/StructureDefinition/Base' }; // prettier-ignore
const whole = { base: { path: 'D', min: 0, max: '*' }, min: 0, max: '*', definition: 'x' };
const root = { id: 'D', path: 'D', ...whole };
const part = (more: object): object => ({ id: 'D.a', path: 'D.a', ...whole, base: { path: 'D.a', min: 0, max: '*' }, type: [{ code: 'string' }], ...more }); // prettier-ignore
const differential = (...element: object[]): object => ({ differential: { element } });
const snapshot = (...element: object[]): object => ({ snapshot: { element } });
const data = (more: object): object => differential(root, part(more));
const typed = { ...structure, kind: 'resource', type: 'Patient', derivation: 'constraint', baseDefinition: 'http://hl7.org/fhir/StructureDefinition/Patient' }; // prettier-ignore
const top = { id: 'Patient', path: 'Patient', ...whole, base: { path: 'Patient', min: 0, max: '*' } };

/** Rules that changes to official examples do not break alone. */
export const RULE_INSTANCES: readonly RuleInstances[] = [
  of('act-1', account, { diagnosis: [{ condition: { reference: { reference: 'Condition/1' } }, dateOfDiagnosis: '2024' }] }, { diagnosis: [{ condition: { concept: text }, dateOfDiagnosis: '2024' }] }), // prettier-ignore
  of('act-2', account, { procedure: [{ code: { reference: { reference: 'Procedure/1' } }, dateOfService: '2024' }] }, { procedure: [{ code: { concept: text }, dateOfService: '2024' }] }), // prettier-ignore
  of('apd-1', { resourceType: 'AdministrableProductDefinition', status: 'draft', routeOfAdministration: [{ code: text }], formOf: [{ reference: '#m' }] }, { contained: [{ resourceType: 'MedicinalProductDefinition', id: 'm', name: [{ productName: 'x' }], route: [text] }] }, { contained: [{ resourceType: 'MedicinalProductDefinition', id: 'm', name: [{ productName: 'x' }] }] }), // prettier-ignore
  of('app-3', { resourceType: 'Appointment', participant: [{ actor: { display: 'x' }, status: 'accepted' }] }, { status: 'booked' }, { status: 'proposed' }), // prettier-ignore
  of('bdl-9', bundle, { ...signed, identifier: { system: 'u:s' } }, signed),
  of('bdl-10', bundle, { ...signed, timestamp: undefined }, signed),
  of('bdl-17', bundle, { ...signed, issues: { resourceType: 'OperationOutcome', issue: [{ severity: 'warning', code: 'value' }] } }, signed), // prettier-ignore
  of('bdl-8', { ...bundle, type: 'collection' }, { entry: [{ fullUrl: 'http://x.org/Patient/a/_history/1', resource: { ...active, id: 'a' } }] }, { entry: [{ fullUrl: 'http://x.org/Patient/a', resource: { ...active, id: 'a' } }] }), // prettier-ignore
  of('bdl-14', { ...bundle, type: 'history', link: [{ relation: 'self', url: 'http://x.org' }] }, { entry: [{ fullUrl: 'http://x.org/Patient/a', resource: { ...active, id: 'a' }, request: { method: 'PATCH', url: 'Patient/a' }, response: { status: '200' } }] }, { entry: [{ fullUrl: 'http://x.org/Patient/a', resource: { ...active, id: 'a' }, request: { method: 'PUT', url: 'Patient/a' }, response: { status: '200' } }] }), // prettier-ignore
  of('cmd-1', map, target({}), target({ comment: 'x' })),
  of('cnt-3', { resourceType: 'Basic', code: text }, { extension: [{ url: 'u:x', valueCount: { value: 1.5, system: UCUM, code: '1' } }] }, { extension: [{ url: 'u:x', valueCount: { value: 1, system: UCUM, code: '1' } }] }), // prettier-ignore
  of('cpb-2', capability, {}, { description: 'x' }),
  of('cud-1', { resourceType: 'ClinicalUseDefinition', type: 'indication' }, { indication: { diseaseSymptomProcedure: { concept: text } }, warning: { description: 'x' } }, { indication: { diseaseSymptomProcedure: { concept: text } } }), // prettier-ignore
  of('dev-1', { resourceType: 'Device' }, { name: [{ value: 'a', type: 'registered-name', display: true }, { value: 'b', type: 'registered-name', display: true }] }, { name: [{ value: 'a', type: 'registered-name', display: true }] }), // prettier-ignore
  of('dis-1', {}, extended({ valueDistance: { value: 1, system: 'http://x.org', code: 'm' } }), extended({ valueDistance: { value: 1, system: UCUM, code: 'm' } })), // prettier-ignore
  of('dom-2', { ...patient, ...refer }, { contained: [{ ...org, partOf: { reference: '#p' }, contained: [{ ...org, id: 'p', partOf: { reference: '#o' } }] }, { ...org, id: 'p' }] }, { contained: [org] }), // prettier-ignore
  of('dom-4', { ...patient, ...refer }, { contained: [{ ...org, meta: { versionId: '1' } }] }, { contained: [org] }),
  of('dom-5', { ...patient, ...refer }, { contained: [{ ...org, meta: { security: [{ code: 'R' }] } }] }, { contained: [org] }), // prettier-ignore
  of('drq-2', {}, extended({ valueDataRequirement: { type: 'Patient', dateFilter: [{ path: 'a', searchParam: 'b' }] } }), extended({ valueDataRequirement: { type: 'Patient', dateFilter: [{ path: 'a' }] } })), // prettier-ignore
  of('eld-3', structure, data({ min: undefined, max: 'many' }), data({ max: '2' })),
  of('eld-4', structure, data({ type: [{ code: 'string', aggregation: ['contained'] }] }), data({ type: [{ code: 'Reference', aggregation: ['contained'] }] })), // prettier-ignore
  of('eld-6', structure, data({ type: [{ code: 'string' }, { code: 'code' }], fixedString: 'x' }), data({ fixedString: 'x' })), // prettier-ignore
  of('eld-7', structure, data({ type: [{ code: 'string' }, { code: 'code' }], patternString: 'x' }), data({ patternString: 'x' })), // prettier-ignore
  of('eld-12', structure, data({ binding: { strength: 'example', valueSet: 'ftp://x.org/v' } }), data({ binding: { strength: 'example', valueSet: 'http://x.org/v' } })), // prettier-ignore
  of('eld-15', structure, data({ defaultValueString: 'x', meaningWhenMissing: 'y' }), data({ defaultValueString: 'x' })), // prettier-ignore
  of('eld-19', structure, differential(root, { ...part({}), id: 'D.a', path: 'D.a b' }), data({})),
  of('exs-1', scenario, { instance: [{ ...instance, structureType: { code: 'x', system: 'u:s' } }] }, { instance: [instance] }), // prettier-ignore
  of(
    'exs-3',
    { ...scenario, status: 'active', process: [{ title: 'x', step: [{ pause: true }] }] },
    {},
    { actor: [actor] },
  ),
  of('exs-5', { ...scenario, status: 'active', actor: [actor] }, { process: [{ title: 'x' }] }, { process: [{ title: 'x', step: [{ pause: true }] }] }), // prettier-ignore
  of('exs-6', scenario, { actor: [actor, { ...other, key: 'a' }] }, { actor: [actor, other] }),
  of('exs-7', scenario, { actor: [actor, { ...other, title: 'A' }] }, { actor: [actor, other] }),
  of('exs-8', scenario, { instance: [instance, { ...second, key: 'i' }] }, { instance: [instance, second] }),
  of('exs-9', scenario, { instance: [instance, { ...second, title: 'I' }] }, { instance: [instance, second] }),
  of('exs-10', scenario, { instance: [{ ...instance, version: [{ key: 'v', title: 'V' }, { key: 'v', title: 'W' }] }] }, { instance: [{ ...instance, version: [{ key: 'v', title: 'V' }, { key: 'w', title: 'W' }] }] }), // prettier-ignore
  of('exs-11', scenario, { instance: [{ ...instance, version: [{ key: 'v', title: 'V' }, { key: 'w', title: 'V' }] }] }, { instance: [{ ...instance, version: [{ key: 'v', title: 'V' }] }] }), // prettier-ignore
  of('exs-13', scenario, { process: [{ title: 'x', step: [{ alternative: [{ title: 'a' }, { title: 'a' }] }] }] }, { process: [{ title: 'x', step: [{ alternative: [{ title: 'a' }, { title: 'b' }] }] }] }), // prettier-ignore
  of('exs-14', scenario, { instance: [{ ...instance, containedInstance: [{ instanceReference: 'none' }] }] }, { instance: [{ ...instance, containedInstance: [{ instanceReference: 'j' }] }, second] }), // prettier-ignore
  of('exs-23', scenario, { actor: [{ ...actor, key: 'OTHER' }] }, { actor: [actor] }),
  of('ig-2', { resourceType: 'ImplementationGuide', url: 'http://x.org/i', name: 'A', status: 'draft', packageId: 'x.y', fhirVersion: ['5.0.0'] }, { definition: { resource: [{ reference: { reference: 'Patient/1' }, fhirVersion: ['4.0.1'] }] } }, { definition: { resource: [{ reference: { reference: 'Patient/1' }, fhirVersion: ['5.0.0'] }] } }), // prettier-ignore
  of('mea-1', { resourceType: 'Measure', status: 'draft' }, { group: [{ stratifier: [{ description: 'x', component: [{ description: 'x' }] }] }] }, { group: [{ stratifier: [{ description: 'x' }] }] }), // prettier-ignore
  of('nsd-1', { resourceType: 'NamingSystem', name: 'A', status: 'draft', date: '2024', url: 'http://x.org/n' }, { kind: 'root', uniqueId: [{ type: 'uuid', value: 'x' }] }, { kind: 'root', uniqueId: [{ type: 'oid', value: '1.2' }] }), // prettier-ignore
  of('nsd-3', { resourceType: 'NamingSystem', name: 'A', status: 'draft', date: '2024', url: 'http://x.org/n', kind: 'identifier' }, { uniqueId: [{ type: 'uri', value: 'x', authoritative: true, period: { start: '2024', end: '2025' } }, { type: 'uri', value: 'y', authoritative: true, period: { start: '2024', end: '2025' } }] }, { uniqueId: [{ type: 'uri', value: 'x', authoritative: true }] }), // prettier-ignore
  of('obd-1', { resourceType: 'ObservationDefinition', status: 'draft', code: text }, { component: [{ code: text, permittedUnit: [{ code: 'mg' }] }] }, { component: [{ code: text, permittedUnit: [{ code: 'mg' }], permittedDataType: ['Quantity'] }] }), // prettier-ignore
  of('obs-7', observation, { valueString: 'x', component: [{ code: coding('a'), valueString: 'y' }] }, { component: [{ code: coding('a'), valueString: 'y' }] }), // prettier-ignore
  of('obs-9', { ...observation, specimen: { reference: '#g' } }, { contained: [{ resourceType: 'Group', id: 'g', type: 'person', membership: 'enumerated', member: [{ entity: { reference: '#p' } }] }, { ...active, id: 'p' }] }, { contained: [{ resourceType: 'Specimen', id: 'g' }] }), // prettier-ignore
  of('opd-5', { ...definition, parameter: [result] }, { instance: true }),
  of('opd-6', definition, { parameter: [result, { name: 'a', use: 'in', min: 0, max: '1', type: 'string' }] }, { parameter: [result] }), // prettier-ignore
  of('opd-7', definition, { parameter: [{ ...result, name: 'other' }] }, { parameter: [result] }),
  of('pld-0', plan, { action: [{ input: [{ title: 'x' }] }] }, { action: [{ input: [{ relatedData: 'x' }] }] }),
  of('pld-1', plan, { action: [{ output: [{ title: 'x' }] }] }, { action: [{ output: [{ relatedData: 'x' }] }] }),
  of('prov-2', { ...provenance, agent: [{ who: { reference: '#r' }, onBehalfOf: { reference: '#p' } }] }, { contained: [{ resourceType: 'PractitionerRole', id: 'r', practitioner: { reference: '#p' } }, { resourceType: 'Practitioner', id: 'p' }] }, { contained: [{ resourceType: 'PractitionerRole', id: 'r', practitioner: { reference: '#q' } }, { resourceType: 'Practitioner', id: 'p' }, { resourceType: 'Practitioner', id: 'q', active: true }] }), // prettier-ignore
  of('prov-3', { ...provenance, agent: [{ who: { reference: '#o' }, onBehalfOf: { reference: '#r' } }] }, { contained: [{ resourceType: 'PractitionerRole', id: 'r', organization: { reference: '#o' } }, org] }, { contained: [{ resourceType: 'PractitionerRole', id: 'r', active: true }, org] }), // prettier-ignore
  of('prr-1', { resourceType: 'ServiceRequest', status: 'active', intent: 'order', subject: { reference: 'Patient/1' } }, { orderDetail: [{ parameter: [{ code: text, valueString: 'x' }] }] }, { code: { concept: text }, orderDetail: [{ parameter: [{ code: text, valueString: 'x' }] }] }), // prettier-ignore
  of('que-1c', questionnaire, item({ type: 'display', item: [{ linkId: 'b', type: 'string', text: 'y' }] }), item({})),
  of('que-2', questionnaire, { item: [{ linkId: 'a', type: 'string', text: 'x' }, { linkId: 'a', type: 'string', text: 'y' }] }, item({})), // prettier-ignore
  of('que-6', questionnaire, item({ type: 'display', required: true }), item({ required: true })),
  of('que-8', questionnaire, item({ type: 'group', initial: [{ valueString: 'x' }], item: [{ linkId: 'b', type: 'string', text: 'y' }] }), item({ initial: [{ valueString: 'x' }] })), // prettier-ignore
  of('que-11', questionnaire, item({ ...choice, initial: [{ valueCoding: { code: 'a' } }] }), item(choice)),
  of('que-13', questionnaire, item({ initial: [{ valueString: 'x' }, { valueString: 'y' }] }), item({ repeats: true, initial: [{ valueString: 'x' }, { valueString: 'y' }] })), // prettier-ignore
  of('ras-1', risk, { prediction: [{ probabilityRange: { low: { value: 1, code: 'mg', system: UCUM } } }] }, { prediction: [{ probabilityRange: { low: { value: 1, code: '%', system: UCUM } } }] }), // prettier-ignore
  of('ras-2', risk, { prediction: [{ probabilityDecimal: 101 }] }, { prediction: [{ probabilityDecimal: 99 }] }),
  of('ratrng-1', {}, extended({ valueRatioRange: { lowNumerator: { value: 1 } } }), extended({ valueRatioRange: { lowNumerator: { value: 1 }, denominator: { value: 2 } } })), // prettier-ignore
  of('ratrng-2', {}, extended({ valueRatioRange: { lowNumerator: { value: 9 }, highNumerator: { value: 1 }, denominator: { value: 2 } } }), extended({ valueRatioRange: { lowNumerator: { value: 1 }, highNumerator: { value: 9 }, denominator: { value: 2 } } })), // prettier-ignore
  of('ref-1', { ...patient, ...refer }, {}, { contained: [org] }),
  of('ref-2', patient, { managingOrganization: { type: 'Organization' } }, { managingOrganization: { display: 'x' } }),
  of('scr-1', { resourceType: 'Subscription', status: 'requested', topic: 'http://x.org/t', channelType: { code: 'rest-hook', system: 'http://terminology.hl7.org/CodeSystem/subscription-channel-type' } }, { filterBy: [{ filterParameter: 'a', comparator: 'eq', modifier: 'exact', value: 'x' }] }, { filterBy: [{ filterParameter: 'a', comparator: 'eq', value: 'x' }] }), // prettier-ignore
  of('sdf-1', structure, snapshot(root, part({}), part({ id: 'D.b' })), snapshot(root, part({}))),
  of('sdf-5', { ...typed, kind: 'complex-type', type: 'Extension', baseDefinition: 'http://hl7.org/fhir/StructureDefinition/Extension' }, differential({ id: 'Extension', path: 'Extension' }), { ...differential({ id: 'Extension', path: 'Extension' }), context: [{ type: 'element', expression: 'Patient' }] }), // prettier-ignore
  of('sdf-9', structure, differential({ ...root, label: 'x' }, part({})), data({})),
  together('eld-23', of('sdf-10', structure, snapshot(root, part({ binding: { strength: 'example' } })), snapshot(root, part({ binding: { strength: 'example', description: 'x' } })))), // prettier-ignore
  together('sdf-8', of('sdf-11', typed, snapshot({ ...top, id: 'PatientX', path: 'PatientX' }), snapshot(top))),
  together('sdf-17', of('sdf-14', structure, differential(root, part({ id: undefined })), data({}))),
  of('sdf-15', typed, snapshot({ ...top, type: [{ code: 'Patient' }] }), snapshot(top)),
  of('sdf-15a', typed, differential({ id: 'Patient', path: 'Patient', type: [{ code: 'Patient' }] }), differential({ id: 'Patient', path: 'Patient' })), // prettier-ignore
  of('sdf-16', structure, snapshot(root, part({}), part({ path: 'D.b' })), snapshot(root, part({}))),
  of('sdf-17', structure, differential(root, part({}), part({ path: 'D.b' })), data({})),
  of('sdf-20', structure, differential({ ...root, slicing: { rules: 'open', description: 'x' } }, part({})), data({})),
  of('sdf-21', typed, differential({ id: 'Patient', path: 'Patient' }, { id: 'Patient.active', path: 'Patient.active', defaultValueBoolean: true }), differential({ id: 'Patient', path: 'Patient' })), // prettier-ignore
  of('sdf-27', { ...structure, ...data({}) }, { derivation: undefined }),
  of('sdf-24', structure, snapshot(root, part({ type: [{ code: 'CodeableReference' }] }), part({ id: 'D.a.reference', path: 'D.a.reference', type: [{ code: 'Reference', targetProfile: ['http://x.org/p'] }] })), snapshot(root, part({ type: [{ code: 'CodeableReference' }] }))), // prettier-ignore
  of('sdf-25', structure, snapshot(root, part({ type: [{ code: 'CodeableReference' }] }), part({ id: 'D.a.concept', path: 'D.a.concept', type: [{ code: 'CodeableConcept' }], binding: { strength: 'example', description: 'x' } })), snapshot(root, part({ type: [{ code: 'CodeableReference' }] }))), // prettier-ignore
  of(
    'sdf-28',
    structure,
    snapshot(root, part({ slicing: { rules: 'open' } })),
    snapshot(root, part({ slicing: { rules: 'open', description: 'x' } })),
  ),
  of('spd-3', parameter, { type: 'string', comparator: ['eq'] }, { comparator: ['eq'] }),
  of(
    'sql-expressions',
    { ...view, name: 'v' },
    rows({ forEach: 'name', repeat: ['contact'] }),
    rows({ forEach: 'name' }),
  ),
  of('sql-name', view, { name: '1 v', ...rows({}) }, { name: 'v_1', ...rows({}) }),
  of('sqty-1', observation, { referenceRange: [{ low: { value: 1, comparator: '<' } }] }, { referenceRange: [{ low: { value: 1 } }] }), // prettier-ignore
  of('tcp-1', described, { codeSystem: [{ uri: 'http://x.org/c', content: 'complete', version: [{ code: '1' }, { isDefault: true }] }] }, { codeSystem: [{ uri: 'http://x.org/c', content: 'complete', version: [{ code: '1' }, { code: '2' }] }] }), // prettier-ignore
  of('tcp-2', terminology, {}, { description: 'x' }),
  of('tcp-8', described, { codeSystem: [{ uri: 'http://x.org/c', content: 'complete', version: [{ code: '1', isDefault: true }, { code: '2', isDefault: true }] }] }, { codeSystem: [{ uri: 'http://x.org/c', content: 'complete', version: [{ code: '1', isDefault: true }] }] }), // prettier-ignore
  of('tim-4', {}, extended({ valueTiming: { repeat: { duration: -1, durationUnit: 'h' } } }), extended({ valueTiming: { repeat: { duration: 1, durationUnit: 'h' } } })), // prettier-ignore
  of('tst-5', script, setup({ expression: 'a', path: 'b', minimumId: 'c', validateProfileId: 'd' }), setup({ expression: 'a' })), // prettier-ignore
  together('tst-5', of('tst-6', script, assert({ expression: 'a', path: 'b', minimumId: 'c', validateProfileId: 'd' }), assert({ expression: 'a' }))), // prettier-ignore
  together('tst-7', of('tst-8', script, { test: [{ action: [{ operation: { ...operation, url: 'x', params: 'y' } }] }] }, { test: [{ action: [{ operation: { ...operation, url: 'x' } }] }] })), // prettier-ignore
  together('tst-7', of('tst-9', script, { teardown: { action: [{ operation: { ...operation, url: 'x', params: 'y' } }] } }, { teardown: { action: [{ operation: { ...operation, url: 'x' } }] } })), // prettier-ignore
  together('tst-10', of('tst-11', script, assert({ compareToSourceId: 'a', contentType: 'application/json' }), assert({ compareToSourceId: 'a', compareToSourcePath: 'x', contentType: 'application/json' }))), // prettier-ignore
  together('tst-12', of('tst-13', script, assert({ direction: 'request', response: 'okay' }), assert({ direction: 'response', response: 'okay' }))), // prettier-ignore
  of('txt-1', patient, narrative('<script>x</script>a'), narrative('a')),
  of('txt-2', patient, narrative(' '), narrative('a')),
  of('vsd-1', valueSet, include({ version: '1' }), include({ system: 'http://x.org/c' })),
  of('vsd-2', valueSet, include({ valueSet: ['http://x.org/w'], concept: [{ code: 'a' }] }), include({ system: 'http://x.org/c', concept: [{ code: 'a' }] })), // prettier-ignore
];
