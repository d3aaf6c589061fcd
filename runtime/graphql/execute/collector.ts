import { append } from '../../fhir/lists.js';
import { FhirError } from '../../fhir/errors.js';
import type { JsonObject, JsonValue } from '../../fhir/resource.js';

/** How values are written. */
export type Form = 'value' | 'list' | 'singleton';

interface Gathered {
  readonly form: Form;
  readonly type: string;
  readonly values: JsonValue[];
}

/** Gathers the values of one object of the answer, where flattening brings several to one name. */
export class Collector {
  readonly object: JsonObject = {};
  readonly #lists: Map<string, Gathered> | undefined;

  /** @param isPlain no two fields have values for the same name */
  constructor(readonly isPlain: boolean) {
    this.#lists = isPlain ? undefined : new Map();
  }

  /**
   * Adds values under a name.
   *
   * @param type of the values; all under one name have the same
   * @throws FhirError `graphql-flatten`
   */
  add(key: string, values: readonly JsonValue[], form: Form, type: string): void {
    if (this.#lists === undefined) return this.#write(key, form, values);
    const known = this.#lists.get(key);
    if (known === undefined) {
      this.#lists.set(key, { form, type, values: [...values] });
      return this.#write(key, form, values);
    }
    if (known.type !== type) {
      throw new FhirError(
        'graphql-flatten',
        `Flattening brings values of the types ${known.type} and ${type} to "${key}"; give one of them an alias`,
      );
    }
    append(known.values, values);
    this.#write(key, known.form, known.values);
  }

  #write(key: string, form: Form, values: readonly JsonValue[]): void {
    if (form === 'list') {
      this.object[key] = values as JsonValue[];
      return;
    }
    if (values.length > 1) {
      const hint = form === 'singleton' ? '@singleton allows one' : 'leave out @singleton or @first, or use @slice';
      throw new FhirError('graphql-flatten', `There are ${values.length} values of "${key}"; ${hint}`);
    }
    if (values.length === 1) this.object[key] = values[0]!;
  }
}
