/** A fault that the person who runs the generator can mend: shown without a stack, exit code 1. */
export class GeneratorError extends Error {
  constructor(
    message: string,
    /** One line each, where there are several. */
    readonly details: readonly string[] = [],
  ) {
    super(message);
    this.name = 'GeneratorError';
  }
}
