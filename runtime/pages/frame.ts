import { PRODUCT } from '../fhir/product.js';
import { escapeHtml } from '../format/html.js';
import { assetsVersion } from './assets.js';
import { template } from './engine.js';
import type { Paths, Site } from './site.js';

/** What is around the content of a page. */
export interface Frame {
  readonly head: string;
  readonly tail: string;
}

interface FrameData extends Paths {
  readonly title: string;
  readonly nonce: string;
  readonly content: string;
  readonly isGuarded: boolean;
  readonly hasDocs: boolean;
  readonly version: string;
  readonly product: string;
}

const render = template<FrameData>('frame');

/** Characters that no text has, in the places of what differs from page to page. */
const TITLE = '\u0001';
const NONCE = '\u0002';
const CONTENT = '\u0003';

/** The frame is the same for all pages but for three places, so it is rendered once for each FHIR base. */
const rendered = new WeakMap<Site, Map<string, readonly string[]>>();

/** The frame of a page. @param title a text */
export function frameOf(site: Site, paths: Paths, title: string, nonce: string): Frame {
  const ofSite = rendered.get(site) ?? new Map<string, readonly string[]>();
  rendered.set(site, ofSite);
  const [start = '', untilNonce = '', untilContent = '', tail = ''] =
    ofSite.get(paths.root) ?? keep(ofSite, site, paths);
  return { head: `${start}${escapeHtml(title)}${untilNonce}${nonce}${untilContent}`, tail };
}

function keep(ofSite: Map<string, readonly string[]>, site: Site, paths: Paths): readonly string[] {
  const { isGuarded, hasDocs } = site;
  const product = `${PRODUCT.name} ${PRODUCT.version}`;
  const places = { title: TITLE, nonce: NONCE, content: CONTENT };
  const text = render({ ...paths, ...places, isGuarded, hasDocs, version: assetsVersion(), product });
  // eslint-disable-next-line no-control-regex
  const parts = text.split(/[\u0001-\u0003]/);
  ofSite.set(paths.root, parts);
  return parts;
}
