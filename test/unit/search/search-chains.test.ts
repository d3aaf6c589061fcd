import { describe, expect, it } from 'vitest';

import { tables } from '../../../generated/tables.js';
import { isUnresolved, weightOf } from '../../../runtime/search/query/criterion.js';
import { checkName } from '../../../runtime/search/parse/parse-criterion.js';
import { parseSortKey } from '../../../runtime/search/parse/parse-sort.js';
import { searchDefinitions } from '../../../runtime/indexing/definitions.js';
import { splitLinkName } from '../../../runtime/search/parse/link-name.js';
import { resolveLinks } from '../../../runtime/search/parse/resolve-links.js';
import { usedBy } from '../../../runtime/search/parse/used-by.js';
import { contextOf, definitions, parse, printed, refusal } from './chain-parser.js';

describe('chains and reverse chains (search.html#chaining, #has)', () => {
  it.each([
    // Typed, and with one target: nothing is to be said of types.
    ['Observation?subject:Patient.name', 'x', 'subject -> Patient (name begins "x")'],
    ['Observation?patient.name', 'x', 'patient -> Patient (name begins "x")'],
    [
      'Observation?subject:Patient.organization.name',
      'x',
      'subject -> Patient (organization -> Organization (name begins "x"))',
    ],
    // Untyped: every target that has the parameter, each with its own kind of it.
    ['Observation?subject.gender', 'male', 'subject -> (Patient (gender = "male") or Practitioner (gender = "male"))'],
    [
      'Observation?subject.organization.partof.name',
      'x',
      'subject -> (Device (organization -> Organization (partof -> Organization (name begins "x"))) or Location (organization -> Organization (partof -> Organization (name begins "x"))) or Patient (organization -> Organization (partof -> Organization (name begins "x"))))',
    ],
    [
      'Observation?subject.gender:not',
      'male',
      'subject -> (Patient (not (gender = "male")) or Practitioner (not (gender = "male")))',
    ],
    ['Provenance?target:Patient.gender:missing', 'true', 'target -> Patient (not (gender is there))'],
    ['Observation?subject:Patient.name:exact', 'a,b', 'subject -> Patient (name (= "a" or = "b"))'],
    ['Observation?subject:Patient._id', '1', 'subject -> Patient (_id in ("1"))'],
    [
      'Observation?subject:Patient._lastUpdated',
      'gt2020-01-01T00:00:00Z',
      'subject -> Patient (_lastUpdated high > 2020-01-01T00:00:00.999Z)',
    ],
    [
      'Patient?_has:Observation:patient:code-value-quantity',
      '1234$5',
      'patient of Observation (code-value-quantity = "1234" $ low >= 4.5 & high < 5.5) -> this',
    ],
    // References at the end, whatever stands before them.
    [
      'Observation?subject:Patient.organization',
      'Organization/1',
      'subject -> Patient (organization -> Organization {"id":"1"})',
    ],
    [
      'Observation?subject.general-practitioner:Practitioner',
      '1',
      'subject -> Patient (general-practitioner -> Practitioner {"id":"1"})',
    ],
    [
      'Observation?subject:Patient.organization:identifier',
      'sys|1',
      'subject -> Patient (organization -> identifier "sys"|"1")',
    ],
    ['Observation?subject:identifier', 'sys|1', 'subject -> identifier "sys"|"1"'],
    ['Observation?subject:Patient.identifier', 'sys|1', 'subject -> Patient (identifier = "sys"|"1")'],
    [
      'Patient?_has:Observation:subject:performer:identifier',
      'sys|1',
      'subject of Observation (performer -> identifier "sys"|"1") -> this',
    ],
    // Canonicals.
    ['PlanDefinition?depends-on:Library.name', 'x', 'depends-on -> Library (name begins "x")'],
    ['QuestionnaireResponse?questionnaire.title', 'x', 'questionnaire -> Questionnaire (title begins "x")'],
    ['Patient?_profile.name', 'x', '_profile -> StructureDefinition (name begins "x")'],
    // Reverse, nested, mixed. The examples of the specification.
    ['Patient?_has:Observation:patient:code', '1234-5', 'patient of Observation (code = "1234-5") -> this'],
    [
      'Patient?_has:Observation:patient:_has:AuditEvent:entity:agent',
      'MyUserId',
      'patient of Observation (entity of AuditEvent (agent -> CareTeam|Device|Organization|Patient|Practitioner|PractitionerRole|RelatedPerson {"id":"MyUserId"}) -> this) -> this',
    ],
    ['Encounter?patient._has:Group:member:_id', '102', 'patient -> Patient (member of Group (_id in ("102")) -> this)'],
    [
      'Patient?_has:Encounter:patient:location.organization.name',
      'x',
      'patient of Encounter (location -> Location (organization -> Organization (name begins "x"))) -> this',
    ],
    [
      'Questionnaire?_has:QuestionnaireResponse:questionnaire:subject:Patient.name',
      'x',
      'questionnaire of QuestionnaireResponse (subject -> Patient (name begins "x")) -> this',
    ],
  ])('%s=%s', (target, value, condition) => {
    expect(printed(target, value)).toBe(condition);
  });

  it('are read by each type in its own way, and leave out those that do not take the value, or the modifier', () => {
    const device = 'Device (lot-number begins "a")';
    const immunization = 'Immunization (lot-number begins "a")';
    expect(printed('Provenance?target.lot-number', 'A')).toBe(
      `target -> (${device} or ${immunization} or Medication (lot-number = "a" in any case) or NutritionProduct (lot-number = "a" in any case))`,
    );
    expect(printed('Provenance?target.lot-number:contains', 'A')).toBe(
      `target -> (${device} or ${immunization})`.replaceAll('begins', 'contains'),
    );
    expect(printed('Provenance?target.start', '2020-13')).toBe('target -> GraphDefinition (start = "2020-13")');
  });
});

describe('definitions of a few types', () => {
  it('change nothing of what others with the same rows lead to', () => {
    const few = searchDefinitions({ search: tables.search, resourceTypes: ['Observation', 'Patient'] });
    const parts = splitLinkName('subject:Device.status', 8);
    expect(() => resolveLinks(parts, 'subject:Device.status', { type: 'Observation', definitions: few })).toThrow();
    expect(printed('Observation?subject:Device.status', 'active')).toBe('subject -> Device (status = "active")');
  });
});

describe('hierarchies at the end of links', () => {
  it('stand in the criterion, and are those of the type at the end', () => {
    const criterion = parse('Observation?subject:Patient.organization:below', 'Organization/1');
    expect(criterion).toEqual({
      param: 'subject',
      chain: [
        {
          type: 'Patient',
          where: {
            param: 'organization',
            hierarchies: [{ direction: 'below', type: 'Organization', by: 'partof', ids: ['1'] }],
          },
        },
      ],
    });
    expect(isUnresolved(criterion)).toBe(true);
    expect(isUnresolved(parse('Observation?subject:Patient.organization', 'Organization/1'))).toBe(false);
  });

  it('are followed within the type at the end', () => {
    // Of a CarePlan `part-of` leads up by itself.
    expect(parse('Patient?_has:CarePlan:patient:part-of:above', '1')).toMatchObject({
      has: { type: 'CarePlan', where: { hierarchies: [{ direction: 'above', type: 'CarePlan', by: 'part-of' }] } },
    });
    expect(isUnresolved(parse('Patient?_has:CarePlan:patient:part-of:above', '1'))).toBe(true);
  });
});

describe('what a name with links is refused for', () => {
  it.each([
    [
      'Observation?subject.nmae',
      'parameter-unknown',
      'None of the types that "Observation.subject" refers to (',
      'has a parameter "nmae"; did you mean "name"?',
    ],
    ['Observation?subject:Patient.nmae', 'parameter-unknown', 'Unknown parameter "Patient.nmae"; did you mean "name"?'],
    [
      'Observation?subject.organization.nmae',
      'parameter-unknown',
      'Unknown parameter "Organization.nmae"; did you mean "name"?',
    ],
    [
      'Observation?subject.organisation.name',
      'parameter-unknown',
      'has a reference "organisation"; did you mean "organization"?',
    ],
    ['Observation?subjct.name', 'parameter-unknown', 'Unknown parameter "Observation.subjct"; did you mean "subject"?'],
    [
      'Observation?Subject.name',
      'parameter-unknown',
      'Unknown parameter "Observation.Subject"; did you mean "subject"?',
    ],
    ['Observation?subject.Name', 'parameter-unknown', 'did you mean "name"?'],
    [
      'Observation?code.x',
      'parameter-unknown',
      '"Observation.code" is of type token, and only references lead on to other parameters: ',
    ],
    [
      'Patient?name.given',
      'parameter-unknown',
      '"Patient.name" is of type string',
      'general-practitioner, link, organization',
    ],
    [
      'Observation?subject:Foo.name',
      'modifier-unknown',
      'leads on with a resource type behind its colon (',
      'Patient',
      'not with "Foo"',
    ],
    ['Observation?subject:below.name', 'modifier-unknown', 'not with "below"'],
    [
      'Observation?subject:Encounter.name',
      'parameter-invalid',
      '"Observation.subject" never refers to Encounter, but to',
    ],
    [
      'Observation?subject:identifier.name',
      'modifier-unknown',
      'say subject:identifier=system|value for that, or subject.identifier=system|value for',
    ],
    ['Observation?subject:Patient:Group.name', 'parameter-invalid', 'has no reference before a dot'],
    ['Observation?subject.', 'parameter-invalid', 'ends without a parameter'],
    ['Observation?.name', 'parameter-invalid', 'has no reference before a dot'],
    ['Observation?subject..name', 'parameter-invalid', 'has no reference before a dot'],
    ['Observation?subject:.name', 'parameter-invalid', 'has no reference before a dot'],
    ['Observation?subject.:exact', 'parameter-invalid', 'ends without a parameter'],
    [
      'Observation?subject:Patient.name:foo',
      'modifier-unknown',
      'The parameter "Patient.name:foo" is of type string and takes :missing, :exact, :contains',
    ],
    [
      'Observation?subject:Patient._filter',
      'parameter-unknown',
      'The parameter "_filter" is asked of the type that is searched',
    ],
    ['Observation?subject._type', 'parameter-unknown', 'belongs to searches of the whole system'],
    ['Observation?_include.name', 'parameter-unknown', 'says what comes with the matches'],
    ['Encounter?location.near.name', 'parameter-unknown', 'is of type special, and only references lead on'],
    ['Patient?_has', 'parameter-invalid', 'lacks a part of its _has: it is written _has:Type:reference:parameter'],
    ['Patient?_has:', 'parameter-invalid', 'lacks a part of its _has'],
    ['Patient?_has:Observation', 'parameter-invalid', 'lacks a part of its _has'],
    ['Patient?_has:Observation:patient', 'parameter-invalid', 'lacks a part of its _has'],
    ['Patient?_has:Observation:patient:', 'parameter-invalid', 'lacks a part of its _has'],
    ['Patient?_has:Observation:patient:_has', 'parameter-invalid', 'lacks a part of its _has'],
    [
      'Patient?_has:Observation:patient.x:code',
      'parameter-invalid',
      'has the chain "patient.x" where its _has names a type and a reference',
    ],
    [
      'Patient?_has:Observatoin:patient:code',
      'parameter-unknown',
      '_has asks for the unknown resource type "Observatoin"; did you mean "Observation"?',
    ],
    [
      'Patient?_has:Observation:patint:code',
      'parameter-unknown',
      'Unknown parameter "Observation.patint" in _has: it has to refer to Patient; focus, patient, performer, subject of Observation may',
    ],
    [
      'Patient?_has:Observation:code:code',
      'parameter-unknown',
      '"Observation.code" in _has is of type token: it has to refer to Patient; focus',
    ],
    [
      'Patient?_has:Observation:device:code',
      'parameter-invalid',
      '"Observation.device" in _has never refers to Patient; focus',
    ],
    [
      'Patient?_has:Observation:patient:coed',
      'parameter-unknown',
      'Unknown parameter "Observation.coed"; did you mean "code"?',
    ],
    ['Observation?subject._has:Schedule:actor:nmae', 'parameter-unknown', 'Unknown parameter "Schedule.nmae"'],
    [
      'Observation?encounter._has:Group:member:_id',
      'parameter-invalid',
      '"Group.member" in _has never refers to Encounter',
    ],
    [
      'Observation?subject._has:Slot:schedule:_id',
      'parameter-unknown',
      'None of the types that "Observation.subject" refers to (',
      'is referred to by "Slot.schedule"',
    ],
  ])('%s: %s', (target, code, ...texts) => {
    const message = refusal(target, 'x');
    expect(message).toMatch(new RegExp(`^400 ${code}: `));
    for (const text of texts) expect(message).toContain(text);
    expect(message.length).toBeLessThan(700);
    const [type = '', name = ''] = target.split('?');
    // Without a value it is the same, but for modifiers at the end.
    if (!/:foo$/.test(name)) expect(() => checkName(name, contextOf(type))).toThrow(message.replace(/^.*?: /s, ''));
  });

  it('a value that no type takes: what the first of them says of it', () => {
    expect(refusal('Observation?subject.birthdate', 'soon')).toBe(
      '400 parameter-invalid: The parameter "Patient.birthdate" is no date: YYYY, YYYY-MM, YYYY-MM-DD, or that with ' +
        'Thh:mm[:ss[.fff]] and Z or +hh:mm; it has "soon"',
    );
    expect(refusal('Observation?subject:Patient.birthdate', 'xx2000')).toMatch(
      /^400 prefix-unknown: .*"Patient.birthdate"/,
    );
    expect(refusal('Observation?subject:Patient.name', '')).toBe(
      '400 parameter-invalid: The parameter "Patient.name" has no value',
    );
  });

  it('long names are quoted in part', () => {
    const long = 'x'.repeat(5000);
    for (const name of [
      `${long}.name`,
      `subject.${long}`,
      `subject:${long}.name`,
      `_has:${long}:a:b`,
      `_has:Observation:${long}:b`,
      `_has:Observation:${long}.x:b`,
    ]) {
      expect(refusal(`Patient?${name}`, 'x').length).toBeLessThan(1000);
    }
  });

  it('where the type that is searched is not known', () => {
    const none = { links: undefined } as never;
    for (const name of ['subject.name', '_has:Observation:patient:code']) {
      expect(refusal(`Observation?${name}`, 'x', none)).toMatch(/^400 parameter-unknown: .*only a search of one type/);
    }
  });

  it('as an order, with a reason', () => {
    for (const key of ['subject.name', '-subject:Patient.name', '_has:Observation:patient:code']) {
      expect(() => parseSortKey(key, definitions.rowsOf('Observation'))).toThrow(
        /_sort cannot go by .*only what the searched type itself says/,
      );
    }
  });
});

describe('the parameters that a criterion uses', () => {
  const used = (target: string, value: string): string[] => {
    const [type = ''] = target.split('?');
    return usedBy(type, parse(target, value), definitions).map((each) => `${each.type}.${each.code}`);
  };

  it.each([
    ['Patient?name', 'x', ['Patient.name']],
    ['Patient?_id', 'x', []],
    ['Patient?name:missing', 'true', ['Patient.name']],
    ['Patient?gender:not', 'male', ['Patient.gender']],
    [
      'Observation?patient.organization.name',
      'x',
      ['Observation.patient', 'Patient.organization', 'Organization.name'],
    ],
    ['Patient?_has:Observation:patient:_has:AuditEvent:entity:_id', 'x', ['Observation.patient', 'AuditEvent.entity']],
    // What has a canonical is found by it.
    [
      'QuestionnaireResponse?questionnaire.title',
      'x',
      ['QuestionnaireResponse.questionnaire', 'Questionnaire.url', 'Questionnaire.version', 'Questionnaire.title'],
    ],
    [
      'Questionnaire?_has:QuestionnaireResponse:questionnaire:_id',
      'x',
      ['QuestionnaireResponse.questionnaire', 'Questionnaire.url', 'Questionnaire.version'],
    ],
    // By type and id: its `url` decides nothing.
    ['Provenance?target:Questionnaire.title', 'x', ['Provenance.target', 'Questionnaire.title']],
    [
      'Observation?patient.organization:below',
      'Organization/1',
      ['Observation.patient', 'Patient.organization', 'Organization.partof'],
    ],
  ])('%s', (target, value, names) => {
    expect(used(target, value)).toEqual(names);
  });

  it('are named as the index record has them', () => {
    const [first] = usedBy('Observation', parse('Observation?patient._tag', 'x'), definitions).slice(-1);
    expect(definitions.recordName(first!.type, first!.code)).toBe('Resource._tag');
  });
});

describe('the weight of a criterion', () => {
  it('counts tests, and types on the way', () => {
    expect(weightOf(parse('Patient?name', 'a,b,c'))).toBe(3);
    expect(weightOf(parse('Patient?_id', 'a,b'))).toBe(2);
    expect(weightOf(parse('Observation?patient.organization.name', 'a,b'))).toBe(4);
    expect(weightOf(parse('Observation?subject.gender', 'a,b,c'))).toBe(8);
    expect(weightOf(parse('Observation?patient.organization:below', 'Organization/1'))).toBe(2);
  });
});
