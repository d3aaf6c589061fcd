/**
 * The parameter under which references to what is within the same resource (`#m1`) have their entries: of these only `fragment` is
 * there, and stores make them lead to the member. So nothing but a chain that asks for it finds them.
 */
export function localParam(param: string): string {
  return `${param}#`;
}
