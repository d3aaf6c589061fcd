import { FhirError } from '../../fhir/errors.js';
import { invalidParameter } from '../../fhir/catalog/invalid-parameter.js';
import { quote } from '../../fhir/quote.js';
import { asksForResource, likedType, namedType, parseMediaType } from '../../format/negotiate.js';
import { TABLE_FORMATS, TABLE_TYPES, type TableFormat } from '../formats.js';

/** Media types of FHIR: alone in `Accept`, they ask for Parameters. */
const FHIR_TYPES = ['application/fhir+json', 'application/fhir+xml'] as const;

const TYPES: readonly (readonly [TableFormat, string])[] = TABLE_FORMATS.map((format) => [
  format,
  format === 'fhir' ? FHIR_TYPES[0] : parseMediaType(TABLE_TYPES[format]).name,
]);

/** Form of an answer: a table, or a Binary that holds it. */
interface ChosenFormat {
  readonly format: TableFormat;
  readonly isWrapped: boolean;
}

/**
 * Chooses the form of a table: `_format` goes before `Accept`. A client that takes resources of FHIR alone gets csv and json in a Binary.
 *
 * @throws FhirError `parameter-invalid` for an unknown form, `not-acceptable`
 */
export function chooseFormat(format: string | undefined, accept: string | undefined): ChosenFormat {
  const isFhirOnly = accept !== undefined && asksForResource(accept, undefined) && named(accept) === undefined;
  if (format === undefined) {
    const found = accept === undefined ? 'ndjson' : (named(accept) ?? (isFhirOnly ? 'fhir' : anything(accept)));
    if (found === undefined) throw unacceptable(accept ?? '');
    return { format: found, isWrapped: false };
  }
  const chosen = readFormat(format, TABLE_FORMATS);
  if (!isFhirOnly || chosen === 'fhir') return { format: chosen, isWrapped: false };
  if (chosen === 'csv' || chosen === 'json') return { format: chosen, isWrapped: true };
  throw new FhirError('not-acceptable', `A table as ${chosen} has no form as a FHIR resource, which is all that ${quote(accept)} takes`); // prettier-ignore
}

/** Reads `_format`: the name of one of some forms, or its media type. @throws FhirError `parameter-invalid` */
export function readFormat<F extends TableFormat>(text: string, formats: readonly F[]): F {
  const { name } = parseMediaType(text.replace(/^(application\/(?:fhir|x)) /, '$1+'));
  const [form] = TYPES.find(([format, type]) => format === name || type === name) ?? [];
  const found = formats.find((each) => each === form);
  if (found !== undefined) return found;
  const what = `is one of ${formats.join(', ')}, not ${quote(text)}`;
  const issue = form === undefined ? 'not-supported' : 'invalid';
  throw invalidParameter('_format', what, { issue, expression: '_format' });
}

/** The form that a client names: the one that it likes best, then the one that it names first. */
function named(accept: string): TableFormat | undefined {
  const flat = TYPES.filter(([format]) => format !== 'fhir').map(([, type]) => type);
  const type = likedType(accept, flat);
  return TYPES.find((each) => each[1] === type)?.[0];
}

function anything(accept: string): TableFormat | undefined {
  if (namedType(accept, ['*/*', 'application/*', 'text/html']) !== undefined) return 'ndjson';
  return namedType(accept, ['text/*']) === undefined ? undefined : 'csv';
}

function unacceptable(accept: string): FhirError {
  const types = TYPES.map(([, type]) => type).join(', ');
  return new FhirError('not-acceptable', `A table is ${types}, not ${quote(accept)}`);
}
