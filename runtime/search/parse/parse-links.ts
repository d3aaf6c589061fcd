import { FhirError } from '../../fhir/errors.js';
import type { PlainContext } from './criterion-context.js';
import type { Filter } from './link-step.js';
import { parsePlain } from './parse-plain.js';
import type { Criterion, LinkCriterion } from '../query/query.js';
import { quote } from './quote.js';
import { countWays, type Found, type FoundChain, type FoundRow } from './resolve-links.js';
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
  return readFound(found, {
    row({ type, row }) {
      const { hierarchy, ...rest } = context;
      const own = { ...rest, ...(hierarchy !== undefined && { hierarchy: { ...hierarchy, type } }) };
      return parsePlain(last, value, own, row, `${type}.${last}`);
    },
  });
}

/** Reads what stands at the end of links, for one type. Both throw a FhirError where that type does not take it. */
export interface EndReaders<C extends Criterion> {
  row(found: FoundRow): C;
  /** Where links have filters: what is asked of a type, and what the filter asks besides. */
  within?(where: C, filter: Filter, type: string): C;
}

/**
 * Puts links around what is read at their ends, each part once, however many ways lead to it. Types that do not take it are
 * left out, if there are others.
 *
 * @throws FhirError what the first type says where none takes it
 */
export function readFound<C extends Criterion>(found: Found, readers: EndReaders<C>): C {
  const read = createReader(readers)(found);
  if (read instanceof FhirError) throw read;
  return read;
}

function createReader<C extends Criterion>(readers: EndReaders<C>) {
  const known = new Map<Found, C | FhirError>();
  const read = (found: Found): C | FhirError => {
    const made = known.get(found) ?? make(found);
    known.set(found, made);
    return made;
  };
  const make = (found: Found): C | FhirError => {
    switch (found.is) {
      case 'row':
        return attempt(() => readers.row(found));
      case 'has': {
        const where = read(found.found);
        return where instanceof FhirError ? where : link<C>({ has: { type: found.type, param: found.param, where } });
      }
      case 'chain': {
        const all = found.targets.map(({ type, found: next }) => ({ type, where: within(read(next), found, type) }));
        const chain = all.flatMap(({ type, where }) => (where instanceof FhirError ? [] : [{ type, where }]));
        if (chain.length > 0) return link<C>({ param: found.param, chain });
        return all.map(({ where }) => where).find((where) => where instanceof FhirError)!;
      }
    }
  };
  const within = (where: C | FhirError, { filter }: FoundChain, type: string): C | FhirError =>
    where instanceof FhirError || filter === undefined ? where : attempt(() => readers.within!(where, filter, type));
  return read;
}

/** What leads to conditions is one. */
function link<C extends Criterion>(criterion: LinkCriterion): C {
  return criterion as Criterion as C;
}

function attempt<C>(read: () => C): C | FhirError {
  try {
    return read();
  } catch (error) {
    if (error instanceof FhirError) return error;
    throw error;
  }
}
