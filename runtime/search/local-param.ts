/** No code of a search parameter ends so. */
const MARK = '#';

/**
 * The parameter under which references to what is within the same resource (`#m1`) have their entries: of these only `fragment` is
 * there, and stores make them lead to the member. So nothing but chains and `:missing`, which ask for it, find them.
 */
export function localParam(param: string): string {
  return param + MARK;
}

/** Whether it is such a parameter. */
export function isLocalParam(param: string): boolean {
  return param.endsWith(MARK);
}
