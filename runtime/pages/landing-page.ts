import { PRODUCT } from '../fhir/product.js';
import { template } from './engine.js';
import { framedPage, type Page } from './framed.js';
import { pathsOf, type Paths, type Site } from './site.js';

/**
 * Facts about a server that the landing page shows. Every client may read the page, so it holds nothing that is confidential.
 */
export interface LandingFacts {
  /** URL of the FHIR base. */
  readonly base: string;
  /** The command that prints a token, where every client is on this machine. */
  readonly tokenCommand?: string | undefined;
}

interface LandingPage {
  readonly paths: Paths;
  readonly product: string;
  readonly isGuarded: boolean;
  readonly hasDocs: boolean;
  readonly first: string;
  readonly tokenCommand: string | undefined;
}

const render = template<LandingPage>('landing');

/** The page at the root of the server and at the FHIR base: what this is, where to go on, and a first request to copy. */
export function landingPage({ base, tokenCommand }: LandingFacts, site: Site): Page {
  const paths = pathsOf(base, site);
  const { isGuarded, hasDocs } = site;
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
