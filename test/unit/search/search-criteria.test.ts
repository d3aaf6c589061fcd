import { describe, expect, it } from 'vitest';

import { OwnBases } from '../../../runtime/path/own-bases.js';
import { tables } from '../../../generated/tables.js';
import { createExtractor } from '../../../runtime/indexing/extract.js';
import { parametersOf } from '../../../runtime/indexing/parameters-of.js';
import { matches } from '../../../runtime/search/query/match.js';
import { parseCriterion } from '../../../runtime/search/parse/parse-criterion.js';
import { utc } from '../../../runtime/indexing/values/zone.js';

const extract = createExtractor(tables, { own: new OwnBases(['http://here/fhir']) });
const searchTables = new Map(tables.search.map((table) => [table.type, table]));
const types = new Set(tables.resourceTypes);
const NOW = Date.parse('2020-01-01T00:00:00Z');

type Json = Record<string, unknown>;

function parse(type: string, name: string, value: string) {
  return parseCriterion(name, value, {
    rows: parametersOf(type, searchTables),
    isResourceType: (word) => types.has(word),
    zone: utc,
    now: NOW,
    own: new OwnBases(['http://here/fhir']),
    maxAlternatives: 3,
  });
}

function found(resource: Json, name: string, value: string, lastUpdated = NOW): boolean {
  const type = String(resource['resourceType']);
  const candidate = { id: String(resource['id']), lastUpdated, entries: extract(resource) };
  return matches(parse(type, name, value), candidate);
}

const patient = (more: Json) => ({ resourceType: 'Patient', id: 'p', ...more });
const observation = (more: Json) => ({ resourceType: 'Observation', id: 'o', ...more });

/** Resource, criteria that find it, criteria that do not. */
type Case = readonly [what: string, resource: Json, yes: readonly string[], no: readonly string[]];

const CASES: readonly Case[] = [
  [
    'strings: begin, whatever case and accents',
    patient({ name: [{ family: 'Évesque, the', given: ['Peter', 'James'] }] }),
    ['family=eve', 'family=ÉVES', 'given=pet,x', 'name=james', 'family:contains=SQUE', 'family:exact=Évesque\\, the'],
    ['family=vesque', 'given=ter', 'family:exact=évesque\\, the', 'given:exact=Pete', 'family:contains=evesqe'],
  ],
  [
    'tokens: a mere string in either case, identifiers in their own',
    { resourceType: 'Medication', id: 'm', batch: { lotNumber: 'Lot-7É' }, identifier: [{ value: 'Ab' }] },
    ['lot-number=lot-7É', 'lot-number=LOT-7É', 'lot-number=|lot-7É', 'lot-number:not=lot-7', 'identifier=Ab'],
    ['lot-number=lot-7', 'lot-number:not=LOT-7É', 'lot-number=urn:s|Lot-7É', 'identifier=ab'],
  ],
  [
    'tokens: a mere string as part of a composite',
    { resourceType: 'StructureDefinition', id: 's', context: [{ type: 'element', expression: 'Patient.name' }] },
    ['ext-context=element$patient.NAME'],
    ['ext-context=ELEMENT$Patient.name', 'ext-context=element$patient'],
  ],
  [
    'tokens: system and code',
    patient({ identifier: [{ system: 'urn:a', value: '1|2' }, { value: 'x' }], gender: 'male', active: true }),
    [
      'identifier=1\\|2',
      'identifier=urn:a|1\\|2',
      'identifier=urn:a|',
      'identifier=|x',
      'active=true',
      'gender:not=female',
    ],
    [
      'identifier=urn:b|1\\|2',
      'identifier=urn:b|',
      'identifier=|1\\|2',
      'gender:not=female,male',
      'gender=Male',
      'active=false',
    ],
  ],
  [
    'tokens: missing, of-type, code-text',
    patient({
      identifier: [{ type: { coding: [{ system: 'urn:t', code: 'MR' }] }, value: '12' }],
      maritalStatus: { coding: [{ system: 'urn:m', code: 'M' }] },
    }),
    ['identifier:of-type=urn:t|MR|12', 'gender:missing=true', 'identifier:missing=false', 'identifier:not=13'],
    ['identifier:of-type=urn:t|MR|13', 'identifier:of-type=urn:t|SS|12', 'gender:missing=false', 'gender=male'],
  ],
  [
    'dates: a day',
    patient({ birthDate: '2013-01-14' }),
    [
      'birthdate=2013-01-14',
      'birthdate=2013-01',
      'birthdate=eq2013',
      'birthdate=ne2013-01-15',
      'birthdate=lt2013-01-15',
    ],
    ['birthdate=2013-01-14T00:00Z', 'birthdate=ne2013-01-14', 'birthdate=gt2013-01-14', 'birthdate=sa2013-01-14'],
  ],
  [
    'dates: a day and times within it (the table of the specification)',
    patient({ birthDate: '2013-01-14' }),
    [
      'birthdate=lt2013-01-14T10:00Z',
      'birthdate=gt2013-01-14T10:00Z',
      'birthdate=ge2013-01-14',
      'birthdate=le2013-01-14',
      'birthdate=sa2013-01-13',
      'birthdate=eb2013-01-15',
      'birthdate=ap2013-02-01',
    ],
    ['birthdate=eb2013-01-14', 'birthdate=ge2013-01-15', 'birthdate=le2013-01-13', 'birthdate=ap2010-01-01'],
  ],
  [
    'dates: a period that is open, and offsets',
    { resourceType: 'Encounter', id: 'e', actualPeriod: { start: '2013-01-21T10:00:00+02:00' } },
    [
      'date=gt2013-03-14',
      'date=ge2013-03-14',
      'date=le2013-01-21T08:00:01Z',
      'date=lt2013-03-14',
      'date=ne2013',
      'date=sa2013-01-21T09:59:59+02:00',
    ],
    ['date=2013-01', 'date=sa2013-01-21T08:00:00Z', 'date=eb2099'],
  ],
  [
    'numbers: by the precision of what is asked',
    { resourceType: 'RiskAssessment', id: 'r', prediction: [{ probabilityDecimal: 100 }] },
    [
      'probability=100',
      'probability=1e2',
      'probability=100.00',
      'probability=gt99.9',
      'probability=ge100',
      'probability=ap95',
      'probability=ne99',
    ],
    [
      'probability=101',
      'probability=100.6',
      'probability=99.6',
      'probability=gt100',
      'probability=lt100',
      'probability=ne100',
      'probability=ap50',
    ],
  ],
  [
    'quantities: with and without unit',
    observation({ valueQuantity: { value: 5.4, unit: 'mg', system: 'http://unitsofmeasure.org', code: 'mg' } }),
    [
      'value-quantity=5.4|http://unitsofmeasure.org|mg',
      'value-quantity=5.4||mg',
      'value-quantity=5.40',
      'value-quantity=le5.4|http://unitsofmeasure.org|mg',
      'value-quantity=gt5',
      'value-quantity=ap5.5||mg',
    ],
    [
      'value-quantity=5.4||g',
      'value-quantity=5.4|urn:x|mg',
      'value-quantity=gt5.4',
      'value-quantity=5.5||mg',
      'value-quantity=lt5.4',
    ],
  ],
  [
    'references: id, type, address, version',
    observation({
      subject: { reference: 'Patient/23' },
      performer: [{ reference: 'http://there/fhir/Practitioner/7' }],
    }),
    [
      'subject=Patient/23',
      'subject=23',
      'subject:Patient=23',
      'patient=23',
      'subject=http://here/fhir/Patient/23',
      'performer=http://there/fhir/Practitioner/7',
      'subject:missing=false',
    ],
    [
      'subject=Group/23',
      'subject:Group=23',
      'subject=24',
      'performer=7',
      'performer=Practitioner/7',
      'subject=http://there/fhir/Patient/23',
    ],
  ],
  [
    'references: identifiers, canonicals',
    {
      resourceType: 'QuestionnaireResponse',
      id: 'q',
      questionnaire: 'http://x/q|1.0#item',
      subject: { identifier: { system: 'urn:s', value: '1' } },
    },
    [
      'questionnaire=http://x/q',
      'questionnaire=http://x/q|1.0',
      'questionnaire=http://x/q|1.0#item',
      'questionnaire=http://x/q#item',
      'questionnaire=http://x/q|#item',
      'subject:identifier=urn:s|1',
      'subject:identifier=1',
    ],
    [
      'questionnaire=http://x/q|1.0#other',
      'questionnaire=http://x/q|2.0#item',
      'questionnaire=http://x/q|2.0',
      'questionnaire=http://x/',
      'subject:identifier=|1',
      'subject:identifier=urn:s|2',
      'subject=1',
    ],
  ],
  [
    'URIs: exact, below, above',
    { resourceType: 'ValueSet', id: 'v', url: 'http://acme.org/fhir/ValueSet/123' },
    [
      'url=http://acme.org/fhir/ValueSet/123',
      'url:below=http://acme.org/fhir',
      'url:below=http://acme.org/fhir/',
      'url:above=http://acme.org/fhir/ValueSet/123/_history/5',
      'url:not=http://acme.org/fhir',
    ],
    [
      'url=http://acme.org/fhir/ValueSet/1234',
      'url=HTTP://acme.org/fhir/ValueSet/123',
      'url:below=http://acme.org/fh',
      'url:above=http://acme.org/fhir/ValueSet/1234',
    ],
  ],
  [
    'composites: both parts of one element',
    observation({
      component: [
        { code: { coding: [{ system: 'urn:c', code: 'a' }] }, valueQuantity: { value: 1 } },
        { code: { coding: [{ system: 'urn:c', code: 'b' }] }, valueQuantity: { value: 2 } },
      ],
    }),
    [
      'component-code-value-quantity=urn:c|a$1',
      'component-code-value-quantity=a$lt1.5,b$9',
      'component-code-value-quantity:missing=false',
    ],
    ['component-code-value-quantity=a$2', 'component-code-value-quantity=b$1,a$2'],
  ],
  [
    'what every resource has',
    patient({
      meta: { tag: [{ system: 'urn:t', code: 'x' }], profile: ['http://p|1'], source: 'http://s' },
      language: 'de',
    }),
    [
      '_id=p',
      '_id=a,p',
      '_tag=urn:t|x',
      '_profile=http://p',
      '_source=http://s',
      '_language=de',
      '_lastUpdated=2020-01-01',
      '_lastUpdated=ge2020',
      '_id:missing=false',
    ],
    ['_id=P', '_id:not=p', '_tag=y', '_profile=http://p|2', '_lastUpdated=gt2020-01-01', '_lastUpdated:missing=true'],
  ],
];

describe('criteria of a search (search.html)', () => {
  it.each(CASES)('%s', (_, resource, yes, no) => {
    const split = (criterion: string): [string, string] => {
      const at = criterion.indexOf('=');
      return [criterion.slice(0, at), criterion.slice(at + 1)];
    };
    expect(yes.filter((criterion) => !found(resource, ...split(criterion)))).toEqual([]);
    expect(no.filter((criterion) => found(resource, ...split(criterion)))).toEqual([]);
  });

  it.each([
    ['nmae', 'x', 'Unknown parameter "nmae"; did you mean "name"? valid here: _'],
    // Only where the type that is searched is known: `search-chains.test.ts`.
    ['name.given', 'x', 'The parameter "name.given" leads to other resources, which only a search of one type does'],
    ['name', '', 'The parameter "name" has no value'],
    ['name', 'a,,b', 'has an empty value between its commas'],
    ['name', 'a,b,c,d', 'has 4 values, and may have 3'],
    ['name', '´', 'has nothing to compare'],
    ['name:exactly', 'x', 'is of type string and takes :missing, :exact, :contains, not :exactly'],
    ['gender:in', 'x', 'takes no :in: codes are looked up in searches of one type alone'],
    ['name:missing', 'yes', 'is true or false, not "yes"'],
    ['birthdate', '2013-02-30', 'is no date'],
    ['birthdate', 'xx2013', 'takes the prefixes eq, ne, gt, lt, ge, le, sa, eb, ap, not "xx"'],
    ['identifier', '|', 'has neither a system nor a code'],
    ['identifier', 'a|b|c', 'is a code, or system|code'],
    ['identifier:of-type', 'a|b', 'is system|code|value'],
    ['general-practitioner:Patient', '1', 'never refers to Patient, but to'],
    ['_query', 'x', 'names a query that a server has, and there are none here'],
    ['_has:Observation:patient:code', 'x', 'leads to other resources'],
    ['_include', 'x', 'The parameter "_include" says what comes with the matches, and is no criterion of them'],
    ['_type', 'Patient', 'The parameter "_type" belongs to searches of the whole system'],
    ['_id:code-text', 'x', 'takes :missing, :not, not :code-text'],
  ])('%s=%s is refused with a reason', (name, value, message) => {
    expect(() => parse('Patient', name, value)).toThrow(message);
  });

  it.each([
    ['value-quantity', '1|2', 'number|system|code'],
    ['value-quantity', 'x', 'is no number'],
    ['code-value-quantity', 'a', 'has 2 parts, code$value-quantity, and not 1'],
    ['code-value-quantity', 'a$', 'has no value for its part value-quantity'],
    ['code-value-quantity:not', 'a$1', 'is of type composite and takes :missing, not :not'],
  ])('%s=%s of an Observation is refused with a reason', (name, value, message) => {
    expect(() => parse('Observation', name, value)).toThrow(message);
  });
});
