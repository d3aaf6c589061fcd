import type { ExplainedSearch } from '../core/search/explain/explain-search.js';
import type { JsonObject } from '../fhir/resource.js';
import { bundlePage, bundleTitle } from './bundle-page.js';
import { capabilityPage } from './capability-page.js';
import { DIFF, diffPage } from './diff-page.js';
import { failureTitle, outcomePage } from './failure-page.js';
import { frameOf } from './frame.js';
import { planPage, planTitle } from './plan-page.js';
import { newNonce, pageHeaders } from './policy.js';
import { resourcePage, titleOf } from './resource-page.js';
import { pathsOf, type PageRequest, type Site } from './site.js';

/** Writes the answer to one request as a page. */
export interface PageWriter {
  /** Headers of the page. */
  readonly headers: readonly string[];
  write(resource: JsonObject): Promise<string>;
  /** @param bundle without its entries */
  writeBundle(bundle: JsonObject, entries: Iterable<JsonObject>): Promise<Iterable<string>>;
  /** What a search does, instead of what it finds. */
  writePlan(plan: ExplainedSearch): string;
  /** @param outcome an OperationOutcome */
  writeFailure(outcome: JsonObject, status: number): string;
}

/** The page that answers a request for FHIR data. */
export function openPage(request: PageRequest, site: Site): PageWriter {
  const nonce = newNonce();
  const paths = pathsOf(request.base, site);
  const framed = (title: string, content: string): string => {
    const { head, tail } = frameOf(site, paths, title, nonce);
    return head + content + tail;
  };
  return {
    headers: pageHeaders(nonce),
    async write(resource) {
      const { entry, ...bundle } = resource;
      // A Bundle that is stored, or comes from an operation as a document, is a resource like any other.
      if (resource['resourceType'] === 'Bundle' && resource['id'] === undefined) {
        const entries = Array.isArray(entry) ? entry : [];
        return framed(bundleTitle(resource, request), [...bundlePage(bundle, entries, request, paths, site)].join(''));
      }
      return framed(titleOf(resource), await contentOf(resource));
    },
    writeBundle(bundle, entries) {
      const { head, tail } = frameOf(site, paths, bundleTitle(bundle, request), nonce);
      const pieces = function* (): Generator<string> {
        yield head;
        yield* bundlePage(bundle, entries, request, paths, site);
        yield tail;
      };
      return Promise.resolve(pieces());
    },
    writePlan: (plan) => framed(planTitle(request), planPage(plan, request, paths)),
    writeFailure(outcome, status) {
      const title = failureTitle(status);
      return framed(title, outcomePage(outcome, title, status, request, paths, site));
    },
  };

  function contentOf(resource: JsonObject): string | Promise<string> {
    const { interaction, operation } = request;
    const type = resource['resourceType'];
    if (interaction === 'capabilities' && type === 'CapabilityStatement') return capabilityPage(resource, paths);
    if (type === 'OperationOutcome' && resource['id'] === undefined) {
      return outcomePage(resource, 'OperationOutcome', 200, request, paths, site);
    }
    if (operation === DIFF && type === 'Parameters') return diffPage(resource, request, paths);
    return resourcePage(resource, request, paths, site);
  }
}
