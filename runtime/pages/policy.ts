import { randomBytes } from 'node:crypto';

/** Marks an answer as a page of this server, so that the script does not take uploaded content for one. */
export const PAGE_MARK = 'Kiln-Page';

/** A value that is good for one answer. */
export function newNonce(): string {
  return randomBytes(16).toString('base64');
}

/**
 * Headers of a page. Only scripts with the nonce run: `'self'` would admit any content that was uploaded as a Binary. Style
 * attributes are ignored, nothing is loaded from other origins, and the page cannot be framed.
 */
export function pageHeaders(nonce: string): readonly string[] {
  return [
    'Content-Security-Policy',
    `default-src 'none'; script-src 'nonce-${nonce}'; style-src 'self'; img-src 'self'; connect-src 'self'; ` +
      `base-uri 'none'; form-action 'self'; frame-ancestors 'none'`,
    'Referrer-Policy',
    // Without it a browser would not say where a form of this page comes from.
    'same-origin',
    PAGE_MARK,
    '1',
  ];
}
