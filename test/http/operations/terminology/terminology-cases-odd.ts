import type { TerminologyCase } from './terminology-cases.js';
import { CS, MAP, OTHER, TARGET, VS } from './terminology-cases-data.js';
import { ODD } from './terminology-cases-odd-data.js';

type Gives = TerminologyCase['gives'];

const at = (path: string) => (title: string, query: string, gives: object): TerminologyCase => ({ title: `${path}: ${title}`, path: `/${path}?${query}`, gives: gives as Gives }); // prettier-ignore
const posted = (path: string, title: string, post: readonly object[], gives: object): TerminologyCase => ({ title: `${path}: ${title}`, path: `/${path}`, post, gives: gives as Gives }); // prettier-ignore
const [expand, check, lookup, subsumes, translate] = [at('ValueSet/$expand'), at('ValueSet/$validate-code'), at('CodeSystem/$lookup'), at('CodeSystem/$subsumes'), at('ConceptMap/$translate')]; // prettier-ignore
const checkCode = at('CodeSystem/$validate-code');

const THO = 'http://terminology.hl7.org/CodeSystem';
const FHIR = 'http://hl7.org/fhir/ValueSet';
const vs = (id: string): string => `url=${ODD}/vs/${id}`;
const of = (system: string, code: string): string => `system=${ODD}/${system}&code=${code}`;
const uri = (name: string, valueUri: string) => ({ name, valueUri });
const coding = (name: string, system: string, code: string, more: object = {}) => ({ name, valueCoding: { system, code, ...more } }); // prettier-ignore
const concept = (...codings: readonly object[]) => ({ name: 'codeableConcept', valueCodeableConcept: { coding: codings } }); // prettier-ignore
const inline = (include: readonly object[], more: object = {}) => ({ name: 'valueSet', resource: { resourceType: 'ValueSet', status: 'active', compose: { include, ...more } } }); // prettier-ignore
const tx = (more: object) => ({ name: 'tx-resource', resource: { resourceType: 'CodeSystem', url: 'http://tx.example', status: 'active', content: 'complete', ...more } }); // prettier-ignore
const filteredOf = (system: string, property: string, op: string, value: string) => [inline([{ system: `${ODD}/${system}`, filter: [{ property, op, value }] }])]; // prettier-ignore
const filtered = (property: string, op: string, value: string) => filteredOf('types', property, op, value);
const targets = (...codes: readonly string[]) => codes.map((code) => ({ concept: { code } }));
const property = (code: string, value: unknown) => ({ code, value });

/** Concepts that are not active, not selectable, or both. */
const STATES: readonly TerminologyCase[] = [
  expand('every way to be inactive or abstract', vs('states'), { codes: ['active', 'experimental', 'deprecated', 'retired~', 'inactive~', 'withdrawn~', 'flagged~', 'unflagged', 'deprecationDate', 'group*', 'leaf', 'both*~'], total: 12 }), // prettier-ignore
  expand('activeOnly', `${vs('states')}&activeOnly=true`, { codes: ['active', 'experimental', 'deprecated', 'unflagged', 'deprecationDate', 'group*', 'leaf'], total: 7 }), // prettier-ignore
  expand('excludeNotForUI', `${vs('states')}&excludeNotForUI=true&activeOnly=true`, { codes: ['active', 'experimental', 'deprecated', 'unflagged', 'deprecationDate', 'leaf'], total: 6 }), // prettier-ignore
  expand('activeOnly with a page: the total counts active codes', `${vs('states')}&activeOnly=true&count=2&offset=1`, { codes: ['experimental', 'deprecated'], total: 7, offset: 1 }), // prettier-ignore
  posted('ValueSet/$expand', 'notSelectable = false: where it is said', filteredOf('states', 'notSelectable', '=', 'false'), { status: 200, total: 0 }), // prettier-ignore
  posted('ValueSet/$expand', 'notSelectable = true, whatever its code', filteredOf('states', 'notSelectable', '=', 'true'), { codes: ['group*', 'both*~'] }), // prettier-ignore
  posted('ValueSet/$expand', 'notSelectable not in true', filteredOf('states', 'notSelectable', 'not-in', 'true'), { total: 10 }), // prettier-ignore
  posted('ValueSet/$expand', 'inactive = false: the default is false', filteredOf('states', 'inactive', '=', 'false'), { total: 7 }), // prettier-ignore
  check('an experimental code is active', `${vs('states')}&${of('states', 'experimental')}`, { result: true, inactive: undefined }), // prettier-ignore
  check('a deprecated code is active', `${vs('states')}&${of('states', 'deprecated')}`, { result: true, inactive: undefined }), // prettier-ignore
  check('a flagged code', `${vs('states')}&${of('states', 'flagged')}`, { result: true, inactive: true }),
  check('activeOnly refuses it', `${vs('states')}&${of('states', 'flagged')}&activeOnly=true`, { result: false }),
  check('abstract=false refuses an abstract code', `${vs('states')}&${of('states', 'group')}&abstract=false`, { result: false }), // prettier-ignore
  check('abstract=false takes what is below it', `${vs('states')}&${of('states', 'leaf')}&abstract=false`, { result: true }), // prettier-ignore
  lookup('a retired code', of('states', 'retired'), { status: 200, property: [property('state', 'retired'), property('inactive', true)] }), // prettier-ignore
  lookup('abstract', of('states', 'group'), { abstract: true }),
  lookup('not abstract', of('states', 'leaf'), { abstract: false }),
];

/** Languages and displays. */
const TONGUES: readonly TerminologyCase[] = [
  expand('a designation in the language', `${vs('tongues')}&displayLanguage=de`, { displays: ['Hallo', 'Plain'] }),
  expand('the region before the language alone', `${vs('tongues')}&displayLanguage=de-CH`, { displays: ['Grüezi', 'Plain'] }), // prettier-ignore
  expand('a region falls back to the language', `${vs('tongues')}&displayLanguage=de-AT`, { displays: ['Hallo', 'Plain'] }), // prettier-ignore
  expand('a language takes a region of it', `${vs('tongues')}&displayLanguage=pt`, { displays: ['Oi', 'Plain'] }),
  expand('a language that is not there', `${vs('tongues')}&displayLanguage=ja`, { displays: ['Hello', 'Plain'] }),
  expand('weights', `${vs('tongues')}&displayLanguage=${encodeURIComponent('ja, pt;q=0.8, de;q=0.5')}`, { displays: ['Oi', 'Plain'] }), // prettier-ignore
  expand('the language of the value set', vs('german'), { displays: ['Hallo', 'Plain'] }),
  expand('that language is recorded', vs('german'), { parameter: [{ name: 'displayLanguage', valueCode: 'de' }, {}] }),
  expand('the parameter goes before it', `${vs('german')}&displayLanguage=en`, { displays: ['Hello', 'Plain'] }),
  check('a display of the region', `${vs('tongues')}&${of('tongues', 'hi')}&display=Gr%C3%BCezi&displayLanguage=de-CH`, { result: true, display: 'Grüezi' }), // prettier-ignore
  check('a display of what the region falls back to', `${vs('tongues')}&${of('tongues', 'hi')}&display=Hallo&displayLanguage=de-AT`, { result: true, display: 'Hallo' }), // prettier-ignore
  check('a display of another language than asked', `${vs('tongues')}&${of('tongues', 'hi')}&display=Oi&displayLanguage=de`, { result: false, display: 'Hallo', issues: ['invalid'] }), // prettier-ignore
  check('lenient-display-validation', `${vs('tongues')}&${of('tongues', 'hi')}&display=Bye&lenient-display-validation=true`, { result: true, display: 'Hello', issues: ['invalid'] }), // prettier-ignore
  check('a wrong display is named in the message', `${vs('tongues')}&${of('tongues', 'hi')}&display=Bye`, { result: false, display: 'Hello', message: contains('Hello') }), // prettier-ignore
  lookup('in a region', `${of('tongues', 'hi')}&displayLanguage=de-AT`, { display: 'Hallo' }),
  lookup('designations of a language', `${of('tongues', 'hi')}&property=lang.de`, { designation: [{ value: 'Hallo' }, { value: 'Grüezi' }] }), // prettier-ignore
];

/** Types of properties, and filters on them. */
const TYPES: readonly TerminologyCase[] = [
  lookup('each property with its type', of('types', 'all'), {
    property: [
      ...[property('string', 's'), property('integer', 7), property('decimal', 1.5), property('boolean', false)],
      ...[property('code', 'k'), property('dateTime', '2020-01-02'), { code: 'coding', value: { code: 'x' } }],
      ...[{ code: 'kin', value: 'one', description: 'One' }, property('kin', 'two'), property('inactive', false)],
    ],
  }),
  lookup('two properties', `${of('types', 'all')}&property=integer&property=coding`, { property: [property('integer', 7), { code: 'coding' }] }), // prettier-ignore
  lookup('a property that the code lacks', `${of('types', 'one')}&property=integer`, { status: 200, property: undefined }), // prettier-ignore
  posted('ValueSet/$expand', 'compose.property: "if the client doesn\'t ask for any"', [inline([{ system: `${ODD}/types` }], { property: ['integer'] })], { first: { property: [{ code: 'integer', valueInteger: 7 }] } }), // prettier-ignore
  posted('ValueSet/$expand', 'compose.property: what the client asks for goes before', [inline([{ system: `${ODD}/types` }], { property: ['integer'] }), { name: 'property', valueString: 'string' }], { first: { property: [{ code: 'string' }] } }), // prettier-ignore
  expand('properties of all types', `${vs('types')}&property=boolean&property=coding`, { first: { property: [{ code: 'boolean', valueBoolean: false }, { code: 'coding', valueCoding: { code: 'x' } }] } }), // prettier-ignore
  ...[
    ['string', '=', 's', ['all']],
    ['integer', '=', '7', ['all']],
    ['decimal', '=', '1.5', ['all']],
    ['boolean', '=', 'false', ['all']],
    ['coding', '=', 'x', ['all']],
    ['kin', '=', 'two', ['all']],
    ['kin', 'in', 'two,three', ['all']],
    ['kin', 'not-in', 'two,three', ['one']],
    ['integer', 'exists', 'true', ['all']],
    ['integer', 'exists', 'false', ['one']],
    ['display', 'regex', 'O.e', ['one']],
    ['code', 'regex', 'o', []],
  ].map(([name, op, value, codes]) => posted('ValueSet/$expand', `${String(name)} ${String(op)} ${String(value)}`, filtered(String(name), String(op), String(value)), { status: 200, codes })), // prettier-ignore
];

/** Hierarchies. */
const HIERARCHIES: readonly TerminologyCase[] = [
  expand('a concept with two parents comes once', vs('poly'), { codes: ['top', 'left', 'below', 'right'], total: 4 }),
  posted('ValueSet/$expand', 'is-a by the second parent', [inline([{ system: `${ODD}/poly`, filter: [{ property: 'concept', op: 'is-a', value: 'right' }] }])], { codes: ['right', 'below'] }), // prettier-ignore
  posted('ValueSet/$expand', 'both filters hold', [inline([{ system: `${ODD}/poly`, filter: [{ property: 'concept', op: 'is-a', value: 'right' }, { property: 'concept', op: 'descendent-of', value: 'left' }] }])], { codes: ['below'] }), // prettier-ignore
  posted('ValueSet/$expand', 'generalizes', [inline([{ system: `${ODD}/poly`, filter: [{ property: 'concept', op: 'generalizes', value: 'below' }] }])], { total: 4 }), // prettier-ignore
  posted('ValueSet/$expand', 'concept = a code that is not there', [inline([{ system: `${ODD}/poly`, filter: [{ property: 'concept', op: '=', value: 'nope' }] }])], { status: 200, total: 0 }), // prettier-ignore
  ...['is-a', 'descendent-of', 'is-not-a', 'generalizes', 'child-of', 'descendent-leaf'].map((op) => posted('ValueSet/$expand', `${op} a code that is not there`, filteredOf('poly', 'concept', op, 'nope'), { status: 422 })), // prettier-ignore
  posted('ValueSet/$expand', 'is-a a code that a fragment lacks', [inline([{ system: 'http://cases.example/fragment', filter: [{ property: 'concept', op: 'is-a', value: 'nope' }] }])], { status: 200, total: 0 }), // prettier-ignore
  posted('ValueSet/$expand', 'exists is true or false', filtered('integer', 'exists', 'yes'), { status: 422 }),
  posted('ValueSet/$expand', 'is-a follows a hierarchy of parts too', filteredOf('part-of', 'concept', 'is-a', 'body'), { codes: ['body', 'hand'] }), // prettier-ignore
  expand('all of it excluded', vs('excludes-all'), { status: 200, codes: [], total: 0 }),
  subsumes('by the first parent', `system=${ODD}/poly&codeA=left&codeB=below`, { outcome: 'subsumes' }),
  subsumes('by the second', `system=${ODD}/poly&codeA=right&codeB=below`, { outcome: 'subsumes' }),
  subsumes('over two levels, from below', `system=${ODD}/poly&codeA=below&codeB=top`, { outcome: 'subsumed-by' }),
  subsumes('siblings', `system=${ODD}/poly&codeA=left&codeB=right`, { outcome: 'not-subsumed' }),
  subsumes('parts are not subsumed', `system=${ODD}/part-of&codeA=body&codeB=hand`, { outcome: 'not-subsumed' }),
  subsumes('system with a version', `system=${CS}|1&codeA=a&codeB=c`, { outcome: 'subsumes' }),
  subsumes('a version without the code', `system=${CS}|1&codeA=a&codeB=g`, { status: 404 }),
  lookup('several parents', `${of('poly', 'below')}&property=parent`, { property: [property('parent', 'left'), property('parent', 'right')] }), // prettier-ignore
];

/** Code systems of which the server has a part or nothing. */
const CONTENT: readonly TerminologyCase[] = [
  expand('not-present', vs('absent'), { status: 404 }),
  expand('not-present, but listed', vs('absent-list'), { codes: ['x'], displays: ['Ex'] }),
  check('not-present: it cannot be decided', `${vs('absent')}&${of('absent', 'x')}`, { status: 200, result: false, issues: ['not-found'], 'x-caused-by-unknown-system': `${ODD}/absent` }), // prettier-ignore
  check('not-present, but listed', `${vs('absent-list')}&${of('absent', 'x')}`, { result: true, display: 'Ex' }),
  check('a code of an example', `${vs('example')}&${of('example', 'shown')}`, { result: true, display: 'Shown' }),
  check('a code that an example lacks', `${vs('example')}&${of('example', 'other')}`, { status: 200, result: false }),
  lookup('not-present', of('absent', 'x'), { status: 404 }),
  checkCode('not-present', `url=${ODD}/absent&code=x`, { status: 200, result: false, issues: ['not-found'] }),
  expand('an expansion stands in for a system that is not known', vs('kept'), { codes: ['k1', 'k2*'], displays: ['Kept', undefined], total: 2 }), // prettier-ignore
  check('a code of such an expansion', `${vs('kept')}&system=http://gone.example&code=k1`, { result: true, display: 'Kept' }), // prettier-ignore
  check('one that it lacks', `${vs('kept')}&system=http://gone.example&code=k3`, { result: false }),
  expand('an expansion that is a part does not', vs('cut'), { status: 404 }),
  expand('an import in a version that is not there', vs('versioned-import'), { status: 404 }),
];

/** Code systems of HL7 that the FHIR package lacks: the official expansions list their codes. */
const OFFICIAL: readonly TerminologyCase[] = [
  expand('marital-status, of two foreign systems', `url=${FHIR}/marital-status`, { status: 200, total: 12 }),
  expand('a flat list of what is a hierarchy', `url=${FHIR}/condition-clinical`, { codes: ['active', 'recurrence', 'relapse', 'inactive', 'remission', 'resolved', 'unknown'] }), // prettier-ignore
  expand('value sets that the package lacks', 'url=http://terminology.hl7.org/ValueSet/encounter-class', { total: 6 }),
  expand('all codes of such a system', `url=${encodeURIComponent(`${THO}/observation-category?fhir_vs`)}`, { total: 9 }), // prettier-ignore
  expand('an expansion that is limited does not count', `url=${FHIR}/condition-code`, { status: 404 }),
  check('a code of one', `url=${FHIR}/marital-status&system=${THO}/v3-MaritalStatus&code=M`, { result: true, display: 'Married' }), // prettier-ignore
  check('an abstract one', `url=${FHIR}/observation-interpretation&system=${THO}/v3-ObservationInterpretation&code=_ObservationInterpretationChange&abstract=false`, { result: false }), // prettier-ignore
  check('one that is none', `url=${FHIR}/condition-ver-status&system=${THO}/condition-ver-status&code=maybe`, { result: false }), // prettier-ignore
  lookup('the display of one', `system=${THO}/v2-0203&code=MR`, { display: 'Medical record number', name: 'v2-0203' }),
  lookup('of a system of which only some codes are known', `system=${THO}/v3-NullFlavor&code=UNK`, { status: 404 }),
  subsumes('how they are arranged is not known', `system=${THO}/condition-clinical&codeA=active&codeB=relapse`, { status: 404 }), // prettier-ignore
  subsumes('the same code', `system=${THO}/condition-clinical&codeA=active&codeB=active`, { outcome: 'equivalent' }),
  checkCode('an unknown code of one', `url=${THO}/observation-category&code=lab`, { result: false }),
];

/** Systems that a rule defines, and implied value sets. */
const RULES: readonly TerminologyCase[] = [
  check('UCUM as a value set', `url=http://unitsofmeasure.org/vs&system=http://unitsofmeasure.org&code=mg`, { result: true, display: 'milligram' }), // prettier-ignore
  check('UCUM as a value set, no unit', `url=http://unitsofmeasure.org/vs&system=http://unitsofmeasure.org&code=nope`, { result: false }), // prettier-ignore
  check('media types as a value set', `url=${encodeURIComponent('urn:ietf:bcp:13?fhir_vs')}&system=urn:ietf:bcp:13&code=text/plain`, { result: true }), // prettier-ignore
  expand('countries as a value set', `url=${encodeURIComponent('urn:iso:std:iso:3166?fhir_vs')}&count=1`, { codes: ['AD'], total: 747 }), // prettier-ignore
  expand('UCUM as a value set has no end', 'url=http://unitsofmeasure.org/vs', { status: 422, issue: 'too-costly' }),
  lookup('the unit 1 has a text as its display', 'system=http://unitsofmeasure.org&code=1', { display: '1' }),
  ...[['mm[Hg]', true], ['{score}', true], ['10*3/uL', true], ['mMol', false], ['kg/m2', true], ['Kg', false]].map(([code, result]) => checkCode(`UCUM ${String(code)}`, `url=http://unitsofmeasure.org&code=${encodeURIComponent(String(code))}`, { status: 200, result })), // prettier-ignore
  ...[['en-US', true], ['sr-Latn-RS', true], ['en_US', false], ['xx-yy-zz', false], ['sgn', true], ['mis', true], ['und', true], ['i-default', true], ['i-klingon', true], ['x-private', true], ['de-x-foo', true], ['en-u-co-phonebk', true], ['zh-yue', true], ['sl-rozaj-biske', true], ['en-GB-oed', true], ['qaa', true], ['EN-us', true], ['de--AT', false], ['de-', false], ['xx', false], ['de-Xxxx', false], ['en-a', false], ['en-u-aa-u-bb', false]].map(([code, result]) => checkCode(`language ${String(code)}`, `url=urn:ietf:bcp:47&code=${String(code)}`, { status: 200, result })), // prettier-ignore
  ...[['application/fhir+json', true], ['text/plain;charset=utf-8', true], ['json', false]].map(([code, result]) => checkCode(`media type ${String(code)}`, `url=urn:ietf:bcp:13&code=${encodeURIComponent(String(code))}`, { status: 200, result })), // prettier-ignore
  ...[['Asia/Kolkata', true], ['UTC', true], ['America/Argentina/Buenos_Aires', true], ['Mars/Base', false], ['utc', false]].map(([code, result]) => checkCode(`time zone ${String(code)}`, `url=https://www.iana.org/time-zones&code=${String(code)}`, { status: 200, result })), // prettier-ignore
  ...[['EUR', true], ['XXX', true], ['CHE', true], ['eur', false], ['ZZZ', false]].map(([code, result]) => checkCode(`currency ${String(code)}`, `url=urn:iso:std:iso:4217&code=${String(code)}`, { status: 200, result })), // prettier-ignore
];

/** Resources that come with the request, and several codings. */
const REQUESTS: readonly TerminologyCase[] = [
  posted('ValueSet/$expand', 'a code system in the request', [inline([{ system: 'http://tx.example' }]), tx({ concept: [{ code: 't' }] })], { codes: ['t'] }), // prettier-ignore
  posted('ValueSet/$expand', 'it goes before what is stored', [uri('url', `${VS}/all`), tx({ url: CS, version: '9', concept: [{ code: 'only' }] })], { codes: ['only'] }), // prettier-ignore
  posted('ValueSet/$expand', 'a supplement in the request', [inline([{ system: `${ODD}/tongues` }]), tx({ url: 'http://tx.example/s', content: 'supplement', supplements: `${ODD}/tongues`, concept: [{ code: 'plain', designation: [{ language: 'de', value: 'Einfach' }] }] }), { name: 'displayLanguage', valueCode: 'de' }], { displays: ['Hallo', 'Einfach'] }), // prettier-ignore
  posted('ValueSet/$expand', 'a cache-id changes nothing', [uri('url', `${VS}/isa`), { name: 'cache-id', valueId: 'c1' }], { codes: ['b', 'c'] }), // prettier-ignore
  posted('ValueSet/$expand', 'what came with one request is not there in the next', [inline([{ system: 'http://tx.example' }])], { status: 404 }), // prettier-ignore
  posted('ValueSet/$expand', 'imports in a version, and an exclusion', [inline([{ valueSet: [`${FHIR}/administrative-gender|5.0.0`] }], { exclude: [{ system: 'http://hl7.org/fhir/administrative-gender', concept: [{ code: 'unknown' }] }] })], { total: 3 }), // prettier-ignore
  posted('ValueSet/$expand', 'the same system twice: each code once', [inline([{ system: OTHER }, { system: OTHER }])], { codes: ['b', 'z'], total: 2 }), // prettier-ignore
  posted('ValueSet/$expand', 'a version of a shipped system that is not there', [inline([{ system: 'http://hl7.org/fhir/administrative-gender', version: '4.0.1' }])], { status: 404 }), // prettier-ignore
  posted('ValueSet/$expand', 'units that are none are left out of a list', [inline([{ system: 'http://unitsofmeasure.org', concept: [{ code: 'mg' }, { code: 'nope' }] }])], { codes: ['mg'] }), // prettier-ignore
  posted('ValueSet/$validate-code', 'a coding with its version', [uri('url', `${VS}/isa`), coding('coding', CS, 'c', { version: '1' })], { result: true, version: '1' }), // prettier-ignore
  posted('ValueSet/$validate-code', 'a coding of an unknown version', [uri('url', `${VS}/isa`), coding('coding', CS, 'c', { version: '9' })], { status: 200, result: false, issues: ['not-found'] }), // prettier-ignore
  posted('ValueSet/$validate-code', 'a CodeableConcept with a wrong display', [uri('url', `${VS}/isa`), concept({ system: CS, code: 'c', display: 'Wrong' })], { result: false, display: 'Gamma ray' }), // prettier-ignore
  posted('ValueSet/$validate-code', 'a CodeableConcept with a code that does not exist beside a right one', [uri('url', `${VS}/isa`), concept({ system: CS, code: 'c' }, { system: CS, code: 'nope' })], { result: false }), // prettier-ignore
  posted('ValueSet/$validate-code', 'membership alone', [uri('url', `${VS}/isa`), concept({ system: CS, code: 'c' }, { system: CS, code: 'nope' }), { name: 'valueset-membership-only', valueBoolean: true }], { result: true }), // prettier-ignore
  ...['ValueSet', 'CodeSystem'].map((type) => posted(`${type}/$validate-code`, 'a CodeableConcept with a text alone', [uri('url', type === 'ValueSet' ? `${VS}/isa` : CS), { name: 'codeableConcept', valueCodeableConcept: { text: 'words' } }], { status: 200, result: false, message: contains('no code') })), // prettier-ignore
  posted('ValueSet/$validate-code', 'two CodeableConcepts', [uri('url', `${VS}/isa`), concept({ system: CS, code: 'c' }), concept({ system: CS, code: 'c' })], { status: 400 }), // prettier-ignore
  posted('ValueSet/$validate-code', 'a coding where a code belongs', [uri('url', `${VS}/isa`), { name: 'code', valueCoding: { code: 'c' } }], { status: 400 }), // prettier-ignore
  posted('CodeSystem/$validate-code', 'a coding alone names its system', [coding('coding', CS, 'c')], { result: true }),
  posted('CodeSystem/$validate-code', 'codings of several systems', [uri('url', CS), concept({ system: OTHER, code: 'z' }, { system: CS, code: 'c' })], { result: true, code: 'c' }), // prettier-ignore
  posted('CodeSystem/$lookup', 'a code as a string, a system as a canonical', [{ name: 'code', valueString: 'b' }, { name: 'system', valueCanonical: CS }], { display: 'Beta' }), // prettier-ignore
  posted('CodeSystem/$lookup', 'a coding of a version', [coding('coding', CS, 'g', { version: '1' })], { status: 404 }),
  posted('CodeSystem/$lookup', 'a coding without a code', [{ name: 'coding', valueCoding: { system: CS } }], { status: 400 }), // prettier-ignore
  lookup('a system with its version', `system=${CS}|1&code=b`, { version: '1', display: 'Beta' }),
  check('an empty code is none', `url=${VS}/isa&system=${CS}&code=`, { status: 400 }),
  check('a system that is no URL', `url=${VS}/isa&system=cases&code=c`, { status: 200, result: false }),
  check('an unknown supplement', `url=${VS}/isa&system=${CS}&code=c&useSupplement=http://nowhere.example`, { status: 404 }), // prettier-ignore
  check('force-system-version', `url=${VS}/one&system=${CS}&code=g&force-system-version=${CS}|2`, { result: true, version: '2' }), // prettier-ignore
  check('system-version', `url=${VS}/all&system=${CS}&code=g&system-version=${CS}|1`, { result: false }),
  check('check-system-version', `url=${VS}/all&system=${CS}&code=b&check-system-version=${CS}|1`, { result: true, version: '1' }), // prettier-ignore
];

/** Value sets that a code system implies, in a version: what is not there is not found, and is never another version. */
const IMPLIED: readonly TerminologyCase[] = [
  ...['', '?fhir_vs', '/vs'].flatMap((form) => [
    expand(`${form}|1: the codes of version 1`, `url=${encodeURIComponent(`${CS}${form}|1`)}`, { total: 6 }),
    expand(`${form}|9: a version that is not there`, `url=${encodeURIComponent(`${CS}${form}|9`)}`, { status: 404 }),
  ]),
  expand('valueSetVersion', `url=${CS}&valueSetVersion=1`, { total: 6 }),
  expand('valueSetVersion that is not there', `url=${CS}&valueSetVersion=9`, { status: 404 }),
  expand('a version that the package lacks', 'url=http://hl7.org/fhir/administrative-gender|4.0.1', { status: 404 }),
  check('a code that version 1 lacks', `url=${CS}|1&system=${CS}&code=g`, { status: 200, result: false }),
  check('a code that version 2 has', `url=${CS}|2&system=${CS}&code=g`, { status: 200, result: true }),
  posted('ValueSet/$expand', 'an import in a version', [inline([{ valueSet: [`${CS}?fhir_vs|1`] }])], { total: 6 }),
  check('a rule is of any version', 'url=http://unitsofmeasure.org/vs|2.1&system=http://unitsofmeasure.org&code=mg', { result: true }), // prettier-ignore
];

/** Concept maps. */
const MAPS: readonly TerminologyCase[] = [
  translate('other-map: found in the first', `url=${ODD}/map/chain-1&system=${ODD}&sourceCode=a`, { result: true, match: targets('A') }), // prettier-ignore
  translate('other-map: found in the second', `url=${ODD}/map/chain-1&system=${ODD}&sourceCode=b`, { result: true, match: targets('B') }), // prettier-ignore
  translate('other-map: noMap in the third', `url=${ODD}/map/chain-1&system=${ODD}&sourceCode=c`, { result: false, match: undefined }), // prettier-ignore
  translate('other-map: what the last does not map', `url=${ODD}/map/chain-1&system=${ODD}&sourceCode=x`, { result: true, match: targets('Z') }), // prettier-ignore
  translate('other-map that is not there', `url=${ODD}/map/chain-lost&system=${ODD}&sourceCode=x`, { status: 404 }),
  translate('other-map: the mapping comes from the second', `url=${ODD}/map/chain-1&system=${ODD}&sourceCode=b`, { match: [{ originMap: `${ODD}/map/chain-2` }] }), // prettier-ignore
  translate('without a map: one that refers to an unknown map is left out, and named', `system=${ODD}/lost&sourceCode=a`, { status: 200, result: true, match: targets('A'), message: contains(`${ODD}/map/nowhere`) }), // prettier-ignore
  translate('without a map: one that refers to itself is left out, and named', `system=${ODD}/loop&sourceCode=a`, { status: 200, result: false, match: undefined, message: contains('refers to itself') }), // prettier-ignore
  translate('that map, named', `url=${ODD}/map/loop&system=${ODD}/loop&sourceCode=a`, { status: 422 }),
  translate('a system that does not tell case apart', `url=${ODD}/map/any-case&system=${ODD}/any-case&sourceCode=upper`, { result: true, match: targets('U') }), // prettier-ignore
  translate('one that does', `url=${MAP}/main&system=${CS}&sourceCode=B`, { result: false }),
  ...['sourceCoding', 'targetCoding'].flatMap((name) => [['a map', [uri('url', `${MAP}/same`)]], ['no map', []]].map(([which, rows]) => posted('ConceptMap/$translate', `${name} without a system, ${String(which)}`, [...(rows as object[]), { name, valueCoding: { code: 'b' } }], { status: 400 }))), // prettier-ignore
  posted('ConceptMap/$translate', 'a coding whose system is a parameter', [uri('url', `${MAP}/main`), uri('system', CS), { name: 'sourceCoding', valueCoding: { code: 'c' } }], { result: true, match: targets('B') }), // prettier-ignore
  posted('ConceptMap/$translate', 'a CodeableConcept: a coding without a system is passed over', [uri('url', `${MAP}/main`), { name: 'sourceCodeableConcept', valueCodeableConcept: { coding: [{ code: 'b' }, { system: CS, code: 'c' }] } }], { result: true, match: targets('B') }), // prettier-ignore
  translate('a version of the source', `url=${ODD}/map/versioned&system=${ODD}&version=1&sourceCode=a`, { result: true, match: [{ concept: { system: 'http://t1.example', version: '4', code: 'A' } }] }), // prettier-ignore
  translate('another version of the source', `url=${ODD}/map/versioned&system=${ODD}&version=2&sourceCode=a`, { result: false }), // prettier-ignore
  translate('a value set as the source', `url=${ODD}/map/by-set&system=${ODD}/poly&sourceCode=left`, { result: true, match: targets('ANY') }), // prettier-ignore
  translate('a code that is not in the value set', `url=${ODD}/map/by-set&system=${ODD}/poly&sourceCode=nope`, { result: false }), // prettier-ignore
  translate('a target code with the system of the target', `url=${MAP}/main&targetCode=B&targetSystem=${TARGET}`, { result: true, match: targets('b', 'c') }), // prettier-ignore
  translate('a target code without any system', `url=${MAP}/main&targetCode=B`, { status: 400 }),
  translate('reverse=false', `url=${MAP}/main&system=${TARGET}&code=B&reverse=false`, { result: false }),
  ...[['x', targets('A')], ['y', undefined]].map(([code, match]) => posted('ConceptMap/$translate', `dependency by the names of R4, ${String(code)}`, [uri('url', `${ODD}/map/depends`), coding('coding', ODD, 'a'), { name: 'dependency', part: [uri('element', 'http://side.example'), { name: 'concept', valueCodeableConcept: { coding: [{ system: 'http://s.example', code }] } }] }], { status: 200, match })), // prettier-ignore
  translate('a version of the map that is not there', `url=${MAP}/main&conceptMapVersion=3&system=${CS}&sourceCode=b`, { status: 404 }), // prettier-ignore
  translate('shipped maps', 'system=http://hl7.org/fhir/administrative-gender&code=male&targetsystem=http://terminology.hl7.org/CodeSystem/v2-0001', { result: true, match: targets('M') }), // prettier-ignore
  posted('ConceptMap/$translate', 'a CodeableConcept without codings', [uri('url', `${MAP}/main`), { name: 'sourceCodeableConcept', valueCodeableConcept: { text: 'x' } }], { status: 400 }), // prettier-ignore
  posted('ConceptMap/$translate', 'targetCodeableConcept', [uri('url', `${MAP}/main`), { name: 'targetCodeableConcept', valueCodeableConcept: { coding: [{ system: TARGET, code: 'B' }] } }], { result: true, match: targets('b', 'c') }), // prettier-ignore
];

/** $find-matches (codesystem-operation-find-matches.html) */
const MATCHES: readonly TerminologyCase[] = [
  posted('CodeSystem/$find-matches', '"exact" is required', [uri('system', CS), wanted('weight', { valueDecimal: 2.5 })], { status: 400 }), // prettier-ignore
  posted('CodeSystem/$find-matches', 'a property is required', [uri('system', CS), { name: 'exact', valueBoolean: true }], { status: 400 }), // prettier-ignore
  posted('CodeSystem/$find-matches', 'a property without a value', [uri('system', CS), { name: 'exact', valueBoolean: true }, { name: 'property', part: [{ name: 'code', valueCode: 'weight' }] }], { status: 400 }), // prettier-ignore
  at('CodeSystem/$find-matches')('a property in the URL has no parts', `system=${CS}&exact=true&property=weight`, { status: 400 }), // prettier-ignore
  posted('CodeSystem/$find-matches', 'an unknown system', [uri('system', 'http://nowhere.example'), { name: 'exact', valueBoolean: true }, wanted('weight', { valueDecimal: 2.5 })], { status: 404 }), // prettier-ignore
  posted('CodeSystem/$find-matches', 'all that are given', [uri('system', CS), { name: 'exact', valueBoolean: true }, wanted('weight', { valueDecimal: 2.5 })], { match: [{ code: { code: 'b' } }] }), // prettier-ignore
  posted('CodeSystem/$find-matches', 'words of the display, and what is lacking', [uri('system', CS), { name: 'exact', valueBoolean: false }, wanted('display', { valueString: 'gam' }), wanted('weight', { valueDecimal: 2.5 })], { match: [{ code: { code: 'b' }, unmatched: [{ valueCode: 'display' }, { valueString: 'gam' }] }, { code: { code: 'c' }, unmatched: [{ valueCode: 'weight' }, { valueDecimal: 2.5 }] }] }), // prettier-ignore
  posted('CodeSystem/$find-matches', 'exact: words are not enough', [uri('system', CS), { name: 'exact', valueBoolean: true }, wanted('display', { valueString: 'gam' })], { status: 200, match: undefined }), // prettier-ignore
  posted('CodeSystem/cs-1/$find-matches', 'at an instance, by parent', [{ name: 'exact', valueBoolean: true }, wanted('parent', { valueCode: 'a' })], { match: [{ code: { code: 'b' } }, { code: { code: 'd' } }, { code: { code: 'e' } }] }), // prettier-ignore
];

function wanted(code: string, value: object): object {
  return { name: 'property', part: [{ name: 'code', valueCode: code }, { name: 'value', ...value }] }; // prettier-ignore
}

/** A text that contains another, wherever `toEqual` looks. */
function contains(part: string): object {
  return { asymmetricMatch: (value: unknown) => typeof value === 'string' && value.includes(part) };
}

/** Odd forms, and sentences of the pages of CodeSystem, ValueSet and ConceptMap, by what they are about. */
export const ODD_CASES: Readonly<Record<string, readonly TerminologyCase[]>> = {
  'inactive and abstract codes (codesystem-concept-properties)': STATES,
  'languages and displays': TONGUES,
  'types of properties': TYPES,
  'hierarchies (codesystem.html#hierarchy)': HIERARCHIES,
  'CodeSystem.content (valueset-codesystem-content-mode)': CONTENT,
  'code systems of the official expansions': OFFICIAL,
  'systems by rule': RULES,
  'resources of the request and several codings': REQUESTS,
  'value sets that code systems imply (terminology-service.html#validation)': IMPLIED,
  'concept maps (conceptmap.html)': MAPS,
  '$find-matches': MATCHES,
};
