import { PATCH_TYPES } from '../../../runtime/format/patch-types.js';

/** A JSON Patch as the resource of an entry. */
export function jsonPatch(...operations: readonly object[]): object {
  return binary(PATCH_TYPES.json, JSON.stringify(operations));
}

/** An XML Patch of one operation as the resource of an entry. @param more attributes */
export function xmlPatch(op: string, sel: string, content: string, more = ''): object {
  return xmlDiff(`<${op} sel="${sel}" ${more}>${content}</${op}>`);
}

/** An XML Patch of these operations as the resource of an entry. */
export function xmlDiff(...operations: readonly string[]): object {
  const namespaces = 'xmlns="http://hl7.org/fhir" xmlns:h="http://www.w3.org/1999/xhtml"';
  return binary(PATCH_TYPES.xml, `<diff ${namespaces}>${operations.join('')}</diff>`);
}

/** A FHIRPath Patch of one operation. @param value the part of this name, but for the name */
export function fhirPathPatch(type: string, path: string, value: object, name?: string): object {
  const part = [
    { name: 'type', valueCode: type },
    { name: 'path', valueString: path },
    ...(type === 'insert' ? [{ name: 'index', valueInteger: 0 }] : []),
    ...(name === undefined ? [] : [{ name: 'name', valueString: name }]),
    { name: 'value', ...value },
  ];
  return { resourceType: 'Parameters', parameter: [{ name: 'operation', part }] };
}

/** A Reference. */
export function value(reference: string): object {
  return { reference };
}

function binary(contentType: string, text: string): object {
  return { resourceType: 'Binary', contentType, data: Buffer.from(text).toString('base64') };
}
