import { FhirError } from '../../fhir/errors.js';

/** Collects what is wrong with a request, so that one answer reports all of it. */
export class Faults {
  private readonly errors: FhirError[] = [];

  /** @param statuses of the failures that are collected, the gravest first; others end the request at once */
  constructor(private readonly statuses: readonly number[] = [400]) {}

  /** Returns what `read` returns; undefined where it throws a FhirError of one of the statuses, which is collected. */
  async collect<T>(read: () => T | Promise<T>): Promise<T | undefined> {
    try {
      return await read();
    } catch (error) {
      return this.take(error);
    }
  }

  /** Does as `collect` with work that is done at once. */
  attempt<T>(read: () => T): T | undefined {
    try {
      return read();
    } catch (error) {
      return this.take(error);
    }
  }

  /** Collects a failure. @throws it where it is of another status */
  take(error: unknown): undefined {
    if (!(error instanceof FhirError) || !this.statuses.includes(error.status)) throw error;
    this.errors.push(error);
  }

  /** @param parameter name of the one that is wrong */
  add(parameter: string, text: string, issue = 'value'): void {
    this.errors.push(FhirError.of([{ code: 'parameter-invalid', text, issue, parameter }]));
  }

  get areNone(): boolean {
    return this.errors.length === 0;
  }

  /** @throws FhirError with all that was collected, the gravest first */
  check(): void {
    const rank = ({ status }: FhirError): number => this.statuses.indexOf(status);
    const [first, ...others] = this.errors.toSorted((a, b) => rank(a) - rank(b)).flatMap(({ issues }) => issues);
    if (first !== undefined) throw FhirError.of([first, ...others]);
  }
}
