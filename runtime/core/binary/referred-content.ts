import type { Store } from '../../store/store.js';
import { BINARY } from './binary-content.js';

/** Versions of one Binary read per request to the store. */
const PAGE = 1000;

/** Whether any version of a Binary has a content. @param name last part of the content's key */
export async function isReferred({ history }: Pick<Store, 'history'>, id: string, name: string): Promise<boolean> {
  let after: string | undefined;
  do {
    const page = await history({ type: BINARY, id, count: PAGE, ...(after === undefined ? {} : { after }) });
    if (page.versions.some(({ json }) => json?.includes(name))) return true;
    after = page.next;
  } while (after !== undefined);
  return false;
}
