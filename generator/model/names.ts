/** Names as the generated code spells them. */

/** Canonical without its version: `http://hl7.org/fhir/ValueSet/x|5.0.0` -> `http://hl7.org/fhir/ValueSet/x`. */
export function unversioned(canonical: string): string {
  const bar = canonical.indexOf('|');
  return bar < 0 ? canonical : canonical.slice(0, bar);
}

/** Last segment of a canonical: the type that a StructureDefinition's url names. */
export function tail(canonical: string): string {
  const bare = unversioned(canonical);
  return bare.slice(bare.lastIndexOf('/') + 1);
}

/** `valueQuantity` from `value` and `Quantity`. */
export function choiceName(stem: string, type: string): string {
  return stem + type.charAt(0).toUpperCase() + type.slice(1);
}

/** File name stem: `MedicationRequest` -> `medication-request`, `base64Binary` -> `base64-binary`. */
export function kebab(name: string): string {
  return name
    .replaceAll(/([a-z0-9])([A-Z])/g, '$1-$2')
    .replaceAll(/([A-Z])([A-Z][a-z])/g, '$1-$2')
    .toLowerCase();
}

/** Code-point order, the only order in generated output: independent of locale. */
export function byCodePoint(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
