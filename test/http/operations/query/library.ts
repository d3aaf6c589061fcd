import type { JsonObject } from '../../../../runtime/fhir/resource.js';

const TYPES = 'http://hl7.org/fhir/uv/sql-on-fhir/CodeSystem/LibraryTypesCodes';

/** Library with SQL. @param tables canonicals by label */
export function library(
  sql: string,
  tables: Readonly<Record<string, string>> = {},
  more: JsonObject = {},
  kind = 'sql-query',
): JsonObject {
  const relatedArtifact = Object.entries(tables).map(([label, resource]) => ({ type: 'depends-on', resource, label }));
  return {
    ...{ resourceType: 'Library', status: 'active', type: { coding: [{ system: TYPES, code: kind }] } },
    ...(relatedArtifact.length > 0 && { relatedArtifact }),
    content: [{ contentType: 'application/sql', data: Buffer.from(sql).toString('base64') }],
    ...more,
  };
}
