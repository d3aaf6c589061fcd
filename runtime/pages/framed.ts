import { frameOf } from './frame.js';
import { newNonce, pageHeaders } from './policy.js';
import type { Paths, Site } from './site.js';

/** A page with its headers. */
export interface Page {
  readonly headers: readonly string[];
  readonly text: string;
}

/** A page around its content. @param title a text @param content HTML */
export function framedPage(site: Site, paths: Paths, title: string, content: string): Page {
  const nonce = newNonce();
  const { head, tail } = frameOf(site, paths, title, nonce);
  return { headers: pageHeaders(nonce), text: head + content + tail };
}
