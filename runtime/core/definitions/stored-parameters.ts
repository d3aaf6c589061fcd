import type { Resource } from '../../fhir/resource.js';
import { readJson } from '../../format/read-json.js';
import type { ParameterContext } from '../../indexing/parameters/parameter-context.js';
import { isEffective } from '../../indexing/parameters/read-parameter.js';
import { SEARCH_PARAMETER } from '../../indexing/parameters/stored-parameter.js';
import { EVERYTHING } from '../../search/query/query.js';
import type { Store, StoredVersion } from '../../store/store.js';
import { STORED_DEPTH } from '../read-stored.js';

/** The SearchParameters of a store that are to be in effect, as far as they have been looked at. */
export interface StoredParameters {
  /** Those that were in effect when it was last looked. */
  readonly resources: () => readonly Resource[];
  /** Looks at what was written since. @returns whether anything was */
  look(): Promise<boolean>;
}

const PAGE = 200;

/** Reads all of them. */
export async function loadStoredParameters(
  store: Pick<Store, 'find' | 'history'>,
  context: Pick<ParameterContext, 'builtIn'>,
): Promise<StoredParameters> {
  const active = new Map<string, Resource>();
  /** Versions that were looked at since `complete`, so that they are not taken for new ones when they come again. */
  let seen = new Map<string, number>();
  let complete: number | undefined;

  function take({ id, json }: StoredVersion): void {
    const resource = json === undefined ? undefined : (readJson(json, STORED_DEPTH) as Resource);
    if (resource !== undefined && isEffective(resource, context)) active.set(id, resource);
    else active.delete(id);
  }

  for (let after: string | undefined; ;) {
    const query = { type: SEARCH_PARAMETER, where: EVERYTHING, sort: [], count: PAGE, total: 'none' as const };
    const page = await store.find({ ...query, ...(after !== undefined && { after }) });
    complete ??= page.complete;
    for (const version of page.versions) {
      take(version);
      seen.set(version.id, version.version);
    }
    after = page.next;
    if (after === undefined) break;
  }

  return {
    resources: () => [...active.values()],
    async look() {
      const changed = new Map<string, StoredVersion>();
      const shown = new Map<string, number>();
      let next = complete;
      for (let after: string | undefined, isFirst = true; isFirst || after !== undefined; isFirst = false) {
        const page = await store.history({
          type: SEARCH_PARAMETER,
          count: PAGE,
          ...(complete !== undefined && { since: complete }),
          ...(after !== undefined && { after }),
        });
        if (isFirst) next = page.complete;
        for (const version of page.versions) {
          const { id, version: number } = version;
          shown.set(id, Math.max(number, shown.get(id) ?? 0));
          if (number > (seen.get(id) ?? 0) && number > (changed.get(id)?.version ?? 0)) changed.set(id, version);
        }
        after = page.next;
      }
      for (const version of changed.values()) take(version);
      complete = next;
      seen = shown;
      return changed.size > 0;
    },
  };
}
