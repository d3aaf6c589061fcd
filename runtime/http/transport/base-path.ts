import type { IncomingMessage } from 'node:http';

/** Takes the path of the base URL off that of a request, which may have come through a proxy that already did. */
export type StripPath = (req: IncomingMessage) => void;

/**
 * Makes a function that takes the path of a base URL off the URLs of requests; undefined: the base URL has no path.
 *
 * @param root the base URL, without a trailing slash
 */
export function createStripPath(root: string | undefined): StripPath | undefined {
  const path = root === undefined ? '' : new URL(root).pathname.replace(/\/+$/, '');
  if (path === '') return undefined;
  return (req) => {
    const url = takeAbsolute(req);
    if (!url.startsWith(path)) return;
    const rest = url.slice(path.length);
    if (rest === '' || rest.startsWith('?')) req.url = `/${rest}`;
    else if (rest.startsWith('/')) req.url = rest;
  };
}

const ABSOLUTE = /^https?:\/\/([^/?#]*)/i;

/** The path of a request, which may come with scheme and host; these then count, not `Host`. RFC 9112, 3.2.2 */
export function takeAbsolute(req: IncomingMessage): string {
  const { url = '/' } = req;
  const [start, host] = ABSOLUTE.exec(url) ?? [];
  if (start === undefined || host === undefined) return url;
  req.headers.host = host;
  const path = url.slice(start.length);
  req.url = path.startsWith('/') ? path : `/${path}`;
  return req.url;
}
