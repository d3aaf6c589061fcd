import type { TerminologyCase } from './terminology-cases.js';
import { CS, LOOSE, OTHER, UNKNOWN } from './terminology-cases-data.js';

const at = (operation: string) => (title: string, query: string, gives: object): TerminologyCase => ({ title: `${operation}: ${title}`, path: `/CodeSystem/$${operation}?${query}`, gives: gives as TerminologyCase['gives'] }); // prettier-ignore
const on = (operation: string) => (title: string, query: string, gives: object): TerminologyCase => ({ title: `${operation} at an instance: ${title}`, path: `/CodeSystem/cs-2/$${operation}?${query}`, gives: gives as TerminologyCase['gives'] }); // prettier-ignore
const posted = (operation: string, title: string, post: readonly object[], gives: object): TerminologyCase => ({ title: `${operation}: ${title}`, path: `/CodeSystem/$${operation}`, post, gives: gives as TerminologyCase['gives'] }); // prettier-ignore
const [lookup, check, subsumes] = [at('lookup'), at('validate-code'), at('subsumes')];
const SYSTEM = `system=${CS}`;
const URL = `url=${CS}`;
const pair = (a: string, b: string): string => `${SYSTEM}&codeA=${a}&codeB=${b}`;
const coding = (name: string, code: string, system = CS) => ({ name, valueCoding: { system, code } });

export const CODE_SYSTEM_CASES: readonly TerminologyCase[] = [
  lookup('name, version and display', `${SYSTEM}&code=b`, { status: 200, name: 'Cases', version: '2', display: 'Beta', abstract: false }), // prettier-ignore
  lookup('an abstract concept with its definition', `${SYSTEM}&code=a`, { abstract: true, definition: 'The first' }),
  lookup('a version', `${SYSTEM}&code=b&version=1`, { version: '1', display: 'Beta' }),
  lookup('a code that a version lacks', `${SYSTEM}&code=g&version=1`, { status: 404 }),
  lookup('a version that is not there', `${SYSTEM}&code=b&version=9`, { status: 404 }),
  lookup('an unknown code', `${SYSTEM}&code=nope`, { status: 404, issue: 'not-found' }),
  lookup('an unknown system', `system=${UNKNOWN}&code=b`, { status: 404 }),
  lookup('"a client SHALL provide both a system and a code": no system', 'code=b', { status: 400 }),
  lookup('no code', SYSTEM, { status: 400 }),
  lookup('displayLanguage', `${SYSTEM}&code=b&displayLanguage=de`, { display: 'Bä' }),
  lookup('a language without a designation', `${SYSTEM}&code=b&displayLanguage=es`, { display: 'Beta' }),
  lookup('designations', `${SYSTEM}&code=b`, { designation: [{ language: 'de', value: 'Bä' }, { language: 'fr', value: 'Bé', use: { code: 'short' } }] }), // prettier-ignore
  lookup('parents and children', `${SYSTEM}&code=b&property=parent&property=child`, { property: [{ code: 'parent', value: 'a', description: 'Alpha' }, { code: 'child', value: 'c', description: 'Gamma ray' }] }), // prettier-ignore
  lookup('a property alone', `${SYSTEM}&code=b&property=weight`, { property: [{ code: 'weight', value: 2.5 }], designation: undefined, display: 'Beta' }), // prettier-ignore
  lookup('lang.X', `${SYSTEM}&code=b&property=lang.fr`, { designation: [{ language: 'fr' }], property: undefined }),
  lookup('inactive', `${SYSTEM}&code=d&property=inactive`, { property: [{ code: 'inactive', value: true }] }),
  lookup('a supplement, with its source', `${SYSTEM}&code=c&useSupplement=http://cases.example/more&displayLanguage=it`, { display: 'Raggio' }), // prettier-ignore
  lookup('a stored supplement is taken for the language that it has', `${SYSTEM}&code=c&displayLanguage=it`, { display: 'Raggio' }), // prettier-ignore
  lookup('by lang.X too', `${SYSTEM}&code=c&property=lang.it`, { designation: [{ language: 'it', value: 'Raggio' }] }),
  lookup('for another language it is not', `${SYSTEM}&code=c&displayLanguage=de`, { display: 'Gamma ray', designation: undefined }), // prettier-ignore
  lookup('nor are its properties', `${SYSTEM}&code=c&displayLanguage=it&property=rays`, { status: 200, property: undefined }), // prettier-ignore
  lookup('where case does not count', `system=${LOOSE}&code=MIXED`, { display: 'Mixed', code: 'Mixed' }),
  lookup('shipped', 'system=http://hl7.org/fhir/administrative-gender&code=male', { name: 'AdministrativeGender', display: 'Male' }), // prettier-ignore
  lookup('by rule: a unit', 'system=http://unitsofmeasure.org&code=kg', { display: 'kilogram' }),
  lookup('by rule: a language', 'system=urn:ietf:bcp:47&code=de-AT', { status: 200 }),
  lookup('by rule: no unit', 'system=http://unitsofmeasure.org&code=nope', { status: 404 }),
  posted('lookup', 'a coding', [coding('coding', 'b')], { display: 'Beta' }),
  posted('lookup', 'a coding and a code', [coding('coding', 'b'), { name: 'code', valueCode: 'b' }], { status: 400 }),
  lookup('another language: the display of the code system is a designation', `${SYSTEM}&code=b&displayLanguage=de`, { designation: [{ language: 'en', value: 'Beta' }, { value: 'Bä' }, { value: 'Bé' }] }), // prettier-ignore
  { title: 'lookup: a supplement is no code system', path: '/CodeSystem/supplement/$lookup?code=c', gives: { status: 404 } }, // prettier-ignore
  posted('lookup', 'a coding of another system than "system"', [{ name: 'system', valueUri: CS }, coding('coding', 'z', OTHER)], { status: 400 }), // prettier-ignore
  posted('lookup', 'a coding of another version than "version"', [{ name: 'coding', valueCoding: { system: CS, code: 'b', version: '1' } }, { name: 'version', valueString: '2' }], { status: 400 }), // prettier-ignore
  posted('lookup', 'a coding of the version asked for', [{ name: 'coding', valueCoding: { system: CS, code: 'b', version: '1' } }, { name: 'version', valueString: '1' }], { version: '1' }), // prettier-ignore
  on('lookup')('needs no system', 'code=b', { display: 'Beta' }),

  check('a code', `${URL}&code=b`, { status: 200, result: true, display: 'Beta', code: 'b', system: CS, version: '2' }),
  check('an unknown code', `${URL}&code=nope`, { status: 200, result: false, code: 'nope', system: CS }),
  check('an unknown system', `url=${UNKNOWN}&code=b`, { status: 200, result: false, issues: ['not-found'] }),
  check('a version', `${URL}&code=g&version=1`, { result: false, version: '1' }),
  check('a version that is not there', `${URL}&code=b&version=9`, {
    status: 200,
    result: false,
    issues: ['not-found'],
  }),
  check('a wrong display', `${URL}&code=b&display=Alpha`, { result: false, display: 'Beta' }),
  check('a right display', `${URL}&code=b&display=Beta`, { result: true }),
  check('abstract=false', `${URL}&code=a&abstract=false`, { result: false }),
  check('an abstract code', `${URL}&code=a&abstract=true`, { result: true }),
  check('an inactive code', `${URL}&code=d`, { result: true, inactive: true }),
  check('"url" or "codeSystem" must be provided', 'code=b', { status: 400 }),
  check('"one (and only one)" of code, coding and codeableConcept', URL, { status: 400 }),
  posted('validate-code', 'a coding: "the system must match"', [{ name: 'url', valueUri: CS }, coding('coding', 'z', OTHER)], { status: 200, result: false }), // prettier-ignore
  posted('validate-code', 'a coding', [{ name: 'url', valueUri: CS }, coding('coding', 'c')], { result: true }),
  posted('validate-code', 'a CodeableConcept', [{ name: 'url', valueUri: CS }, { name: 'codeableConcept', valueCodeableConcept: { coding: [{ system: CS, code: 'c' }] } }], { result: true, codeableConcept: {} }), // prettier-ignore
  posted('validate-code', 'a code system in the request', [{ name: 'codeSystem', resource: { resourceType: 'CodeSystem', url: 'http://own.example', status: 'active', content: 'complete', concept: [{ code: 'x', display: 'Ex' }] } }, { name: 'code', valueCode: 'x' }], { result: true, display: 'Ex', system: 'http://own.example' }), // prettier-ignore
  on('validate-code')('needs no url', 'code=c', { result: true, display: 'Gamma ray' }),
  check('country codes', 'url=urn:iso:std:iso:3166&code=AT', { result: true, display: 'Austria' }),
  check('media types', 'url=urn:ietf:bcp:13&code=image/png', { result: true }),
  check('time zones', 'url=https://www.iana.org/time-zones&code=Europe/Vienna', { result: true }),

  subsumes('above', pair('a', 'c'), { status: 200, outcome: 'subsumes' }),
  subsumes('below', pair('c', 'a'), { outcome: 'subsumed-by' }),
  subsumes('the same', pair('b', 'b'), { outcome: 'equivalent' }),
  subsumes('beside', pair('d', 'e'), { outcome: 'not-subsumed' }),
  subsumes('a version', `${pair('a', 'g')}&version=1`, { status: 404 }),
  subsumes('an unknown code', pair('a', 'nope'), { status: 404 }),
  subsumes('an unknown system', `system=${UNKNOWN}&codeA=a&codeB=b`, { status: 404 }),
  subsumes('"the system parameter is required unless …"', 'codeA=a&codeB=b', { status: 400 }),
  subsumes('"a client SHALL provide both A and B codes"', `${SYSTEM}&codeA=a`, { status: 400 }),
  subsumes('a hierarchy that groups does not subsume', 'system=http://cases.example/grouped&codeA=x&codeB=y', { outcome: 'not-subsumed' }), // prettier-ignore
  posted('subsumes', 'codings', [coding('codingA', 'a'), coding('codingB', 'c')], { outcome: 'subsumes' }),
  posted('subsumes', 'codings of two systems: "the server SHALL return an error"', [coding('codingA', 'a'), coding('codingB', 'z', OTHER)], { status: 400 }), // prettier-ignore
  posted('subsumes', 'codings of another system than "system"', [{ name: 'system', valueUri: CS }, coding('codingA', 'z', OTHER), coding('codingB', 'b', OTHER)], { status: 400 }), // prettier-ignore
  ...[['http://unitsofmeasure.org', 'mg'], ['urn:ietf:bcp:47', 'de'], ['urn:ietf:bcp:13', 'text/plain']].map(([system = '', code = '']) => subsumes(`equal codes of ${system}`, `system=${system}&codeA=${code}&codeB=${code}`, { outcome: 'equivalent' })), // prettier-ignore
  subsumes('two units: the rule tells no hierarchy', 'system=http://unitsofmeasure.org&codeA=mg&codeB=kg', { status: 404 }), // prettier-ignore
  subsumes('what is no unit', 'system=http://unitsofmeasure.org&codeA=nope&codeB=nope', { status: 404 }),
  on('subsumes')('needs no system', 'codeA=a&codeB=b', { outcome: 'subsumes' }),
];
