import type { Tables } from '../contract/index.js';

/**
 * Makes the look whether a request needs no token: one for a route that the tables have as open, and `OPTIONS`, because
 * browsers ask it without.
 *
 * @returns takes a method and a path below the base, as it was sent
 */
export function openRoutes({
  routes,
  scopes,
}: Pick<Tables, 'routes' | 'scopes'>): (method: string, path: string) => boolean {
  const open = routes.filter(({ interaction, operation }) =>
    scopes.rows.some((row) => row.open === true && row.interaction === interaction && row.operation === operation),
  );
  const known = new Set(open.map(({ method, path }) => `${method} ${path}`));
  return (method, path) => {
    if (method === 'OPTIONS') return true;
    return known.has(`${method === 'HEAD' ? 'GET' : method} ${path.replace(/^\/|\/$/g, '')}`);
  };
}
