/**
 * Operators on decimals, whose results are decimals too: `0.1 + 0.2` is `0.3`, which doubles miss. Where the digits do not fit into a
 * double, the result is that of doubles. https://hl7.org/fhirpath/N1/#math
 *
 * @returns undefined where the operator has no result: a division by zero
 */
export const ARITHMETIC: Readonly<Record<'+' | '-' | '*' | '/' | 'div' | 'mod', Operator>> = {
  '+': scaled((a, b, scale) => (a + b) / scale, (a, b) => a + b),
  '-': scaled((a, b, scale) => (a - b) / scale, (a, b) => a - b),
  '*': scaled((a, b, scale) => (a * b) / (scale * scale), (a, b) => a * b),
  // Two whole numbers are divided as well as doubles can.
  '/': unlessZero(scaled((a, b) => a / b, (a, b) => a / b)),
  div: unlessZero(scaled((a, b) => Math.trunc(a / b), (a, b) => Math.trunc(a / b))),
  mod: unlessZero(scaled((a, b, scale) => (a % b) / scale, (a, b) => a % b)),
}; // prettier-ignore

type Operator = (a: number, b: number) => number | undefined;

/** Decimal places of a number that are taken in: what has more is not exact anyway. */
const MOST_PLACES = 15;

/**
 * @param ofWhole calculates with both numbers times `scale`, which makes them whole
 * @param otherwise calculates where these, or their product, would be too large to be exact
 */
function scaled(
  ofWhole: (a: number, b: number, scale: number) => number,
  otherwise: (a: number, b: number) => number,
): (a: number, b: number) => number {
  return (a, b) => {
    if (Number.isInteger(a) && Number.isInteger(b)) return otherwise(a, b);
    const places = Math.max(placesOf(a), placesOf(b));
    if (places > MOST_PLACES) return otherwise(a, b);
    const scale = 10 ** places;
    const [x, y] = [Math.round(a * scale), Math.round(b * scale)];
    const isExact = Number.isSafeInteger(x * y) && Number.isSafeInteger(scale * scale);
    return isExact ? ofWhole(x, y, scale) : otherwise(a, b);
  };
}

function unlessZero(operator: (a: number, b: number) => number): Operator {
  return (a, b) => (b === 0 ? undefined : operator(a, b));
}

/** How many digits a number has after its point. */
function placesOf(value: number): number {
  const [digits = '', exponent = '0'] = String(value).split('e');
  const point = digits.indexOf('.');
  return Math.max(0, (point < 0 ? 0 : digits.length - point - 1) - Number(exponent));
}
