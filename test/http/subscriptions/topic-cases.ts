import { topic, triggered } from './samples.js';

const criteria = (queryCriteria: object) => triggered({ queryCriteria });
const current = (text: string) => criteria({ current: text });
const path = (fhirPathCriteria: string) => triggered({ fhirPathCriteria });
const filter = (canFilterBy: object) => topic({ canFilterBy: [canFilterBy] });
const shape = (more: object) => topic({ notificationShape: [{ resource: 'Observation', ...more }] });

const TRIGGER = 'resourceTrigger[0]';
const CURRENT = `${TRIGGER}.queryCriteria.current`;
const PATH = `${TRIGGER}.fhirPathCriteria`;

/** Topics that are refused: why, what, the element below SubscriptionTopic, a word of what would be right. */
export const REFUSED: readonly (readonly [string, object, string, string])[] = [
  ['no trigger', topic({ resourceTrigger: undefined }), 'resourceTrigger', 'missing'],
  ['an event trigger', topic({ eventTrigger: [{ event: { text: 'x' }, resource: 'Patient' }] }), 'eventTrigger[0]', 'resourceTrigger'], // prettier-ignore
  ['an unknown type', triggered({ resource: 'Observatoin' }), `${TRIGGER}.resource`, 'did you mean Observation'],
  ['a profile', triggered({ resource: 'http://example.org/StructureDefinition/Observation' }), `${TRIGGER}.resource`, 'no resource type'], // prettier-ignore
  ['a data type', triggered({ resource: 'HumanName' }), `${TRIGGER}.resource`, 'no resource type'],
  ['criteria without any', criteria({ requireBoth: true }), `${TRIGGER}.queryCriteria`, 'previous'],
  ['an unknown parameter', current('statsu=final'), CURRENT, 'did you mean'],
  ['an unknown modifier', current('status:exact=final'), CURRENT, 'takes :missing'],
  ['an invalid value', current('date=yesterday'), CURRENT, 'yesterday'],
  ['a result parameter', current('status=final&_sort=date'), CURRENT, '_sort'],
  ['an include', current('status=final&_include=Observation:subject'), CURRENT, '_include'],
  ['no value', current('status='), CURRENT, 'no value'],
  ['criteria of another type', current('Patient?active=true'), CURRENT, 'Patient'],
  ['a chain that leads nowhere', current('subject:Patient.nmae=x'), CURRENT, 'nmae'],
  ['an unknown parameter before', criteria({ previous: 'x=1' }), `${TRIGGER}.queryCriteria.previous`, 'x'],
  ['FHIRPath that is none', path('status ='), PATH, 'expected a name'],
  ['FHIRPath with an unknown element', path('%current.statsu = 1'), PATH, 'statsu'],
  ['FHIRPath with an unknown function', path('status.foo()'), PATH, 'foo'],
  ['FHIRPath with an unknown variable', path('%before.status'), PATH, '%before'],
  ['FHIRPath that resolves', path('subject.resolve().exists()'), PATH, 'resolve'],
  ['FHIRPath that asks terminology', path("code.memberOf('x')"), PATH, 'memberOf'],
  ['FHIRPath that traces', path("status.trace('x').exists()"), PATH, 'trace'],
  ['FHIRPath with a pattern that is none', path("status.matches('[')"), PATH, 'no regular expression'],
  ['FHIRPath with a pattern that goes back', path("status.matchesFull('(.)\\\\1')"), PATH, 'no regular expression'],
  ['FHIRPath with flags', path("status.matches('F', 'i')"), PATH, 'takes 1 argument'],
  ['FHIRPath that replaces matches', path("status.replaceMatches('f', 'g').exists()"), PATH, 'replaceMatches'],
  ['an unknown filter', filter({ filterParameter: 'nonsense' }), 'canFilterBy[0].filterParameter', 'search parameter'],
  ['a filter of another type', filter({ resource: 'Patient', filterParameter: 'name' }), 'canFilterBy[0].resource', 'trigger'], // prettier-ignore
  ['a label without a parameter', filter({ filterParameter: 'mine', filterDefinition: 'http://x.example/p' }), 'canFilterBy[0].filterParameter', 'x.example'], // prettier-ignore
  ['a comparator of a token', filter({ filterParameter: 'code', comparator: ['gt'] }), 'canFilterBy[0].comparator[0]', 'number, date'], // prettier-ignore
  ['a modifier that the type lacks', filter({ filterParameter: 'date', modifier: ['exact'] }), 'canFilterBy[0].modifier[0]', 'missing'], // prettier-ignore
  ['the modifier iterate', filter({ filterParameter: 'subject', modifier: ['iterate'] }), 'canFilterBy[0].modifier[0]', 'takes'], // prettier-ignore
  ['an unknown include', shape({ include: ['Observation:nothing'] }), 'notificationShape[0].include[0]', 'nothing'],
  ['an include that begins elsewhere', shape({ include: ['Patient:link'] }), 'notificationShape[0].include[0]', 'begins'], // prettier-ignore
  ['an unknown revInclude', shape({ revInclude: ['Provenance:nothing'] }), 'notificationShape[0].revInclude[0]', 'nothing'], // prettier-ignore
  ['a shape of no type', topic({ notificationShape: [{ resource: 'Thing' }] }), 'notificationShape[0].resource', 'no resource type'], // prettier-ignore
  ['a modifier extension', topic({ modifierExtension: [{ url: 'http://x.example/m', valueBoolean: true }] }), 'modifierExtension', 'leave it out'], // prettier-ignore
];

/** Topics that are taken. */
export const TAKEN: readonly (readonly [string, object])[] = [
  ['a draft', topic({ status: 'draft' })],
  ['a type by URL', triggered({ resource: 'http://hl7.org/fhir/StructureDefinition/Observation' })],
  ['Resource', triggered({ resource: 'Resource', queryCriteria: { current: '_tag=x' } })],
  ['DomainResource', triggered({ resource: 'DomainResource' })],
  ['criteria with a type', current('Observation?status=final')],
  ['encoded criteria', current('code=http%3A%2F%2Floinc.org%7C1234-5')],
  ['criteria that are not encoded', current('code=http://loinc.org|1234-5&date=ge2020-01-01T00:00:00+02:00')],
  ['a chain', current('subject:Patient.name=x')],
  ['_has', triggered({ resource: 'Patient', queryCriteria: { current: '_has:Observation:patient:code=x' } })],
  ['_in', triggered({ resource: 'Patient', queryCriteria: { current: '_in=Group/1' } })],
  ['a value set', current('code:in=http://example.org/vs')],
  ['all truth table elements', criteria({ previous: 'status:not=final', resultForCreate: 'test-passes', current: 'status=final', resultForDelete: 'test-fails', requireBoth: true })], // prettier-ignore
  ['FHIRPath of both versions', path("%previous.status != 'final' and %current.status = 'final'")],
  ['FHIRPath with a bar', path("(%previous.empty() | (%previous.status != 'final')) and (%current.status = 'final')")],
  ['FHIRPath with the time', path('issued < now() and today() > @2020-01-01')],
  ['both kinds of criteria', triggered({ queryCriteria: { current: 'status=final' }, fhirPathCriteria: 'subject.exists()' })], // prettier-ignore
  ['several triggers', topic({ resourceTrigger: [{ resource: 'Patient' }, { resource: 'Observation' }] })],
  ['filters', topic({ canFilterBy: [{ filterParameter: 'code' }, { filterParameter: 'date', comparator: ['gt', 'ap'] }, { filterParameter: 'subject:Patient.gender' }] })], // prettier-ignore
  ['a filter by its URL', filter({ filterParameter: 'http://hl7.org/fhir/SearchParameter/clinical-code' })],
  ['a label', filter({ filterParameter: 'what', filterDefinition: 'http://hl7.org/fhir/SearchParameter/clinical-code' })], // prettier-ignore
  ['shapes', shape({ include: ['Observation:subject', 'Observation:encounter&iterate=Encounter.subject'], revInclude: ['Provenance:target'] })], // prettier-ignore
  ['one that is retired', topic({ status: 'retired', resourceTrigger: [{ resource: 'Nonsense' }] })],
];
