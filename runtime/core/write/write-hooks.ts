import type { Interaction } from '../../contract/index.js';
import type { Resource } from '../../fhir/resource.js';

/** Context of a write that a hook receives beside the resource. */
export interface WriteContext {
  readonly interaction: Interaction;
  /** Id of the URL, or of the resource that is patched; absent: the server finds or gives it. */
  readonly id?: string;
  /** The client that writes; absent: there is no authorization. */
  readonly clientId?: string;
  readonly requestId?: string;
}

/** Hooks of the application around the server that run before a write, by the types that they are for. */
export interface BeforeWrite {
  /** Whether there is one for a type. */
  has(type: string): boolean;
  /**
   * @param resource a copy, which it may change
   * @returns what to write instead of it
   * @throws FhirError where the hook refuses the write
   */
  run(resource: Resource, context: WriteContext): Promise<unknown>;
}
