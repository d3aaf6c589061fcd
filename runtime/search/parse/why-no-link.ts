import { FhirError } from '../../fhir/errors.js';
import type { SearchDefinitions } from '../../indexing/definitions.js';
import { isInline, isSearchable, refersTo } from '../../indexing/parameter-kinds.js';
import { isMembership } from '../../indexing/parameter-kinds.js';
import type { ChainStep, HasStep, LinkStep } from './link-step.js';
import { codesOf, notYet, some, suggest, wordsOf } from './unknown-parameter.js';
import { quote } from '../../fhir/quote.js';

/** Why a part of a name leads nowhere, and what would be right: words, made where a client is answered. */

type Definitions = Pick<SearchDefinitions, 'rowsOf' | 'resourceTypes'>;

/** The last part of a name is no parameter that searches of the type work by. */
export function whyNone(type: string, code: string, { rowsOf }: Definitions): FhirError {
  const rows = rowsOf(type);
  if (rows.has(code)) return notYet(code);
  return wordsOf(code) ?? unknown(`Unknown parameter ${quote(`${type}.${code}`)}; ${suggest(code, codesOf(rows))}`);
}

/** A part before a dot does not lead on. */
export function whyNoChain(type: string, step: ChainStep, definitions: Definitions): FhirError {
  const { code, type: wanted } = step;
  const { rowsOf, resourceTypes } = definitions;
  const row = rowsOf(type).get(code);
  const name = quote(`${type}.${code}`);
  if (row === undefined) {
    return wordsOf(code) ?? unknown(`Unknown parameter ${name}; ${suggest(code, referencesOf(type, definitions))}`);
  }
  if (isMembership(code))
    return unknown(`${name} asks who belongs to a resource, and leads nowhere; it is for the end of a chain`);
  if (!isSearchable(row)) return notYet(code);
  if (row.type === 'reference' && isInline(row)) {
    return unknown(`${name} leads to what is in the resource itself, and chains do not go on from there yet`);
  }
  if (row.type !== 'reference') {
    const text = `${name} is of type ${row.type}, and only references lead on to other parameters: ${some(referencesOf(type, definitions))}`;
    return unknown(text);
  }
  const { targets = resourceTypes } = row;
  if (wanted === 'identifier') {
    const text =
      `${name} leads nowhere by :identifier, which compares what is in the reference itself: say ${code}:identifier=system|value ` +
      `for that, or ${code}.identifier=system|value for the identifier of the resource that is referred to`;
    return new FhirError('modifier-unknown', text);
  }
  if (wanted !== undefined && resourceTypes.includes(wanted)) {
    return new FhirError('parameter-invalid', `${name} never refers to ${wanted}, but to ${some(targets)}`);
  }
  const text = `${name} leads on with a resource type behind its colon (${some(targets)}), not with ${quote(wanted ?? '')}`;
  return new FhirError('modifier-unknown', text);
}

/** So many types are named, and what they have. */
const NAMED = 10;

/** None of the types that a reference leads to has what comes next. */
export function whyNoTarget(
  name: string,
  types: readonly string[],
  next: LinkStep | string,
  definitions: Definitions,
): FhirError {
  const begin = `None of the types that ${quote(name)} refers to (${some(types, NAMED)})`;
  if (typeof next !== 'string' && next.by === 'has') {
    return unknown(`${begin} is referred to by ${quote(`${next.type}.${next.code}`)}`);
  }
  const code = typeof next === 'string' ? next : next.code;
  const special = wordsOf(code);
  if (special !== undefined) return special;
  const codes = types
    .slice(0, NAMED)
    .flatMap((type) =>
      typeof next === 'string' ? codesOf(definitions.rowsOf(type)) : referencesOf(type, definitions),
    );
  const what = typeof next === 'string' ? 'parameter' : 'reference';
  return unknown(`${begin} has a ${what} ${quote(code)}; ${suggest(code, [...new Set(codes)].sort())}`);
}

/** A `_has` does not lead to a type. */
export function whyNoHas(type: string, step: HasStep, { rowsOf, resourceTypes }: Definitions): FhirError {
  if (!resourceTypes.includes(step.type)) {
    return unknown(`_has asks for the unknown resource type ${quote(step.type)}; ${suggest(step.type, resourceTypes)}`);
  }
  const rows = rowsOf(step.type);
  const leading = [...rows].filter(([, row]) => isSearchable(row) && refersTo(row, type)).map(([code]) => code);
  const instead =
    leading.length === 0 ? `no parameter of ${step.type} does` : `${some(leading.sort())} of ${step.type} may`;
  const name = quote(`${step.type}.${step.code}`);
  const row = rows.get(step.code);
  if (row === undefined) return unknown(`Unknown parameter ${name} in _has: it has to refer to ${type}; ${instead}`);
  if (!isSearchable(row)) return notYet(step.code);
  if (row.type === 'reference') {
    return new FhirError('parameter-invalid', `${name} in _has never refers to ${type}; ${instead}`);
  }
  return unknown(`${name} in _has is of type ${row.type}: it has to refer to ${type}; ${instead}`);
}

function referencesOf(type: string, { rowsOf }: Definitions): string[] {
  const rows = rowsOf(type);
  return codesOf(rows).filter((code) => rows.get(code)?.type === 'reference' && !isMembership(code));
}

function unknown(text: string): FhirError {
  return new FhirError('parameter-unknown', text);
}
