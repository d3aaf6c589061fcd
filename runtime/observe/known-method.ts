const METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);

/** The method of a request, or `other`: the rest is the invention of a client, and would make a series of metrics each. */
export function knownMethod(method: string): string {
  return METHODS.has(method) ? method : 'other';
}
