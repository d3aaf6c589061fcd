import type { FindPlan } from './compile-plan.js';
import { ERRORS } from '../fhir/errors.js';
import type { Fault, FaultCode } from './fault.js';
import type { Property } from './plan.js';

/** A property name too long or too strange to be repeated in an expression. */
const PLAIN_NAME = /^[A-Za-z_][A-Za-z0-9_]{0,63}$/;

/** One validation: where it is in the resource, and what it found. */
export class ValidationRun {
  /** The way to the value at hand; what lies beyond `depth` is left over. */
  readonly path: (Property | number)[] = [];
  depth = 0;
  faults: Fault[] = [];
  /** Set when a fault was found that no longer fitted. */
  isFull = false;
  root = '';

  constructor(
    private readonly most: number,
    readonly find: FindPlan,
    /** Names of the resource types. */
    readonly types: ReadonlySet<string>,
  ) {}

  /** Begins with the resource of this type. */
  start(root: string): void {
    this.root = root;
    this.depth = 0;
    if (this.faults.length > 0) this.faults = [];
  }

  /**
   * Notes a fault at the value at hand or, where `tail` is given, one step below: at a property, or at a name that
   * is unknown. `text` follows the expression, as a sentence that says what is wrong and what would be right.
   */
  report(code: FaultCode, text: string, tail?: Property | string, missing?: string): void {
    if (this.faults.length >= this.most) {
      this.isFull = true;
      return;
    }
    const steps: (Property | number | string)[] = this.path.slice(0, this.depth);
    if (tail !== undefined) steps.push(tail);
    const expression = this.expression(steps) + (missing === undefined ? '' : `.${missing}`);
    this.faults.push({
      code,
      issue: ERRORS[code].issue,
      text: `${this.expression(steps)}: ${text}`,
      expression,
      path: steps.map((step) => (typeof step === 'object' ? step.key : step)),
    });
  }

  private expression(steps: readonly (Property | number | string)[]): string {
    let text = this.root;
    for (const step of steps) {
      if (typeof step === 'number') text += `[${step}]`;
      else if (typeof step === 'object') text += `.${step.element}`;
      else if (PLAIN_NAME.test(step)) text += `.${step}`;
    }
    return text;
  }
}
