import type { ServerResponse } from 'node:http';

import { append } from '../fhir/lists.js';
import { HTML_TYPE } from '../format/html.js';
import type { Page } from '../pages/framed.js';

/** Sends a page that is no FHIR answer. @param caching headers that say who may keep it, and what it depends on */
export function sendPage(
  res: ServerResponse,
  requestId: string,
  page: Page,
  caching: readonly string[],
  status = 200,
): void {
  const headers = ['X-Request-Id', requestId, 'Content-Type', HTML_TYPE, 'X-Content-Type-Options', 'nosniff'];
  append(headers, page.headers);
  append(headers, caching);
  headers.push('Content-Length', String(Buffer.byteLength(page.text)));
  res.writeHead(status, headers).end(page.text);
}
