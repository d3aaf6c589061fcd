import type { JsonObject, JsonValue, Resource } from '../fhir/resource.js';
import { objectsOf } from './concepts.js';
import type { Resolver } from './resolver.js';

/** A code of a system. */
export interface CodeOf {
  readonly system?: string;
  readonly code: string;
}

/** A concept that a map leads to, or, reversed, one that leads there. */
export interface Translation {
  readonly relationship: string;
  readonly concept: JsonObject;
  readonly originMap: string;
  readonly dependsOn: readonly JsonObject[];
  readonly products: readonly JsonObject[];
}

/** What is wanted of translations. */
export interface TranslationOptions {
  /** From the target to the source. */
  readonly isReverse: boolean;
  /** System of the result; absent: any. */
  readonly targetSystem?: string;
}

/** Maps that one may refer to, one after the other. */
const DEEPEST = 10;

/** The relationship seen from the other side. */
const REVERSED: Readonly<Record<string, string>> = {
  'source-is-narrower-than-target': 'source-is-broader-than-target',
  'source-is-broader-than-target': 'source-is-narrower-than-target',
};

/** R4 named how codes relate from the side of the target. https://hl7.org/fhir/R4/valueset-concept-map-equivalence.html */
const EQUIVALENCES: Readonly<Record<string, string>> = {
  relatedto: 'related-to',
  equivalent: 'equivalent',
  equal: 'equivalent',
  wider: 'source-is-narrower-than-target',
  subsumes: 'source-is-broader-than-target',
  narrower: 'source-is-broader-than-target',
  specializes: 'source-is-narrower-than-target',
  inexact: 'related-to',
  unmatched: 'not-related-to',
  disjoint: 'not-related-to',
};

/**
 * What a concept map makes of a code. https://hl7.org/fhir/R5/conceptmap-operation-translate.html
 *
 * @param resolver finds other maps that a group refers to for what it does not map
 */
export async function translate(
  map: Resource,
  asked: CodeOf,
  options: TranslationOptions,
  resolver: Resolver,
  depth = 0,
): Promise<readonly Translation[]> {
  const originMap = String(map['url'] ?? '');
  const found: Translation[] = [];
  for (const group of objectsOf(map['group'])) {
    const [source, target] = [systemOf(group['source']), systemOf(group['target'])];
    const { from, to } = options.isReverse ? { from: target, to: source } : { from: source, to: target };
    if (asked.system !== undefined && from !== undefined && from !== asked.system) continue;
    if (options.targetSystem !== undefined && to !== undefined && to !== options.targetSystem) continue;
    if (options.isReverse) found.push(...reverseOf(group, asked, source, originMap));
    else found.push(...(await forwards(group, { asked, target, originMap, options, resolver, depth })));
  }
  return found;
}

/** Whether something relates to the code at all. */
export function isMatch({ relationship }: Translation): boolean {
  return relationship !== 'not-related-to';
}

interface Forwards {
  readonly asked: CodeOf;
  readonly target: string | undefined;
  readonly originMap: string;
  readonly options: TranslationOptions;
  readonly resolver: Resolver;
  readonly depth: number;
}

async function forwards(
  group: JsonObject,
  { asked, target, originMap, options, resolver, depth }: Forwards,
): Promise<readonly Translation[]> {
  const elements = objectsOf(group['element']).filter((each) => each['code'] === asked.code);
  if (elements.some((each) => each['noMap'] === true)) return [];
  if (elements.length > 0) {
    return elements.flatMap((element) =>
      objectsOf(element['target']).map((each) => toTranslation(each, target, originMap)),
    );
  }
  const { unmapped } = group as { unmapped?: JsonObject };
  if (unmapped === undefined) return [];
  const relationship = String(unmapped['relationship'] ?? 'related-to');
  const base = { originMap, dependsOn: [], products: [] };
  switch (unmapped['mode']) {
    case 'use-source-code':
    case 'provided':
      return [
        { ...base, relationship, concept: { ...(target !== undefined && { system: target }), code: asked.code } },
      ];
    case 'fixed': {
      const { code, display } = unmapped;
      const concept = {
        ...(target !== undefined && { system: target }),
        ...(code !== undefined && { code }),
        ...(display !== undefined && { display }),
      };
      return [{ ...base, relationship, concept: concept as JsonObject }];
    }
    case 'other-map': {
      const canonical = unmapped['otherMap'] ?? unmapped['url'];
      const other = typeof canonical === 'string' && depth < DEEPEST ? await resolver.conceptMap(canonical) : undefined;
      return other === undefined ? [] : translate(other, asked, options, resolver, depth + 1);
    }
    default:
      return [];
  }
}

function reverseOf(
  group: JsonObject,
  { code }: CodeOf,
  source: string | undefined,
  originMap: string,
): readonly Translation[] {
  return objectsOf(group['element']).flatMap((element) =>
    objectsOf(element['target'])
      .filter((each) => each['code'] === code)
      .map((each) => {
        const found = toTranslation(
          { ...each, code: element['code'], display: element['display'] } as JsonObject,
          source,
          originMap,
        );
        return { ...found, relationship: REVERSED[found.relationship] ?? found.relationship };
      }),
  );
}

function toTranslation(target: JsonObject, system: string | undefined, originMap: string): Translation {
  const { code, display, relationship, equivalence } = target;
  return {
    relationship: String(relationship ?? EQUIVALENCES[String(equivalence)] ?? 'related-to'),
    concept: {
      ...(system !== undefined && { system }),
      ...(code !== undefined && { code }),
      ...(display !== undefined && { display }),
    } as JsonObject,
    originMap,
    dependsOn: objectsOf(target['dependsOn']),
    products: objectsOf(target['product']),
  };
}

function systemOf(value: JsonValue | undefined): string | undefined {
  return typeof value === 'string' ? value.split('|')[0] : undefined;
}
