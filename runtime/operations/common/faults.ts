import { append } from '../../fhir/lists.js';
import { FhirError, type Issue } from '../../fhir/errors.js';

/** Collects what is wrong with a request, so that one answer reports all of it. */
export class Faults {
  private readonly issues: Issue[] = [];

  /** What `read` returns; where it throws a FhirError of status 400, that is collected, and the result undefined. */
  async collect<T>(read: () => T | Promise<T>): Promise<T | undefined> {
    try {
      return await read();
    } catch (error) {
      if (!(error instanceof FhirError) || error.status !== 400) throw error;
      append(this.issues, error.issues);
      return undefined;
    }
  }

  /** @param parameter name of the one that is wrong */
  add(parameter: string, text: string, issue = 'value'): void {
    this.issues.push({ code: 'parameter-invalid', text, issue, parameter });
  }

  /** @throws FhirError with all that was collected */
  check(): void {
    const [first, ...others] = this.issues;
    if (first !== undefined) throw FhirError.of([first, ...others]);
  }
}
