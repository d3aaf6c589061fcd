import type { Reach } from '../../auth/scopes/reach.js';
import type { Services } from '../../core/services.js';
import { isObject, type Resource } from '../../fhir/resource.js';
import type { StoredVersion } from '../../store/store.js';

/** The resources whose records an answer holds, one after the other. */
export interface Foci {
  readonly type: string;
  /**
   * The focus after a place in the list; undefined: that was the last one. A focus that the token may not see is passed over.
   *
   * @param list `next` of the focus before
   */
  after(list: string | undefined): Promise<{ readonly version: StoredVersion; readonly next: string } | undefined>;
}

const END = 'end';

/** The place in the list of a group's members where that begins. */
export const FIRST_MEMBER = '0';

/** The one resource that the URL names. */
export function singleFocus(version: StoredVersion): Foci {
  return {
    type: version.type,
    after: (list) => Promise.resolve(list === undefined ? { version, next: END } : undefined),
  };
}

/** All resources of a type that the token may see, in the store's order. */
export function allFoci(type: string, reach: Reach, { store }: Services, signal: AbortSignal | undefined): Foci {
  return {
    type,
    async after(list) {
      if (list === END || reach === 'nothing') return undefined;
      const where = reach === 'everything' ? { all: [] } : reach;
      const query = { type, where, sort: [], count: 1, total: 'none' } as const;
      const { versions, next } = await store.find(list === undefined ? query : { ...query, after: list }, signal);
      const [version] = versions;
      return version === undefined ? undefined : { version, next: next ?? END };
    },
  };
}

/** The patients that are members of a group still, in its order. */
export function memberFoci(
  group: Resource,
  reach: Reach,
  { store, own }: Services,
  signal: AbortSignal | undefined,
): Foci {
  const type = 'Patient';
  const members = Array.isArray(group['member']) ? group['member'].filter(isObject) : [];
  const ids = members.flatMap(({ entity, inactive }) => {
    const text = isObject(entity) && inactive !== true ? entity['reference'] : undefined;
    const named = own.readLocal(text);
    return named?.type === type ? [named.id] : [];
  });
  const distinct = [...new Set(ids)];
  return {
    type,
    async after(list) {
      if (reach === 'nothing') return undefined;
      for (let at = Number(list ?? FIRST_MEMBER); at < distinct.length; at++) {
        const one = { ids: [distinct[at]!] };
        const where = reach === 'everything' ? one : { all: [one, reach] };
        const { versions } = await store.find({ type, where, sort: [], count: 1, total: 'none' }, signal);
        if (versions[0] !== undefined) return { version: versions[0], next: String(at + 1) };
      }
      return undefined;
    },
  };
}
