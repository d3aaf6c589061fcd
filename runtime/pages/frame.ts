import { PRODUCT } from '../fhir/product.js';
import { escapeHtml } from '../format/html.js';
import { assetsVersion } from './assets.js';
import { template } from './engine.js';
import type { Paths, Site } from './site.js';

/** Frame around the content of a page. */
export interface Frame {
  readonly head: string;
  readonly tail: string;
}

interface FrameData extends Paths {
  readonly title: string;
  readonly nonce: string;
  readonly content: string;
  readonly isGuarded: boolean;
  readonly keepsToken: boolean;
  readonly tokenCommand: string | undefined;
  readonly hasDocs: boolean;
  readonly hasGraphql: boolean;
  readonly hasViews: boolean;
  readonly version: string;
  readonly product: string;
}

const render = template<FrameData>('frame');

/** Characters that no text has, in the places of what differs from page to page. */
const TITLE = '\u0001';
const NONCE = '\u0002';
const CONTENT = '\u0003';

/** What is before the title, between it and the content, split where the nonce is, and after the content. */
interface Parts {
  readonly start: string;
  readonly middle: readonly string[];
  readonly tail: string;
}

/** The frame is the same for all pages but for title, nonce and content, so it is rendered once for each FHIR base. */
const rendered = new WeakMap<Site, Map<string, Parts>>();

/** The frame of a page. @param title a text */
export function frameOf(site: Site, paths: Paths, title: string, nonce: string): Frame {
  const ofSite = rendered.get(site) ?? new Map<string, Parts>();
  rendered.set(site, ofSite);
  const { start, middle, tail } = ofSite.get(paths.root) ?? keep(ofSite, site, paths);
  return { head: start + escapeHtml(title) + middle.join(nonce), tail };
}

function keep(ofSite: Map<string, Parts>, site: Site, paths: Paths): Parts {
  const { isGuarded, keepsToken, tokenCommand, hasDocs, hasGraphql, hasViews } = site;
  const product = `${PRODUCT.name} ${PRODUCT.version}`;
  const places = { title: TITLE, nonce: NONCE, content: CONTENT };
  const known = { isGuarded, keepsToken, tokenCommand, hasDocs, hasGraphql, hasViews };
  const facts = { ...known, version: assetsVersion(), product };
  const [start = '', rest = ''] = render({ ...paths, ...places, ...facts }).split(TITLE);
  const [middle = '', tail = ''] = rest.split(CONTENT);
  const parts = { start, middle: middle.split(NONCE), tail };
  ofSite.set(paths.root, parts);
  return parts;
}
