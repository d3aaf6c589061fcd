/**
 * A JSON number whose text a double would not give back (`1.0`, `66.899999999999991`, `1e3`). FHIR holds the
 * precision of a decimal significant, so the text stays; numbers that a double keeps are plain numbers.
 * https://hl7.org/fhir/R5/datatypes.html#decimal
 */
export class Decimal {
  constructor(readonly text: string) {}

  /** The nearest double, so that `+value` serves plain numbers and Decimals alike. */
  valueOf(): number {
    return Number(this.text);
  }

  toString(): string {
    return this.text;
  }
}
