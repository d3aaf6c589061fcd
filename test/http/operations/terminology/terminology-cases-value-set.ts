import type { TerminologyCase } from './terminology-cases.js';
import { CS, LOOSE, OTHER, UNKNOWN, VS } from './terminology-cases-data.js';

const expand = (title: string, query: string, gives: object): TerminologyCase => ({ title, path: `/ValueSet/$expand?${query}`, gives: gives as TerminologyCase['gives'] }); // prettier-ignore
const vs = (id: string): string => `url=${VS}/${id}`;
const ALL = ['a*', 'b', 'c', 'd~', 'e~', 'f', 'g'];
const own = (compose: object) => ({
  name: 'valueSet',
  resource: { resourceType: 'ValueSet', status: 'active', compose },
});
const gender = { system: 'http://hl7.org/fhir/administrative-gender' };

export const EXPAND_CASES: readonly TerminologyCase[] = [
  expand('all codes, those that are abstract or inactive flagged', vs('all'), { status: 200, codes: ALL, total: 7 }),
  expand('a tree where the system is one', vs('all'), { isNested: true }),
  expand('excludeNested: "the expansion MUST be flat"', `${vs('all')}&excludeNested=true`, {
    isNested: false,
    codes: ALL,
  }),
  expand('offset "SHALL only exist when paging is being used"', vs('all'), { offset: undefined }),
  expand('a page', `${vs('all')}&offset=2&count=2`, { codes: ['c', 'd~'], total: 7, offset: 2 }),
  expand('count alone begins with the first', `${vs('all')}&count=3`, { codes: ['a*', 'b', 'c'], total: 7, offset: 0 }),
  expand('offset alone goes to the end', `${vs('all')}&offset=5`, { codes: ['f', 'g'], total: 7 }),
  expand('count=0 asks how large the expansion is', `${vs('all')}&count=0`, { codes: [], total: 7 }),
  expand('an offset beyond the end', `${vs('all')}&offset=50`, { codes: [], total: 7, offset: 50 }),
  expand('a negative count', `${vs('all')}&count=-1`, { status: 400 }),
  expand('a negative offset', `${vs('all')}&offset=-1`, { status: 400 }),
  expand('a count that is no number', `${vs('all')}&count=many`, { status: 400 }),
  expand('activeOnly leaves inactive codes out', `${vs('all')}&activeOnly=true`, { codes: ['a*', 'b', 'c', 'f', 'g'], total: 5 }), // prettier-ignore
  expand('activeOnly=false takes them', `${vs('all')}&activeOnly=false`, { codes: ALL }),
  expand('activeOnly cannot include what the value set excludes', `${vs('active')}&activeOnly=false`, { codes: ['a*', 'b', 'c', 'f', 'g'] }), // prettier-ignore
  expand('excludeNotForUI leaves abstract codes out', `${vs('all')}&excludeNotForUI=true`, {
    codes: ALL.slice(1),
    total: 6,
  }),
  expand('filter: words of displays begin so, in any order', `${vs('all')}&filter=ra+gam`, { codes: ['c'], total: 1 }),
  expand('filter: case does not count', `${vs('all')}&filter=ALPHA`, { codes: ['a*'] }),
  expand('filter: nothing matches', `${vs('all')}&filter=xyz`, { status: 200, codes: [], total: 0 }),
  expand('filter with a page: the total is of what matches', `${vs('all')}&filter=a&count=1`, {
    codes: ['a*'],
    total: 1,
  }),
  expand('a list, without codes that the system lacks', vs('listed'), { codes: ['c', 'd~'], displays: ['Third', 'Delta'], total: 2 }), // prettier-ignore
  expand('is-a', vs('isa'), { codes: ['b', 'c'], total: 2 }),
  expand('filters of an include: all of them hold', vs('two-filters'), { codes: ['b'] }),
  expand('exclude', vs('excluded'), { codes: ['c', 'd~', 'e~', 'f', 'g'], total: 5 }),
  expand('several includes: each adds', vs('two'), { codes: ['b', 'c', 'b', 'z'], total: 4 }),
  expand('an imported value set', vs('imported'), { codes: ['b', 'c', 'b', 'z'] }),
  expand('imports of one include: what is in all', vs('intersection'), { codes: ['c'] }),
  expand('a system and an import: what is in both', vs('part-of-import'), { codes: ['c'] }),
  expand('exclude by value set', vs('imports-excluded'), { codes: ['a*', 'b', 'e~', 'f', 'g'] }),
  expand('a value set that has an expansion only', vs('expanded'), { codes: ['p', 'q~'], total: 2 }),
  expand('url with a version', `${vs('all')}|0.5`, { codes: ['b', 'z'] }),
  expand('valueSetVersion', `${vs('all')}&valueSetVersion=0.5`, { codes: ['b', 'z'] }),
  expand('a version that is not there', `${vs('all')}&valueSetVersion=7`, { status: 404 }),
  expand('status and version "SHALL be persisted"', vs('all'), { valueSet: { status: 'draft', version: '1' } }),
  expand('"the server SHOULD populate the id with a newly created UUID"', vs('all'), { valueSet: { id: aUuid() } }),
  expand('includeDefinition', `${vs('isa')}&includeDefinition=true`, {
    valueSet: { compose: { include: [{ system: CS }] } },
  }),
  expand('without includeDefinition there is none', vs('isa'), { valueSet: { compose: undefined } }),
  expand('parameters that affect the contents SHOULD be recorded', `${vs('all')}&filter=alpha`, { parameter: [{ name: 'filter', valueString: 'alpha' }, { name: 'used-codesystem', valueUri: `${CS}|2` }, { name: 'version', valueUri: `${CS}|2` }] }), // prettier-ignore
  expand('the version of the value set', vs('one'), { codes: ALL.slice(0, 6) }),
  expand('system-version where the value set names none', `${vs('all')}&system-version=${CS}|1`, { total: 6 }),
  expand('system-version does not replace that of the value set', `${vs('one')}&system-version=${CS}|2`, { total: 6 }),
  expand('force-system-version replaces it, and is recorded', `${vs('one')}&force-system-version=${CS}|2`, { total: 7, parameter: [{ name: 'force-system-version', valueUri: `${CS}|2` }, {}, {}] }), // prettier-ignore
  expand('check-system-version: "an error is returned instead"', `${vs('one')}&check-system-version=${CS}|2`, {
    status: 422,
  }),
  expand('exclude-system', `${vs('two')}&exclude-system=${OTHER}`, { codes: ['b', 'c'], total: 2 }),
  expand('displayLanguage', `${vs('isa')}&displayLanguage=de`, { displays: ['Bä', 'Gamma ray'] }),
  expand('includeDesignations', `${vs('isa')}&includeDesignations=true&excludeNested=true`, { first: { designation: [{ value: 'Bä' }, { value: 'Bé' }] } }), // prettier-ignore
  expand('without it there are none', `${vs('isa')}&excludeNested=true`, { first: { designation: undefined } }),
  expand('designation: by language', `${vs('isa')}&designation=urn:ietf:bcp:47|fr`, {
    first: { designation: [{ value: 'Bé' }] },
  }),
  expand('designation: by use', `${vs('isa')}&designation=http://use.example|short`, { first: { designation: [{ value: 'Bé' }] } }), // prettier-ignore
  expand('property by its code', `${vs('isa')}&property=weight`, { first: { property: [{ code: 'weight', valueDecimal: 2.5 }] }, property: [{ code: 'weight', uri: 'http://cases.example/weight' }] }), // prettier-ignore
  expand('property by its URI', `${vs('isa')}&property=http://cases.example/weight`, { first: { property: [{ code: 'weight' }] } }), // prettier-ignore
  expand('property *', `${vs('isa')}&property=*`, { first: { property: [{ code: 'weight' }, { code: 'parent', valueCode: 'a' }, { code: 'child', valueCode: 'c' }] } }), // prettier-ignore
  expand('"property.code refers to expansion.property.code": each that is there, and no other', `${vs('all')}&property=weight&property=parent&property=definition&excludeNested=true`, { property: [{ code: 'definition', uri: 'http://hl7.org/fhir/concept-properties#definition' }, { code: 'weight' }, { code: 'parent', uri: 'http://hl7.org/fhir/concept-properties#parent' }, { code: 'status', uri: 'http://hl7.org/fhir/concept-properties#status' }] }), // prettier-ignore
  expand('the status of a retired code is declared', vs('all'), { property: [{ code: 'status', uri: 'http://hl7.org/fhir/concept-properties#status' }] }), // prettier-ignore
  expand('a property of a supplement is declared', `${vs('isa')}&property=rays&useSupplement=http://cases.example/more`, { property: [{ code: 'rays', uri: 'http://cases.example/rays' }] }), // prettier-ignore
  expand('no code has the property', `${vs('two')}&property=none`, { status: 200, property: undefined }),
  expand('another language: the display of the code system is a designation', `${vs('isa')}&displayLanguage=de&includeDesignations=true`, { first: { display: 'Bä', designation: [{ language: 'en', use: { code: 'display' }, value: 'Beta' }, { language: 'de' }, { language: 'fr' }] } }), // prettier-ignore
  expand('the supplement of the extension is recorded', vs('supplemented'), { parameter: [{ name: 'used-supplement', valueUri: 'http://cases.example/more' }, {}, {}] }), // prettier-ignore
  expand('useSupplement', `${vs('isa')}&useSupplement=http://cases.example/more&displayLanguage=it`, { displays: ['Beta', 'Raggio'] }), // prettier-ignore
  expand('a value set may name its supplement', `${vs('supplemented')}&displayLanguage=it&filter=gamma`, { displays: ['Raggio'] }), // prettier-ignore
  expand('an unknown supplement', `${vs('isa')}&useSupplement=a:b`, { status: 404 }),
  expand('context: the binding of an element', 'context=http://hl7.org/fhir/StructureDefinition/Patient%23Patient.gender', { codes: ['male', 'female', 'other', 'unknown'] }), // prettier-ignore
  expand('context: of a data type', 'context=http://hl7.org/fhir/StructureDefinition/Patient%23Patient.name.use', {
    total: 7,
  }),
  expand('context: an element that does not exist', 'context=http://hl7.org/fhir/StructureDefinition/Patient%23Patient.legs', { status: 404 }), // prettier-ignore
  expand('one of url, context or valueSet "must be provided"', 'count=1', { status: 400 }),
  expand('an unknown value set', `${vs('nowhere')}`, { status: 404, issue: 'not-found' }),
  expand('"when a server cannot correctly expand … it SHALL return an error": unknown system', vs('lost'), {
    status: 404,
  }),
  expand('a list of codes of an unknown system is as good as it gets', vs('lost-list'), {
    codes: ['x'],
    displays: ['Ex'],
  }),
  expand('an import that is missing', vs('missing-import'), { status: 404 }),
  expand('a circle of imports', vs('circle-1'), { status: 422 }),
  expand('what a rule defines is unbounded: too-costly', vs('units'), { status: 422, issue: 'too-costly' }),
  expand('all codes of a system: [system]?fhir_vs', `url=${encodeURIComponent(`${CS}?fhir_vs`)}`, { total: 7 }),
  expand('codes below one: ?fhir_vs=isa/b', `url=${encodeURIComponent(`${CS}?fhir_vs=isa/b`)}`, { codes: ['b', 'c'] }),
  expand('"clients can refer to these implicit value sets by … the URI for the code system itself"', `url=${CS}`, { total: 7 }), // prettier-ignore
  { title: 'at an instance', path: '/ValueSet/vs-isa/$expand', gives: { codes: ['b', 'c'] } },
  { title: 'at an instance that is not there', path: '/ValueSet/nowhere/$expand', gives: { status: 404 } },
  {
    title: 'a value set in the request',
    path: '/ValueSet/$expand',
    post: [own({ include: [gender] })],
    gives: { total: 4 },
  },
  { title: 'an include without system and value set (vsd-1)', path: '/ValueSet/$expand', post: [own({ include: [{ version: '1' }] })], gives: { status: 422 } }, // prettier-ignore
  { title: 'an unknown operator', path: '/ValueSet/$expand', post: [own({ include: [{ system: CS, filter: [{ property: 'code', op: 'like', value: 'x' }] }] })], gives: { status: 422 } }, // prettier-ignore
  { title: 'an unknown property', path: '/ValueSet/$expand', post: [own({ include: [{ system: CS, filter: [{ property: 'legs', op: '=', value: '4' }] }] })], gives: { status: 422 } }, // prettier-ignore
  { title: 'an unknown parameter', path: `/ValueSet/$expand?${vs('all')}&legs=4`, gives: { status: 400 } },
];

/** A UUID, wherever `toMatchObject` looks. */
function aUuid(): unknown {
  return { asymmetricMatch: (value: unknown) => /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/.test(String(value)) };
}

const check = (title: string, query: string, gives: object): TerminologyCase => ({ title, path: `/ValueSet/$validate-code?${query}`, gives: gives as TerminologyCase['gives'] }); // prettier-ignore
const code = (value: string, system = CS): string => `system=${system}&code=${value}`;
const coding = (title: string, id: string, valueCoding: object, gives: object, more: readonly object[] = []): TerminologyCase => ({ title, path: `/ValueSet/vs-${id}/$validate-code`, post: [{ name: 'coding', valueCoding }, ...more], gives: gives as TerminologyCase['gives'] }); // prettier-ignore
const concept = (title: string, id: string, codings: readonly object[], gives: object): TerminologyCase => ({ title, path: `/ValueSet/vs-${id}/$validate-code`, post: [{ name: 'codeableConcept', valueCodeableConcept: { coding: codings } }], gives: gives as TerminologyCase['gives'] }); // prettier-ignore

export const VALIDATE_CASES: readonly TerminologyCase[] = [
  check('a code that is in', `${vs('isa')}&${code('c')}`, { status: 200, result: true, code: 'c', system: CS, version: '2', display: 'Gamma ray' }), // prettier-ignore
  check('one that is not', `${vs('isa')}&${code('f')}`, { status: 200, result: false, code: 'f', system: CS, issues: ['code-invalid'] }), // prettier-ignore
  check('one that the system lacks', `${vs('all')}&${code('nope')}`, { result: false, code: 'nope', system: CS, issues: ['code-invalid', 'code-invalid'] }), // prettier-ignore
  check('a display that is right', `${vs('isa')}&${code('c')}&display=Gamma+ray`, { result: true, message: undefined }),
  check('a display whose case differs', `${vs('isa')}&${code('c')}&display=GAMMA+RAY`, { result: true }),
  check('a display that is wrong: the recommended one is returned', `${vs('isa')}&${code('c')}&display=Gimme`, { result: false, display: 'Gamma ray', issues: ['invalid'] }), // prettier-ignore
  check('a designation is a display', `${vs('isa')}&${code('b')}&display=B%C3%A4`, { result: true }),
  check('displayLanguage: the display has to be of that language', `${vs('isa')}&${code('b')}&display=Beta&displayLanguage=de`, { result: false, display: 'Bä' }), // prettier-ignore
  check('the display of the value set', `${vs('listed')}&${code('c')}&display=Third`, {
    result: true,
    display: 'Third',
  }),
  check('the display of the code system stays right there', `${vs('listed')}&${code('c')}&display=Gamma+ray`, {
    result: true,
  }),
  check('abstract codes are valid where nothing is said', `${vs('all')}&${code('a')}`, { result: true }),
  check('abstract=true', `${vs('all')}&${code('a')}&abstract=true`, { result: true }),
  check('abstract=false', `${vs('all')}&${code('a')}&abstract=false`, { result: false, issues: ['business-rule'] }),
  check('an inactive code is in, with a warning', `${vs('all')}&${code('d')}`, { result: true, inactive: true, issues: ['business-rule'] }), // prettier-ignore
  check('a retired code is inactive', `${vs('all')}&${code('e')}`, { result: true, inactive: true, status: 'retired' }),
  check('a deprecated code is active', `${vs('all')}&${code('f')}`, { result: true, inactive: undefined }),
  check('an inactive code where the value set has none', `${vs('active')}&${code('d')}`, { result: false }),
  check('an excluded code', `${vs('excluded')}&${code('b')}`, { result: false }),
  check('a code of an import', `${vs('imported')}&${code('z', OTHER)}`, { result: true, display: 'Zed' }),
  check('a code of one import of two', `${vs('intersection')}&${code('b')}`, { result: false }),
  check('a code of an expansion', `${vs('expanded')}&${code('q', UNKNOWN)}`, { result: true, inactive: true }),
  check('case counts', `${vs('all')}&${code('C')}`, { result: false }),
  check('case does not count where the system says so', `${vs('loose')}&${code('mixed', LOOSE)}`, { result: true, 'normalized-code': 'Mixed' }), // prettier-ignore
  check('an unknown system of the code', `${vs('all')}&${code('x', UNKNOWN)}`, { status: 200, result: false, issues: ['code-invalid', 'not-found'], 'x-caused-by-unknown-system': UNKNOWN }), // prettier-ignore
  check('an unknown system of the value set', `${vs('lost')}&${code('x', UNKNOWN)}`, { status: 200, result: false, issues: ['not-found'] }), // prettier-ignore
  check('an unknown system whose codes the value set lists', `${vs('lost-list')}&${code('x', UNKNOWN)}`, {
    result: true,
  }),
  check('an import that is missing', `${vs('missing-import')}&${code('b')}`, { status: 200, result: false, issues: ['not-found'] }), // prettier-ignore
  check('a fragment: the code may be in another one', `${vs('fragment')}&${code('new', 'http://cases.example/fragment')}`, { result: true, issues: ['code-invalid'] }), // prettier-ignore
  check('a circle of imports', `${vs('circle-1')}&${code('b')}`, { status: 422 }),
  check('a circle that the code does not lead into', `${vs('circle-behind')}&${code('b')}`, { status: 422 }),
  check('a code that is elsewhere in its system: its display and version are returned', `${vs('excluded')}&${code('b')}`, { result: false, display: 'Beta', version: '2' }), // prettier-ignore
  check('"version" of the code system, as CodeSystem/$validate-code has it', `${vs('all')}&${code('g')}&version=1`, { result: false }), // prettier-ignore
  check('an unknown value set', `${vs('nowhere')}&${code('b')}`, { status: 404 }),
  check('systemVersion: the code of that version', `${vs('all')}&${code('b')}&systemVersion=1`, {
    result: true,
    version: '1',
  }),
  check('systemVersion: a code that came later', `${vs('all')}&${code('g')}&systemVersion=1`, { result: false }),
  check('systemVersion: another one than that of the value set', `${vs('one')}&${code('b')}&systemVersion=2`, { result: false }), // prettier-ignore
  check('systemVersion: an unknown one', `${vs('all')}&${code('b')}&systemVersion=9`, { status: 200, result: false }),
  check('valueSetVersion', `${vs('all')}&valueSetVersion=0.5&${code('z', OTHER)}`, { result: true }),
  check('"if a code is provided, a system … must be provided"', `${vs('isa')}&code=c`, { status: 400 }),
  check('inferSystem', `${vs('isa')}&code=c&inferSystem=true`, { result: true, system: CS }),
  check('inferSystem: "the code is not ambiguous without a system"', `${vs('two')}&code=b&inferSystem=true`, { status: 200, result: false, system: undefined }), // prettier-ignore
  check('inferSystem: a code of the second system', `${vs('two')}&code=z&inferSystem=true`, {
    result: true,
    system: OTHER,
  }),
  check('inferSystem: a code of none', `${vs('two')}&code=q&inferSystem=true`, { result: false }),
  { title: 'at an instance the system is inferred', path: '/ValueSet/vs-isa/$validate-code?code=c', gives: { result: true, system: CS } }, // prettier-ignore
  { title: 'at an instance too the code has to be unambiguous', path: '/ValueSet/vs-two/$validate-code?code=b', gives: { result: false } }, // prettier-ignore
  check('in a context the system is inferred', 'context=http://hl7.org/fhir/StructureDefinition/Patient%23Patient.gender&code=male', { result: true, display: 'Male' }), // prettier-ignore
  check('a context with the wrong code', 'context=http://hl7.org/fhir/StructureDefinition/Patient%23Patient.gender&code=m', { result: false }), // prettier-ignore
  check('"one (and only one) of code, coding, or codeableConcept": none', vs('isa'), { status: 400 }),
  check('a display without a code', `${vs('isa')}&display=x`, { status: 400 }),
  coding('two of them', 'isa', { system: CS, code: 'c' }, { status: 400 }, [{ name: 'code', valueCode: 'c' }]),
  coding('a coding', 'isa', { system: CS, code: 'c', display: 'Gamma ray' }, { result: true, code: 'c', system: CS, version: '2' }), // prettier-ignore
  coding('a coding with the wrong display', 'isa', { system: CS, code: 'c', display: 'x' }, { result: false }),
  coding('a coding of another version', 'one', { system: CS, version: '2', code: 'c' }, { result: false }),
  coding('a coding without a system', 'isa', { code: 'c' }, { status: 200, result: false, issues: ['invalid'] }),
  coding(
    'a coding of a rule: UCUM',
    'units',
    { system: 'http://unitsofmeasure.org', code: 'mm[Hg]' },
    { result: true },
  ),
  coding('a unit that is none', 'units', { system: 'http://unitsofmeasure.org', code: 'furlongs' }, { result: false }),
  concept('a CodeableConcept: one coding is enough', 'isa', [{ system: CS, code: 'f' }, { system: CS, code: 'c' }], { result: true, code: 'c', codeableConcept: {} }), // prettier-ignore
  concept('a CodeableConcept: none is in', 'isa', [{ system: CS, code: 'f' }, { system: OTHER, code: 'z' }], { result: false, codeableConcept: {} }), // prettier-ignore
  concept('a CodeableConcept: an unknown system beside the right code', 'isa', [{ system: UNKNOWN, code: 'f' }, { system: CS, code: 'c' }], { result: true }), // prettier-ignore
  concept('a CodeableConcept without codings', 'isa', [], { status: 400 }),
  check('useSupplement: its designations are displays', `${vs('isa')}&${code('c')}&display=Raggio&useSupplement=http://cases.example/more`, { result: true }), // prettier-ignore
  check('without it they are not', `${vs('isa')}&${code('c')}&display=Raggio`, { result: false }),
  check('a date before the definition was stored', `${vs('isa')}&${code('c')}&date=2001`, { status: 400 }),
  check('shipped: required bindings', 'url=http://hl7.org/fhir/ValueSet/administrative-gender&system=http://hl7.org/fhir/administrative-gender&code=female', { result: true, display: 'Female' }), // prettier-ignore
  { title: 'a value set in the request', path: '/ValueSet/$validate-code', post: [own({ include: [gender] }), { name: 'coding', valueCoding: { ...gender, code: 'male' } }], gives: { result: true } }, // prettier-ignore
];
