import { FhirError } from '../../fhir/errors.js';
import type { PlainContext } from './criterion-context.js';
import { parsePlain } from './parse-plain.js';
import type { Criterion } from './query.js';
import { quote } from './quote.js';
import { countWays, type Found } from './resolve-links.js';
import { splitAt } from './split.js';

/** Values times types that they are compared in, of one parameter. */
export const MAX_COMPARED = 20_000;

/** A parameter with links, as it was sent. */
interface Sent {
  readonly name: string;
  /** `code[:modifier]`, as it stands at the end of the name. */
  readonly last: string;
  readonly value: string;
}

/**
 * Reads the value of a name with links, once for each type whose parameter stands at its end. Types that do not take the
 * value, or the modifier, are left out, if there are others.
 *
 * @param found what the name means
 * @throws FhirError as `parseCriterion`: what the first type says where none takes the value
 */
export function parseLinks({ name, last, value }: Sent, found: Found, context: PlainContext): Criterion {
  const alternatives = splitAt(value, ',').length;
  const most = Math.max(MAX_COMPARED, context.maxAlternatives);
  if (alternatives * countWays(found) > most) {
    const text = `The parameter ${quote(name)} has ${alternatives} values, and would compare each in many types; say which types are meant, or give fewer values`;
    throw new FhirError('parameter-invalid', text);
  }
  const read = createReader(last, value, context)(found);
  if (read instanceof FhirError) throw read;
  return read;
}

/** Each part is read once, however many ways lead to it. */
function createReader(last: string, value: string, context: PlainContext) {
  const known = new Map<Found, Criterion | FhirError>();
  const read = (found: Found): Criterion | FhirError => {
    const made = known.get(found) ?? make(found);
    known.set(found, made);
    return made;
  };
  const make = (found: Found): Criterion | FhirError => {
    switch (found.is) {
      case 'row':
        return attempt(() => {
          const { type, row } = found;
          const { hierarchy, ...rest } = context;
          const own = { ...rest, ...(hierarchy !== undefined && { hierarchy: { ...hierarchy, type } }) };
          return parsePlain(last, value, own, row, `${type}.${last}`);
        });
      case 'has': {
        const where = read(found.found);
        return where instanceof FhirError ? where : { has: { type: found.type, param: found.param, where } };
      }
      case 'chain': {
        const all = found.targets.map((target) => ({ type: target.type, where: read(target.found) }));
        const chain = all.flatMap(({ type, where }) => (where instanceof FhirError ? [] : [{ type, where }]));
        if (chain.length > 0) return { param: found.param, chain };
        return all.map(({ where }) => where).find((where) => where instanceof FhirError)!;
      }
    }
  };
  return read;
}

function attempt(read: () => Criterion): Criterion | FhirError {
  try {
    return read();
  } catch (error) {
    if (error instanceof FhirError) return error;
    throw error;
  }
}
