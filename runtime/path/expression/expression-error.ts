/** Why an expression has no steps: it is wrong, it is too large, or it asks for what is no step and whole FHIRPath may know. */
export type ExpressionFault = 'wrong' | 'too-large' | 'no-steps';

/** An expression that cannot be compiled to steps. */
export class ExpressionError extends Error {
  constructor(
    message: string,
    readonly fault: ExpressionFault = 'no-steps',
    /** Where in the text, counted from 0; absent: it is about the whole. */
    readonly at?: number,
  ) {
    super(message);
    this.name = 'ExpressionError';
  }
}
