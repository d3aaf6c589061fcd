import type { OutgoingHttpHeaders, ServerResponse } from 'node:http';

type Headers = OutgoingHttpHeaders | (string | number | string[])[];

/**
 * Has an answer say that it depends on `Origin`, beside what it says itself: a shared cache would give the leave of one page to
 * another. Headers that come with the status replace those set before, so it is put in there. RFC 9110, 12.5.5
 */
export function varyByOrigin(res: ServerResponse): void {
  const writeHead = res.writeHead.bind(res);
  res.writeHead = ((status: number, headers: Headers = []) => {
    const list = Array.isArray(headers)
      ? headers
      : Object.entries(headers).flatMap(([name, value = '']) => [name, value]);
    const at = list.indexOf('Vary');
    const own = at < 0 ? res.getHeader('Vary') : list[at + 1];
    const vary = own === undefined ? 'Origin' : `${String(own)}, Origin`;
    if (at < 0) list.push('Vary', vary);
    else list[at + 1] = vary;
    return writeHead(status, list);
  }) as typeof res.writeHead;
}
