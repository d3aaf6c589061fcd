import { FhirError, type Issue } from '../fhir/errors.js';
import { isObject, type JsonObject, type JsonValue } from '../fhir/resource.js';

/** Codes of the catalog for what is refused. */
type RefusalCode = 'topic-refused' | 'subscription-refused';

/** Collects all faults of a resource, one for each element, so that a client learns them at once. */
export class Faults {
  readonly issues: Issue[] = [];

  constructor(
    readonly root: string,
    private readonly code: RefusalCode,
  ) {}

  /** @param at the element below the root: `resourceTrigger[0].resource` */
  add(at: string, text: string, issue: 'not-supported' | 'invalid' = 'invalid'): void {
    const expression = `${this.root}.${at}`;
    if (!this.issues.some((each) => each.expression === expression)) {
      this.issues.push({ code: this.code, issue, text: `${expression} ${text}`, expression });
    }
  }

  /** What reading gives; undefined, and a fault at the element, where it fails with an error that clients may know. */
  read<T>(at: string, read: () => T): T | undefined {
    try {
      return read();
    } catch (error) {
      if (!(error instanceof FhirError)) throw error;
      this.add(
        at,
        `cannot be evaluated: ${error.message}`,
        NOT_SUPPORTED.has(error.code) ? 'not-supported' : 'invalid',
      );
      return undefined;
    }
  }
}

const NOT_SUPPORTED: ReadonlySet<string> = new Set(['parameter-unknown', 'modifier-unknown', 'prefix-unknown']);

/** The objects of a list; whatever else is in it keeps its place as an empty one. Structure is checked elsewhere, or not at all. */
export function objectsOf(value: JsonValue | undefined): readonly JsonObject[] {
  return Array.isArray(value) ? value.map((each) => (isObject(each) ? each : {})) : [];
}

/** The texts of a list, each with its position. */
export function textsOf(value: JsonValue | undefined): readonly string[] {
  return Array.isArray(value) ? value.map((each) => (typeof each === 'string' ? each : '')) : [];
}

/** A text; undefined: it is none. */
export function textOf(value: JsonValue | undefined): string | undefined {
  return typeof value === 'string' ? value : undefined;
}
