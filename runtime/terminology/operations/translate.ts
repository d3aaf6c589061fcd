import type { Call, Reply } from '../../core/call.js';
import type { Services } from '../../core/services.js';
import { FhirError } from '../../fhir/errors.js';
import { isObject, type JsonObject, type JsonValue, type Resource } from '../../fhir/resource.js';
import { shippedUrls } from '../shipped.js';
import { splitCanonical } from '../resolver.js';
import { isMatch, translate, valueIn, type CodeOf, type Translation } from '../translate.js';
import { findMember } from '../value-set.js';
import { valueOf } from '../../operations/common/arguments.js';
import { findMatches } from '../../operations/common/find-matches.js';
import { codingsIn } from './code-system.js';
import { findNamed, more, openTerminology, resourceOf, type TerminologyCall } from './context.js';

/** The names of R4, and types that the definition of R5 has wrong. */
const OTHERS = [
  more('code', 'code'),
  more('coding', 'Coding'),
  more('codeableConcept', 'CodeableConcept'),
  more('targetCode', 'code'),
  more('targetCoding', 'Coding'),
  more('targetCodeableConcept', 'CodeableConcept'),
  more('sourceSystem', 'uri'),
  more('source', 'uri'),
  more('target', 'uri'),
  more('targetsystem', 'uri'),
  more('reverse', 'boolean'),
  { ...more('dependency', 'BackboneElement', '*'), parts: [more('attribute', 'uri'), more('value', 'Any'), more('element', 'uri'), more('concept', 'CodeableConcept')] }, // prettier-ignore
];

/** Maps that are tried where none is named. */
const MOST_MAPS = 200;

/**
 * `ConceptMap/$translate`: what concept maps make of a code. Without a map all that fit the scopes are asked.
 * https://hl7.org/fhir/R5/conceptmap-operation-translate.html
 *
 * @throws FhirError `parameter-invalid` unless there is exactly one code to translate, `terminology-not-found`
 */
export async function translateCode(call: Call, services: Services): Promise<Reply> {
  const opened = openTerminology(call, services, OTHERS);
  const { text, context, isSet } = opened;
  const { codes: sent, isReverse, takesTarget } = askedOf(opened, isSet('reverse'));
  const targetSystem = takesTarget === true ? undefined : (text('targetSystem') ?? text('targetsystem'));
  const options = {
    isReverse,
    dependencies: dependenciesOf(opened),
    ...(targetSystem !== undefined && { targetSystem }),
  };
  const maps = await mapsOf(opened, call, services);
  const isNamed = namesMap(opened, call);
  const [from, to] = isReverse ? ['target', 'source'] : ['source', 'target'];
  const found: Translation[] = [];
  const skipped: string[] = [];
  const codes: CodeOf[] = [];
  for (const each of sent) codes.push(await withCase(each, opened));
  for (const map of maps) {
    for (const code of codes) {
      if (isNamed && !(await isWithin(code, scopeOf(opened, from), map, opened))) continue;
      const translations = await translate(map, code, options, context).catch((error: unknown) => {
        if (isNamed || !isFaultOfMap(error)) throw error;
        skipped.push(`The map ${String(map['url'] ?? map['id'])} was left out: ${error.message}`);
        return [];
      });
      for (const each of translations) {
        const { system, code: result } = each.concept as { system?: string; code?: string };
        const target = { ...(system !== undefined && { system }), code: result ?? '' };
        if (!isNamed || result === undefined || (await isWithin(target, scopeOf(opened, to), map, opened)))
          found.push(each);
      }
    }
  }
  const result = found.some(isMatch);
  const none = found.length === 0 ? 'No map translates the code' : 'No match: the maps say that nothing corresponds';
  const message = [...(result ? [] : [none]), ...new Set(skipped)].join('; ');
  const parameter = [
    { name: 'result', valueBoolean: result },
    ...(message === '' ? [] : [{ name: 'message', valueString: message }]),
    ...found.map((each) => ({ name: 'match', part: partsOf(each) })),
  ];
  return { status: 200, resource: { resourceType: 'Parameters', parameter } as JsonObject };
}

/** Whether a map cannot be used, or refers to what the server does not know: where maps are chosen for the client, the others still count. */
function isFaultOfMap(error: unknown): error is FhirError {
  return error instanceof FhirError && FAULTS_OF_MAPS.has(error.issues[0].code);
}

const FAULTS_OF_MAPS: ReadonlySet<unknown> = new Set(['terminology-not-found', 'concept-map-invalid', 'value-set-invalid']); // prettier-ignore

/** A code, with what its system says of case. */
async function withCase(asked: CodeOf, { resolver }: TerminologyCall): Promise<CodeOf> {
  const index = asked.system === undefined ? undefined : await resolver.codeSystem(asked.system, asked.version);
  return index?.ignoresCase === true ? { ...asked, ignoresCase: true } : asked;
}

function partsOf({ relationship, concept, originMap, dependsOn, products, properties }: Translation): JsonValue[] {
  const values = (name: string, key: string, list: readonly JsonObject[]): JsonValue[] =>
    list.map((each) => {
      const value = valueIn(each);
      const attribute = each['attribute'] ?? each['property'] ?? each['code'];
      return {
        name,
        part: [
          ...(attribute === undefined ? [] : [{ name: key, valueUri: attribute }]),
          ...(value === undefined ? [] : [{ name: 'value', [value[0]]: value[1] }]),
        ],
      } as JsonValue;
    });
  return [
    { name: 'relationship', valueCode: relationship },
    ...(Object.keys(concept).length === 0 ? [] : [{ name: 'concept', valueCoding: concept }]),
    ...values('property', 'uri', properties),
    ...values('product', 'attribute', products),
    ...values('dependsOn', 'attribute', dependsOn),
    ...(originMap === '' ? [] : [{ name: 'originMap', valueUri: originMap }]),
  ] as JsonValue[];
}

/** What the client says of other attributes: the first value of each counts. */
function dependenciesOf({ found }: TerminologyCall): ReadonlyMap<string, JsonValue> {
  const values = new Map<string, JsonValue>();
  for (const each of found.get('dependency') ?? []) {
    if (!('parts' in each)) continue;
    const part = (name: string): JsonValue | undefined => valueOf(each.parts, name);
    const [attribute, value] = [part('attribute') ?? part('element'), part('value') ?? codingsIn(part('concept'))[0]];
    if (attribute === undefined || value === undefined || values.has(String(attribute))) continue;
    values.set(String(attribute), value);
  }
  return values;
}

function scopeOf({ text }: TerminologyCall, side: string): string | undefined {
  return text(`${side}Scope`) ?? text(side);
}

/** Whether a code is in the value set that limits one side. The scope of the map itself limits nothing. @throws FhirError `terminology-not-found` */
async function isWithin(
  { system, code }: CodeOf,
  scope: string | undefined,
  map: Resource,
  opened: TerminologyCall,
): Promise<boolean> {
  if (scope === undefined || isScope(map, 'source', scope) || isScope(map, 'target', scope)) return true;
  const valueSet = await findNamed('ValueSet', scope, undefined, opened);
  if (valueSet === undefined) throw new FhirError('terminology-not-found', `The server does not know the ValueSet ${JSON.stringify(scope)}`); // prettier-ignore
  return system !== undefined && (await findMember(valueSet, { system, code }, opened.context)) !== undefined;
}

interface Asked {
  readonly codes: readonly CodeOf[];
  readonly isReverse: boolean;
  /** The target system is that of the target code, for want of a system, and limits nothing. */
  readonly takesTarget?: boolean;
}

/** The code to translate, and in which direction. @throws FhirError `parameter-invalid` */
function askedOf(opened: TerminologyCall, isReverse: boolean): Asked {
  const { found } = opened;
  const sources = formsOf(
    opened,
    ['sourceCode', 'code'],
    ['sourceCoding', 'coding'],
    ['sourceCodeableConcept', 'codeableConcept'],
  );
  const targets = formsOf(opened, ['targetCode'], ['targetCoding'], ['targetCodeableConcept']);
  if (sources.length + targets.length !== 1) {
    throw new FhirError(
      'parameter-invalid',
      'Give exactly one of "sourceCode", "sourceCoding", "sourceCodeableConcept", "targetCode", "targetCoding" and "targetCodeableConcept"',
    );
  }
  const [name] = [...sources, ...targets] as [string];
  const own = opened.text('sourceSystem') ?? opened.text('system');
  const takesTarget = own === undefined && targets.length > 0;
  const system = takesTarget ? opened.text('targetSystem') : own;
  const version = opened.text('version');
  const value = valueOf(found, name)!;
  if (typeof value === 'string') {
    if (system === undefined) throw new FhirError('parameter-invalid', `"${name}" needs "system"`);
    return {
      codes: [{ system, code: value, ...(version !== undefined && { version }) }],
      isReverse: isReverse || targets.length > 0,
      takesTarget,
    };
  }
  const codings = isObject(value) && 'coding' in value ? codingsIn(value) : [value as JsonObject];
  const codes = codings.flatMap(({ system: of, code, version: own }): readonly CodeOf[] => {
    if (typeof code !== 'string') throw new FhirError('parameter-invalid', `The parameter "${name}" has no code`);
    const its = typeof of === 'string' ? of : codings.length === 1 ? system : undefined;
    return its === undefined ? [] : [{ code, system: its, ...(typeof own === 'string' && { version: own }) }];
  });
  // "If a code is provided, a system must be provided". A code of no system means nothing, so no map can translate it.
  if (codes.length === 0) throw new FhirError('parameter-invalid', `"${name}" needs the system of its code`);
  return { codes, isReverse: isReverse || targets.length > 0 };
}

function formsOf({ found }: TerminologyCall, ...names: readonly (readonly string[])[]): readonly string[] {
  return names.flat().filter((name) => found.has(name));
}

/** The map that is named, or all whose scopes fit. */
async function mapsOf(opened: TerminologyCall, call: Call, services: Services): Promise<readonly Resource[]> {
  const { text, resolver } = opened;
  const names = { url: 'url', version: 'conceptMapVersion', resource: 'conceptMap' };
  if (namesMap(opened, call)) return [await resourceOf('ConceptMap', names, opened, call, services)];
  const [source, target] = [text('sourceScope') ?? text('source'), text('targetScope') ?? text('target')];
  const fits = (map: Resource): boolean => isScope(map, 'source', source) && isScope(map, 'target', target);
  const maps: Resource[] = [];
  if (call.principal.access.on('ConceptMap', 's') !== 'nothing') {
    for await (const map of findMatches('ConceptMap', [['status:not', 'retired']], call, services)) {
      if (fits(map)) maps.push(map);
      if (maps.length >= MOST_MAPS) break;
    }
  }
  for (const url of shippedUrls('ConceptMap')) {
    if (maps.some((each) => each['url'] === url)) continue;
    const map = await resolver.conceptMap(url);
    await opened.context.effort.pace();
    if (map !== undefined && fits(map)) maps.push(map);
  }
  return maps;
}

function namesMap({ found, text }: TerminologyCall, call: Call): boolean {
  return call.id !== undefined || text('url') !== undefined || found.has('conceptMap');
}

function isScope(map: Resource, side: 'source' | 'target', asked: string | undefined): boolean {
  if (asked === undefined) return true;
  const own = [`${side}ScopeUri`, `${side}ScopeCanonical`, `${side}Uri`, `${side}Canonical`].map((name) => map[name]);
  return own.some((each) => typeof each === 'string' && splitCanonical(each)[0] === splitCanonical(asked)[0]);
}
