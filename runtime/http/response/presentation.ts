import type { Negotiated } from '../../format/negotiate.js';
import type { PageWriter } from '../../pages/page.js';

/** How an answer is to look. */
export interface Presentation extends Negotiated {
  /** `_pretty`: indented. */
  readonly pretty: boolean;
  readonly requestId: string;
  /** Who asks decides on the answer, so that no cache may keep it for others. */
  readonly isPersonal?: boolean;
  /** Writes the page of a client that asks for HTML. */
  readonly page?: PageWriter;
}

/** The headers that every answer begins with. */
export function headOf({ requestId, isPersonal = false }: Presentation): string[] {
  return isPersonal ? ['X-Request-Id', requestId, 'Cache-Control', 'no-store'] : ['X-Request-Id', requestId];
}

/** The headers that say what the body is, and that browsers must not take it for anything else. */
export function typeOf({ contentType, page }: Pick<Presentation, 'contentType' | 'page'>): readonly string[] {
  const type = ['Content-Type', contentType, 'X-Content-Type-Options', 'nosniff'];
  return page === undefined ? type : [...type, ...page.headers];
}

/** Request headers, beside `Authorization`, that an answer depends on. */
export type Varying = '' | 'Accept' | 'Accept, Accept-Encoding';

const PERSONALLY: Readonly<Record<Varying, string>> = {
  '': 'Authorization',
  Accept: 'Authorization, Accept',
  'Accept, Accept-Encoding': 'Authorization, Accept, Accept-Encoding',
};

/** The value of `Vary`. @param by what else the answer depends on */
export function varyOf({ isPersonal = false }: Presentation, by: Varying = ''): string {
  return isPersonal ? PERSONALLY[by] : by;
}
