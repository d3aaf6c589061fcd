import { PRODUCT } from '../fhir/product.js';
import { template } from './engine.js';
import { framedPage, type Page } from './framed.js';
import { pathsOf, type Paths, type Site } from './site.js';

interface LandingPage {
  readonly paths: Paths;
  readonly product: string;
  readonly isGuarded: boolean;
  readonly hasDocs: boolean;
  readonly first: string;
  readonly tokenCommand: string | undefined;
}

const render = template<LandingPage>('landing');

/**
 * The page at the root of the server and at the FHIR base: what this is, where to go on, and a first request to copy. Every client may
 * read it, so it holds nothing that is confidential.
 *
 * @param base URL of the FHIR base
 */
export function landingPage(base: string, site: Site): Page {
  const paths = pathsOf(base, site);
  const { isGuarded, hasDocs, tokenCommand } = site;
  const content = render({
    ...{ paths, isGuarded, hasDocs, tokenCommand },
    product: `${PRODUCT.name} ${PRODUCT.version}`,
    first: firstRequest(base, isGuarded, tokenCommand),
  });
  return framedPage(site, paths, 'Start', content);
}

function firstRequest(base: string, isGuarded: boolean, tokenCommand: string | undefined): string {
  if (!isGuarded) return `curl '${base}/Patient'`;
  const request = `curl -H "Authorization: Bearer $token" '${base}/Patient'`;
  return tokenCommand === undefined ? request : `token=$(${tokenCommand})\n${request}`;
}
