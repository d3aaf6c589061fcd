import type { Tables } from '../../contract/index.js';
import { FhirError } from '../../fhir/errors.js';
import type { Limits } from '../../fhir/limits.js';
import type { JsonValue, Resource } from '../../fhir/resource.js';
import type { SentPatch } from '../sent-patch.js';

/** A patch of one format. */
type PatchOf<F extends SentPatch['format']> = Extract<SentPatch, { readonly format: F }>;

/**
 * Applies patches of one format to a copy of a resource.
 *
 * @returns the patched value, which may no longer be a resource
 * @throws FhirError for a patch that cannot be parsed, or cannot be applied to the resource
 */
export type Patcher<F extends SentPatch['format']> = (
  resource: Resource,
  patch: PatchOf<F>,
  limits: Pick<Limits, 'nesting' | 'resource'>,
) => Promise<JsonValue>;

/** The patch formats that a server accepts. */
export type Patchers = { readonly [F in SentPatch['format']]?: Patcher<F> };

/** JSON Patch, which needs no tables. Like those of the other formats, its module is loaded on first use. */
export const JSON_PATCHER: Patchers = {
  async json(resource, { patch }, { nesting, resource: size }) {
    const { applyJsonPatch } = await import('../json/json-patch.js');
    return applyJsonPatch(resource, patch, { maxDepth: nesting, maxCopied: size, hasFhirLists: true });
  },
};

/** All formats. */
export function createPatchers(tables: Pick<Tables, 'types' | 'primitives' | 'resourceTypes'>): Patchers {
  let model: Promise<(resource: Resource, patch: Resource) => Promise<Resource>> | undefined;
  return {
    ...JSON_PATCHER,
    async fhirpath(resource, { parameters }) {
      return (await (model ??= loadFhirPath(tables)))(resource, parameters);
    },
    async xml(resource, { text }, { nesting }) {
      const [{ checkXmlPatchSize }, { applyXmlPatch }, { readXml }, { writeXml }] = await Promise.all([
        import('./xml-patch-size.js'),
        import('./apply-xml-patch.js'),
        import('../../format/xml/read-xml.js'),
        import('../../format/xml/write-xml.js'),
      ]);
      checkXmlPatchSize(resource, text);
      const patched = applyXmlPatch(writeXml(resource, tables), text);
      return withoutPositions(() => readXml(patched, tables, { maxDepth: nesting, anyOrder: true }));
    },
  };
}

/** Removes line and column from messages: they refer to XML text that the server made and the client never saw. */
function withoutPositions<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof FhirError)) throw error;
    throw error.map((issue) => ({ ...issue, text: `What the patch makes: ${issue.text.replace(POSITION, '')}` }));
  }
}

const POSITION = /^Line [0-9]+, column [0-9]+: /;

async function loadFhirPath(tables: Pick<Tables, 'types' | 'primitives'>) {
  const [{ applyFhirPathPatch }, { createPatchModel }] = await Promise.all([
    import('../fhirpath/fhirpath-patch.js'),
    import('../fhirpath/fhirpath-model.js'),
  ]);
  const model = createPatchModel(tables);
  return (resource: Resource, patch: Resource) => applyFhirPathPatch(resource, patch, model);
}

/** Applies a patch. @throws FhirError as the patcher; Error for a format without a patcher, which requests never reach */
export function applyPatch(
  resource: Resource,
  patch: SentPatch,
  patchers: Patchers,
  limits: Pick<Limits, 'nesting' | 'resource'>,
): Promise<JsonValue> {
  const patcher = patchers[patch.format] as Patcher<SentPatch['format']> | undefined;
  if (patcher === undefined) throw new Error(`no patcher for ${patch.format}`);
  return patcher(resource, patch, limits);
}
