import type { Expression } from '../../../path/expression/parse.js';
import { PathFault } from '../../../path/expression/path-fault.js';
import { readPath } from '../../../patch/fhirpath/fhirpath-path.js';
import { childSpot, NOTHING, UNKNOWN, type Spot } from './link-spot.js';
import { placeOfType } from './link-plan.js';
import type { LinkFinder } from './links.js';

/** Functions whose results have the type of their input. */
const SAME: ReadonlySet<string> = new Set(
  'where first last tail skip take single intersect exclude distinct trace'.split(' '),
);
const CAST: ReadonlySet<string> = new Set(['ofType', 'as']);

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
  { plans }: Pick<LinkFinder, 'plans'>,
): NamedSpot {
  const spotOf = (expression: Expression | undefined, end?: string): Spot => {
    switch (expression?.kind) {
      case undefined:
        return root;
      case 'name': {
        const { name, of } = expression;
        // Elements begin with a small letter.
        const isRoot = of === undefined && (name === type || /^[A-Z]/.test(name));
        return isRoot ? root : childSpot(spotOf(of), name, end);
      }
      case 'index':
        return spotOf(expression.of);
      case 'call': {
        const { name, of, args } = expression;
        if (SAME.has(name)) return spotOf(of);
        if (name === 'extension') return childSpot(spotOf(of), name);
        const [cast] = args;
        return CAST.has(name) && cast?.kind === 'name' ? spotOfType(cast.name, plans) : UNKNOWN;
      }
      default:
        return UNKNOWN;
    }
  };
  try {
    const expression = readPath(path);
    return { spot: spotOf(expression, suffix), name: expression.kind === 'name' ? expression.name : '' };
  } catch (error) {
    // Applying the patch reports the fault.
    if (error instanceof PathFault) return { spot: NOTHING, name: '' };
    throw error;
  }
}

function spotOfType(type: string, plans: LinkFinder['plans']): Spot {
  const place = placeOfType(type, plans);
  const element = plans('Element');
  return {
    ...(place === undefined ? {} : { place }),
    ...(typeof place === 'object' || element === undefined ? {} : { beside: element }),
  };
}
