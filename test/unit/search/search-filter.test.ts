import { describe, expect, it } from 'vitest';

import { weightOf } from '../../../runtime/search/query/criterion.js';
import { usedBy } from '../../../runtime/search/parse/used-by.js';
import { contextOf, definitions, parse, printed, refusal } from './chain-parser.js';

const filter = (type: string, text: string): string => printed(`${type}?_filter`, text);
const refused = (type: string, text: string): string => refusal(`${type}?_filter`, text);

describe('filters (search_filter.html)', () => {
  it.each([
    // The examples of the specification that R5 has the parameters of.
    ['Patient', 'name co "pet"', 'name contains "pet"'],
    [
      'Patient',
      'given eq "peter" and birthdate ge 2014-10-10',
      '(given >= "peter" & <= "peter") and (birthdate (high > 2014-10-10T23:59:59.999Z or low >= 2014-10-10T00:00:00.000Z & high <= 2014-10-10T23:59:59.999Z))',
    ],
    ['Observation', 'code eq http://loinc.org|1234-5', 'code = "http://loinc.org"|"1234-5"'],
    ['Observation', 'code eq loinc|1234-5', 'code = "http://loinc.org"|"1234-5"'],
    ['Observation', 'patient.name co "pet"', 'patient -> Patient (name contains "pet")'],
    [
      'Patient',
      'given eq "peter" and _has:Observation:patient:code eq http://loinc.org|1234-5',
      '(given >= "peter" & <= "peter") and (patient of Observation (code = "http://loinc.org"|"1234-5") -> this)',
    ],
    ['Observation', 'code-value-quantity eq 1$ge150', 'code-value-quantity = "1" $ high >= 150'],
    // Neither word binds tighter.
    [
      'Patient',
      'active eq true or name sw a and gender pr true',
      '((active = "true" in any case) or (name begins "a")) and (gender is there)',
    ],
    [
      'Patient',
      'active eq true or (name sw a and gender pr true)',
      '(active = "true" in any case) or ((name begins "a") and (gender is there))',
    ],
    [
      'Patient',
      'name sw a and name ew b and name co c',
      '(name begins "a") and (name ends "b") and (name contains "c")',
    ],
    ['Patient', 'not (name sw a) and not(not (name ew b))', '(not (name begins "a")) and (not (not (name ends "b")))'],
    ['Patient', '((name sw a))', 'name begins "a"'],
    [
      'Patient',
      'NOT (name SW a) AND (name sw b Or name sw c)',
      '(not (name begins "a")) and ((name begins "b") or (name begins "c"))',
    ],
    // Values.
    ['Patient', 'name eq "a b)\\" c]"', 'name >= "a b c" & <= "a b c"'],
    ['Patient', 'name eq a(b[c', 'name >= "abc" & <= "abc"'],
    ['Patient', '(name eq and)', 'name >= "and" & <= "and"'],
    ['Patient', 'name eq a,b', 'name >= "ab" & <= "ab"'],
    ['Patient', '  name\teq\n"\\u0041" ', 'name >= "a" & <= "a"'],
    ['Patient', 'identifier eq "urn:s|a\\\\|b"', 'identifier = "urn:s"|"a|b" in any case'],
    ['Patient', 'identifier ne |X', 'identifier != no system|"x" in any case'],
    ['Patient', 'identifier eq urn:s|', 'identifier = "urn:s"|*'],
    // Each type of parameter.
    ['Patient', 'name ne x', 'name (< "x" or > "x")'],
    ['Patient', 'name gt m and name le n', '(name > "m") and (name <= "n")'],
    ['Patient', 'birthdate po 2020', 'birthdate low <= 2020-12-31T23:59:59.999Z & high >= 2020-01-01T00:00:00.000Z'],
    ['Encounter', 'date co 2020', 'date low <= 2020-01-01T00:00:00.000Z & high >= 2020-12-31T23:59:59.999Z'],
    [
      'Patient',
      'birthdate sa 2020 or birthdate eb 2019',
      '(birthdate low > 2020-12-31T23:59:59.999Z) or (birthdate high < 2019-01-01T00:00:00.000Z)',
    ],
    ['RiskAssessment', 'probability gt 0.8', 'probability high > 0.8'],
    ['Observation', 'value-quantity ge 5.4|ucum|mg', 'value-quantity high >= 0.0054 canonical "g"'],
    ['Observation', 'subject re Patient/1', 'subject -> Patient {"id":"1"}'],
    ['Observation', 'patient re 1', 'patient -> Patient {"id":"1"}'],
    ['ValueSet', 'url eq http://x/y', 'url = "http://x/y"'],
    ['Patient', '_id eq a', '_id in ("a")'],
    ['Patient', '_id ne a', 'not (_id in ("a"))'],
    ['Patient', '_lastUpdated gt 2020-01-01T00:00:00Z', '_lastUpdated high > 2020-01-01T00:00:00.999Z'],
    ['Patient', '_tag eq urn:t|A', '_tag = "urn:t"|"a" in any case'],
    ['Patient', 'gender pr false', 'not (gender is there)'],
    // Links, and filters of them.
    [
      'Observation',
      'subject.gender eq male',
      'subject -> (Patient (gender = "male" in any case) or Practitioner (gender = "male" in any case))',
    ],
    [
      'Observation',
      'patient[active eq true].name sw a',
      'patient -> Patient ((active = "true" in any case) and (name begins "a"))',
    ],
    [
      'Observation',
      'patient.organization[name sw a or partof[active eq true].name sw b].name ew c',
      'patient -> Patient (organization -> Organization (((name begins "a") or (partof -> Organization ((active = "true" in any case) and (name begins "b")))) and (name ends "c")))',
    ],
    [
      'Observation',
      'subject[gender eq male]._id eq 1',
      'subject -> (Patient ((gender = "male" in any case) and (_id in ("1"))) or Practitioner ((gender = "male" in any case) and (_id in ("1"))))',
    ],
    ['Patient', '_has:Observation:patient:performer[_id eq 1]._id eq 1', undefined],
  ])('%s?_filter=%s', (type, text, expected) => {
    if (expected !== undefined) expect(filter(type, text)).toBe(expected);
    else expect(filter(type, text)).toMatch(/^patient of Observation \(performer -> \(.*\)\) -> this$/);
  });

  it.each([
    [
      'Patient',
      'name',
      'The filter lacks an operator (eq, ne, co, sw, ew, gt, lt, ge, le, ap, sa, eb, pr, po, ss, sb, in, ni, re) after "name", at its end',
    ],
    ['Patient', 'name is x', 'before "is x"'],
    ['Patient', 'name eq', 'The filter lacks a value after "eq", at its end'],
    ['Patient', '(name eq )', 'The filter lacks a value after "eq", before ")"'],
    ['Patient', 'name eq ""', 'The filter has nothing to compare "name" with'],
    ['Patient', 'name eq "x', 'The filter lacks the end of a string as JSON writes it'],
    ['Patient', 'name eq "\\x"', 'The filter lacks the end of a string as JSON writes it'],
    ['Patient', 'name eq x y', 'The filter lacks "and" or "or", before "y"'],
    ['Patient', 'name eq x and', 'The filter lacks the name of a parameter, at its end'],
    ['Patient', '(name eq x', 'The filter lacks ")" that closes a bracket, at its end'],
    ['Patient', 'name eq x)', 'The filter lacks "and" or "or", before ")"'],
    ['Patient', 'not name eq x', 'The filter lacks "(" after not, before "name eq x"'],
    ['Patient', '   ', 'The filter lacks the name of a parameter, at its end'],
    ['Patient', 'nmae eq x', 'Unknown parameter "nmae"; did you mean "name"? valid here: _id, _language'],
    [
      'Patient',
      'name:exact eq x',
      'The filter has the modifier ":exact"; here operators stand for modifiers and prefixes',
    ],
    ['Patient', 'gender co m', '"gender" is of type token and does not take co, but eq, ne, in, ni, ss, sb, pr'],
    [
      'RiskAssessment',
      'probability co 1',
      'does not take co (of numbers the value alone is kept, not how precise it was; compare with ge and lt)',
    ],
    [
      'Observation',
      'code-value-quantity co 1$2',
      '"code-value-quantity" is of type composite and does not take co, but eq, pr',
    ],
    ['Observation', 'code-value-quantity eq 1', 'has 2 parts, code$value-quantity, and not 1'],
    ['Patient', 'birthdate gt abc', 'is no date'],
    ['Patient', 'birthdate eq gt2020', 'begins with a digit or a sign; the operator says how it is compared'],
    ['Patient', 'birthdate eq 2020-13', 'The parameter "birthdate" is no date'],
    ['Patient', 'birthdate po never', 'The parameter "birthdate" is no date'],
    ['Patient', 'gender pr maybe', 'is true or false, not "maybe"'],
    ['Patient', 'name eq "\\u0301"', 'has nothing to compare: letters or digits are needed'],
    ['Patient', '_filter eq x', 'The parameter "_filter" is asked of the type that is searched'],
    [
      'Patient',
      '_sort eq name',
      'The parameter "_sort" is about the whole answer, and no criterion: it is a parameter by itself',
    ],
    ['Patient', 'name[x eq y].z eq 1', '"Patient.name" is of type string, and only references lead on'],
    ['Observation', 'patient[name eq x] eq 1', 'The filter lacks "." and a parameter after "patient[…]"'],
    ['Observation', 'patient[name eq x]name eq 1', 'The filter lacks "." and a parameter after "]"'],
    ['Observation', 'patient[nmae eq x].name eq 1', 'Unknown parameter "nmae"'],
    [
      'Observation',
      '_has:Group:member[name eq x].name eq 1',
      'The filter has "[" after "_has:Group:member": what refers here is filtered by a filter of its own',
    ],
    [
      'Group',
      'characteristic[code eq x].value eq y',
      '"Group.characteristic" is of type token, and only references lead on',
    ],
    ['Patient', 'organization.organization.name eq x', 'Unknown parameter "Organization.organization"'],
    ['Organization', `${'partof.'.repeat(9)}name eq x`, 'goes over more than 8 links'],
    ['Organization', `${'partof[name eq x].'.repeat(9)}name eq x`, 'goes over more than'],
    ['Organization', `${'partof['.repeat(9)}name eq x${'].name eq x'.repeat(9)}`, 'goes over more than'],
    ['Organization', `partof.partof[${'partof.'.repeat(7)}name eq x].name eq x`, 'goes over more than'],
    // What may be any type multiplies with each bracket: found before it takes long, although most of it would be left out.
    [
      'Patient',
      `${'_has:List:item:item['.repeat(4)}_tag eq x${']._tag eq x'.repeat(4)}`,
      'The filter compares in more than 4000 combinations of types',
    ],
    ['Patient', `name eq x${' and name eq x or name eq x'.repeat(26)}`, 'more than 50 of "and", "or" and "not"'],
    ['Patient', 'name sw "a\\ud83d"', 'The filter lacks the end of a string as JSON writes it'],
    [
      'Patient',
      `${'('.repeat(21)}name eq x${')'.repeat(21)}`,
      'The filter has more than 20 brackets within each other',
    ],
    ['Patient', `${'(name eq x) and '.repeat(100)}name eq x`, 'The filter has more than 100 comparisons'],
    ['Patient', `name eq "${'x'.repeat(33_000)}"`, 'The filter is longer than 32768 characters'],
  ])('%s?_filter=%s is refused', (type, text, message) => {
    expect(refused(type, text)).toContain('400 parameter-invalid: In _filter: ');
    expect(refused(type, text)).toContain(message);
  });

  it('takes links before and within brackets, and conditions around each other, up to the limit', () => {
    const brackets = `partof.partof[${'partof.'.repeat(6)}name eq x].name eq x`;
    expect(filter('Organization', brackets).match(/partof ->/g)).toHaveLength(8);
    const changes = `name eq x${' and name eq x or name eq x'.repeat(25)}`;
    expect(filter('Patient', changes).match(/name >=/g)).toHaveLength(51);
  });

  it('over several types does not lead on', () => {
    const context = contextOf('Patient', { links: undefined as never });
    expect(refusal('Patient?_filter', 'organization.name eq x', context)).toContain(
      '"organization.name" leads to other resources',
    );
    expect(refusal('Patient?_filter', '_lastUpdated gt 2020', context)).toBe('it is taken');
  });

  it('counts, and is told apart, by all that stands in it', () => {
    const criterion = parse('Observation?_filter', 'patient[active eq true].name sw a or not (code pr true)');
    expect(weightOf(criterion)).toBe(4);
    expect(usedBy('Observation', criterion, definitions)).toEqual([
      { type: 'Observation', code: 'patient' },
      { type: 'Patient', code: 'active' },
      { type: 'Patient', code: 'name' },
      { type: 'Observation', code: 'code' },
    ]);
  });

  it('is decided by the parameters of a composite, too, by which stores may find it', () => {
    const used = (text: string) => usedBy('Observation', parse('Observation?_filter', text), definitions).map(({ code }) => code); // prettier-ignore
    expect(used('code-value-quantity eq 8480-6$140')).toEqual(['code-value-quantity', 'code', 'value-quantity']);
    // One that is a union of others by these.
    expect(used('combo-code-value-quantity pr true')).toEqual([
      ...['code-value-quantity', 'code', 'value-quantity'],
      ...['component-code-value-quantity', 'component-code', 'component-value-quantity'],
    ]);
    expect(used('code-value-string pr true')).toEqual(['code-value-string']);
  });
});
