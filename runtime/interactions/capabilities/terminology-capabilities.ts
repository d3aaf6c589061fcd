import type { Services } from '../../core/services.js';
import { formatInstant } from '../../fhir/instant.js';
import { PRODUCT } from '../../fhir/product.js';
import type { JsonObject, Resource } from '../../fhir/resource.js';

/** Date of the statements: when this process began, so that the same statement is the same text. */
export const BEGUN = formatInstant(Date.now());

/** Composes the TerminologyCapabilities of the terminology operations. https://hl7.org/fhir/R5/terminologycapabilities.html */
export function composeTerminology({ baseUrl, knownSystems, operations, tables }: Services): Resource {
  const expand = tables.operations.find(({ id }) => id === 'ValueSet-expand');
  return {
    resourceType: 'TerminologyCapabilities',
    name: 'KilnTerminology',
    title: 'Kiln FHIR server: terminology',
    status: 'active',
    date: BEGUN,
    description:
      'Code systems, value sets and concept maps of the FHIR package, stored ones, and those that come with a request. By ' +
      'rule: UCUM, BCP 47, media types, ISO 4217, ISO 3166 and IANA time zones. Stored code systems are not listed here: ' +
      'search for CodeSystem.',
    kind: 'instance',
    software: PRODUCT,
    implementation: { description: 'Kiln FHIR server', ...(baseUrl === undefined ? {} : { url: baseUrl }) },
    lockedDate: false,
    codeSystem: knownSystems().map(({ uri, version, content, subsumption }): JsonObject => ({
      uri,
      ...(version !== undefined && { version: [{ code: version, isDefault: true }] }),
      ...{ content, subsumption },
    })),
    expansion: {
      hierarchical: true,
      paging: true,
      incomplete: false,
      parameter: (expand?.parameters ?? [])
        .filter(({ use, name }) => use === 'in' && name !== 'contextDirection')
        .map(({ name }): JsonObject => ({ name })),
      textFilter:
        'Each word of the filter begins a word of the code, the display or a designation; case and accents do not count.',
    },
    codeSearch: 'in-compose-or-expansion',
    validateCode: { translations: false },
    translation: { needsMap: false },
    ...(operations.has('ConceptMap-closure') && { closure: { translation: false } }),
  };
}
