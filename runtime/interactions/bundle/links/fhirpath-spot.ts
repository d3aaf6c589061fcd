import { scanPath } from '../../../path/patch/fhirpath/fhirpath-scan.js';
import { childSpot, NOTHING, UNKNOWN, type Spot } from './link-spot.js';
import { placeOfType } from './link-plan.js';
import type { LinkFinder } from './links.js';

/** Functions whose results have the type of their input. */
const SAME: ReadonlySet<string> = new Set(
  'where first last tail skip take single intersect exclude distinct trace'.split(' '),
);
const CAST: ReadonlySet<string> = new Set(['ofType', 'as']);
const NAME = /^(?:[A-Za-z_][A-Za-z0-9_]*|`[A-Za-z][A-Za-z0-9]*`)$/;

/** A spot, and the last name of the path to it. */
export interface NamedSpot {
  readonly spot: Spot;
  readonly name: string;
}

/**
 * The spot that a path from a resource leads to, as far as its names determine it; `NOTHING` if it cannot be parsed.
 *
 * @param suffix as in `childSpot`, for the name at the end
 */
export function fhirPathSpot(
  path: string,
  type: string,
  root: Spot,
  suffix: string | undefined,
  finder: Pick<LinkFinder, 'plans'>,
): NamedSpot {
  const tokens = tokensOf(path);
  const name = tokens.at(-1)?.replaceAll('`', '') ?? '';
  if (tokens.length === 0) return { spot: NOTHING, name };
  let spot = root;
  for (let i = 0; i < tokens.length; i++) {
    const token = tokens[i] ?? '';
    if (token === '[') i = closing(tokens, i);
    else if (token === '.') continue;
    else if (!NAME.test(token) || (i > 0 && tokens[i - 1] !== '.')) return { spot: UNKNOWN, name };
    else if (tokens[i + 1] === '(') {
      const end = closing(tokens, i + 1);
      spot = called(spot, token, tokens.slice(i + 2, end), finder);
      i = end;
    } else if (i > 0 || !isRoot(token, type)) {
      spot = childSpot(spot, token.replaceAll('`', ''), i === tokens.length - 1 ? suffix : undefined);
    }
  }
  return { spot, name };
}

function tokensOf(path: string): readonly string[] {
  try {
    return scanPath(path);
  } catch {
    // Applying the patch reports the fault.
    return [];
  }
}

/** Whether a token names the resource type: elements begin with a small letter. */
function isRoot(token: string, type: string): boolean {
  return token === type || /^[A-Z]/.test(token);
}

function called(spot: Spot, name: string, args: readonly string[], { plans }: Pick<LinkFinder, 'plans'>): Spot {
  if (SAME.has(name)) return spot;
  if (name === 'extension') return childSpot(spot, name);
  const cast = CAST.has(name) ? args.at(-1)?.replaceAll('`', '') : undefined;
  if (cast === undefined) return UNKNOWN;
  const place = placeOfType(cast, plans);
  const element = plans('Element');
  return {
    ...(place === undefined ? {} : { place }),
    ...(typeof place === 'object' || element === undefined ? {} : { beside: element }),
  };
}

/** The token that closes a bracket. */
function closing(tokens: readonly string[], start: number): number {
  let depth = 0;
  for (let i = start; i < tokens.length; i++) {
    if (/^[([{]$/.test(tokens[i] ?? '')) depth++;
    else if (/^[)\]}]$/.test(tokens[i] ?? '') && --depth === 0) return i;
  }
  return tokens.length;
}
