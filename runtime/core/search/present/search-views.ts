import { FhirError } from '../../../fhir/errors.js';
import type { Services, View } from '../../services.js';

/** What of a resource is shown, by its type; undefined: all of it. */
export type ViewOf = (type: string) => View | undefined;

type Subset = Services['subset'];

/**
 * The views of matches. Where several types are searched, each shows those of the elements that it has.
 *
 * @param isAcross whether several types are searched
 */
export function matchViews(view: View | undefined, isAcross: boolean, subset: Subset): ViewOf {
  const elements = view?.elements;
  if (!isAcross || elements === undefined || subset === undefined) return () => view;
  const known = new Map<string, View>();
  return (type) => {
    let own = known.get(type);
    if (own === undefined) {
      const had = elements.filter((element) => isShown(type, { elements: [element] }, subset));
      // What has none of them is not shown whole for that.
      known.set(type, (own = { elements: had.length === 0 ? ['id'] : had }));
    }
    return own;
  };
}

/**
 * The views of what comes with the matches: a summary is one of all, but elements are those of the matches, where no type
 * stands before their names. https://hl7.org/fhir/R5/search.html#elements
 */
export function includeViews(view: View | undefined): ViewOf {
  const { elements, ...rest } = view ?? {};
  if (elements === undefined) return () => view;
  const typed = elements.filter((element) => element.includes('.'));
  return () => (typed.length === 0 ? undefined : { ...rest, elements: typed });
}

/**
 * Tries a view on resources of these types with nothing in them, so that unknown elements are refused even where nothing is
 * found: some type has to have them.
 *
 * @throws FhirError `parameter-invalid`
 */
export function checkView(
  { elements = [], ...rest }: View,
  types: readonly string[],
  subset: NonNullable<Subset>,
): void {
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

function isShown(type: string, view: View, subset: NonNullable<Subset>): boolean {
  try {
    subset({ resourceType: type }, view);
    return true;
  } catch (error) {
    if (error instanceof FhirError) return false;
    throw error;
  }
}
