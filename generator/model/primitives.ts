import type { FhirElement, StructureDefinition } from '../load/fhir-json.js';
import type { PrimitiveModel } from './model.js';
import { byCodePoint, tail } from './names.js';

const REGEX = 'http://hl7.org/fhir/StructureDefinition/regex';

/** JSON forms that are not strings. integer64 is one: a double cannot hold it. https://hl7.org/fhir/R5/json.html#primitive */
const JSON_FORM: Readonly<Record<string, 'number' | 'boolean'>> = {
  boolean: 'boolean',
  decimal: 'number',
  integer: 'number',
  positiveInt: 'number',
  unsignedInt: 'number',
};

/** The primitive types. https://hl7.org/fhir/R5/datatypes.html#primitive */
export function buildPrimitives(definitions: readonly StructureDefinition[]): PrimitiveModel[] {
  const primitives = definitions.filter(
    (definition) => definition.kind === 'primitive-type' && definition.derivation !== 'constraint',
  );
  const names = new Set(primitives.map((definition) => definition.type));
  return primitives
    .map((definition) => {
      const value = definition.snapshot.element.find((element) => element.path === `${definition.type}.value`);
      const base = tail(definition.baseDefinition ?? '');
      const pattern = patternOf(value);
      const [min, max] = boundsOf(definition.type, value);
      return {
        name: definition.type,
        ...(names.has(base) ? { base } : {}),
        json: JSON_FORM[definition.type] ?? ('string' as const),
        ...(pattern === undefined ? {} : { pattern }),
        ...(min === undefined ? {} : { min }),
        ...(max === undefined ? {} : { max }),
        ...(value?.maxLength === undefined ? {} : { maxLength: value.maxLength }),
        url: definition.url,
        definition: definition.description ?? '',
      };
    })
    .sort((a, b) => byCodePoint(a.name, b.name));
}

/** The pattern without the anchors that some definitions have: it is always matched against the whole value. */
function patternOf(value: FhirElement | undefined): string | undefined {
  const extensions = value?.type?.flatMap((type) => type.extension ?? []) ?? [];
  const pattern = extensions.find((extension) => extension.url === REGEX)?.valueString;
  return pattern?.replace(/^\^/, '').replace(/\$$/, '');
}

/** positiveInt and unsignedInt are bounded by their pattern, and like integer by 32 bits. */
function boundsOf(type: string, value: FhirElement | undefined): [string | undefined, string | undefined] {
  const min = value?.minValueInteger ?? value?.minValueInteger64;
  const max = value?.maxValueInteger ?? value?.maxValueInteger64;
  if (type === 'positiveInt') return ['1', '2147483647'];
  if (type === 'unsignedInt') return ['0', '2147483647'];
  return [min === undefined ? undefined : String(min), max === undefined ? undefined : String(max)];
}
