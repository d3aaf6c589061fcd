import { FhirError } from '../../fhir/errors.js';
import type { Services, View } from '../../core/services.js';

type Subset = NonNullable<Services['subset']>;

/**
 * Tries a view on empty resources of the types, so that unknown elements are refused even where the search finds nothing. Where
 * several types are searched, an element of any of them is valid.
 *
 * @throws FhirError `parameter-invalid`
 */
export function checkView({ elements = [], ...rest }: View, types: readonly string[], subset: Subset): void {
  for (const element of elements) {
    const view = { ...rest, elements: [element] };
    if (types.length > 1 && types.some((type) => isShown(type, view, subset))) continue;
    const [type = ''] = types;
    if (types.length <= 1) subset({ resourceType: type }, view);
    else {
      const text = `_elements: none of the types that are searched has an element ${JSON.stringify(element.slice(0, 64))}`;
      throw new FhirError('parameter-invalid', text);
    }
  }
}

/** Whether resources of a type have the elements of a view. */
export function isShown(type: string, view: View, subset: Subset): boolean {
  try {
    subset({ resourceType: type }, view);
    return true;
  } catch (error) {
    if (error instanceof FhirError) return false;
    throw error;
  }
}
