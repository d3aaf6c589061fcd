/** Whether a store is in MongoDB, by its URL. */
export function isMongoUrl(store: string): boolean {
  return /^mongodb(?:\+srv)?:/.test(store);
}

/** Greatest values of limits that MongoDB sets: documents have 16 MB and 180 levels, and hold more than the resource. */
export const MONGO_LIMITS = { resource: 15 * 1024 * 1024 } as const;

/** The URL without its passwords, that of a key among its options too. What may be in one unescaped, against the rules, goes too. */
export function maskPassword(url: string): string {
  const named = url.replace(/^([a-z+]+:\/*[^:@/]*):.*@/, '$1:***@');
  return named.replace(/([?&][^=&]*(?:password|properties)[^=&]*=)[^&]*/gi, '$1***');
}
