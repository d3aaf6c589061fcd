import { greatest } from '../fhir/lists.js';
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
  const pathsOf = (method: string): ReadonlySet<string> =>
    new Set(open.filter((row) => row.method === method).flatMap(({ path }) => spellingsOf(path)));
  const known = new Map(open.map(({ method }) => [method as string, pathsOf(method)]));
  const longest = greatest(
    [...known.values()].flatMap((paths) => [...paths].map(({ length }) => length)),
    0,
  );
  return (method, path) => {
    if (method === 'OPTIONS') return true;
    // Most paths have an id: they need no look-up.
    return path.length <= longest && known.get(method === 'HEAD' ? 'GET' : method)?.has(path) === true;
  };
}

/** All of them beforehand: each request is looked up. */
function spellingsOf(path: string): readonly string[] {
  return [path, `/${path}`, `${path}/`, `/${path}/`];
}
