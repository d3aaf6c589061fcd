import type { AggregationRow, ProfileTypeRow } from '../../../contract/profiles.js';
import type { ElementRow } from '../../../contract/types.js';
import type { FhirTypes } from '../fhir-types.js';
import { CORE, unversioned, type DefinedElement, type DefinedType } from './structure-definition.js';

/** https://hl7.org/fhir/extensions/StructureDefinition-elementdefinition-profile-element.html */
const PROFILE_ELEMENT = 'http://hl7.org/fhir/StructureDefinition/elementdefinition-profile-element';

/**
 * The types that an element is restricted to; undefined: it has those that its type gives it.
 *
 * @param own types of its values, those of a slice already those of the slice
 */
export function typesOf(
  { type: defined }: DefinedElement,
  base: ElementRow,
  own: readonly string[],
  types: FhirTypes,
): readonly ProfileTypeRow[] | undefined {
  if (defined === undefined || defined.length === 0) return undefined;
  const rows = defined.map((each) => typeRow(each, base, own, types));
  const codes = new Set(rows.map(({ code }) => code));
  const isRestricted = !codes.has(undefined) && !base.types.every((type) => codes.has(type));
  return isRestricted || rows.some(saysMore) ? rows : undefined;
}

/** Whether a row has more than a type. */
function saysMore({ profiles, targets, aggregation }: ProfileTypeRow): boolean {
  return profiles !== undefined || targets !== undefined || aggregation !== undefined;
}

function typeRow(type: DefinedType, base: ElementRow, own: readonly string[], types: FhirTypes): ProfileTypeRow {
  // Backbone elements, and ids, whose types are of FHIRPath.
  const isOwn = type.code.includes('/') || own.some((each) => types.kindOf(each) === 'backbone');
  const profiles = profilesOf(type);
  const targets = targetsOf(type, base);
  const aggregation = aggregationOf(type);
  return {
    ...(!isOwn && { code: type.code }),
    ...(profiles.length > 0 && { profiles }),
    ...(targets !== undefined && { targets }),
    ...(aggregation !== undefined && { aggregation }),
  };
}

function profilesOf({ code, profile = [], _profile: beside = [] }: DefinedType): string[] {
  return profile
    .map((url, i) => {
      const element = beside[i]?.extension?.find((each) => each.url === PROFILE_ELEMENT)?.valueString;
      return element === undefined ? url : `${url}#${element}`;
    })
    .filter((url) => url !== CORE + code);
}

/** Undefined: those of the type, or any. */
function targetsOf({ code, targetProfile = [] }: DefinedType, base: ElementRow): string[] | undefined {
  const urls = targetProfile.map(withoutRelease);
  if (urls.length === 0 || urls.includes(`${CORE}Resource`)) return undefined;
  const given = base.targets?.[code]?.map((name) => CORE + name);
  const isSame = given !== undefined && given.length === urls.length && given.every((url) => urls.includes(url));
  return isSame ? undefined : urls;
}

const AGGREGATIONS: ReadonlySet<string> = new Set(['contained', 'bundled', 'referenced']);

/** Undefined: anywhere. */
function aggregationOf({ aggregation = [] }: DefinedType): AggregationRow[] | undefined {
  const known = aggregation.filter((each): each is AggregationRow => AGGREGATIONS.has(each));
  return known.length === 0 || known.length === AGGREGATIONS.size ? undefined : known;
}

/** The package has definitions of one release only. */
function withoutRelease(canonical: string): string {
  return canonical.startsWith(CORE) ? unversioned(canonical) : canonical;
}
