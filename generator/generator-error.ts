/** A fault that the user of the generator can fix: printed without a stack, exit code 1. */
export class GeneratorError extends Error {
  constructor(
    message: string,
    /** One line per fault, if there are several. */
    readonly details: readonly string[] = [],
  ) {
    super(message);
    this.name = 'GeneratorError';
  }
}
