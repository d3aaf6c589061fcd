import { FhirError } from '../../fhir/errors.js';
import type { JsonObject, JsonValue } from '../../fhir/resource.js';

/** How values are written. */
export type Form = 'value' | 'list' | 'singleton';

/** Gathers the values of one object of the answer, where flattening brings several to one name. */
export class Collector {
  readonly #lists = new Map<string, { readonly form: Form; readonly type: string; readonly values: JsonValue[] }>();

  constructor(readonly object: JsonObject) {}

  /**
   * Adds values under a name.
   *
   * @param type of the values; all under one name have the same
   * @throws FhirError `graphql-flatten`
   */
  add(key: string, values: readonly JsonValue[], form: Form, type: string): void {
    const known = this.#lists.get(key);
    if (known === undefined) {
      const own = { form, type, values: [...values] };
      this.#lists.set(key, own);
      this.#write(key, own);
      return;
    }
    if (known.type !== type) {
      throw new FhirError(
        'graphql-flatten',
        `Flattening brings values of the types ${known.type} and ${type} to "${key}"; give one of them an alias`,
      );
    }
    known.values.push(...values);
    this.#write(key, known);
  }

  #write(key: string, { form, values }: { readonly form: Form; readonly values: JsonValue[] }): void {
    if (form === 'list') {
      this.object[key] = values;
      return;
    }
    if (values.length > 1) {
      const hint = form === 'singleton' ? '@singleton allows one' : 'leave out @singleton or @first, or use @slice';
      throw new FhirError('graphql-flatten', `There are ${values.length} values of "${key}"; ${hint}`);
    }
    if (values.length === 1) this.object[key] = values[0]!;
  }
}
