import type { ExplainedSearch } from '../search-execution/explain/explain-search.js';
import type { JsonObject } from '../fhir/resource.js';
import { readJson } from '../format/read-json.js';
import { bundlePage, bundleTitle } from './bundle-page.js';
import { capabilityPage } from './capability-page.js';
import { cutJson } from './cut-json.js';
import { DIFF, diffPage } from './diff-page.js';
import { failureTitle, outcomePage } from './failure-page.js';
import { frameOf } from './frame.js';
import { planPage, planTitle } from './plan-page.js';
import { newNonce, pageHeaders } from './policy.js';
import { resourcePage, titleOf, type Cut } from './resource-page.js';
import { pathsOf, type PageRequest, type Site } from './site.js';

/**
 * Characters of the JSON of one resource that its page shows, so that the page costs at most three times what the JSON costs. The
 * script of the page gets the rest when it is asked for.
 */
const SHOWN = 6 * 1024;

/** Writes the answer to one request as a page. */
export interface PageWriter {
  /** Headers of the page. */
  readonly headers: readonly string[];
  write(resource: JsonObject): Promise<string>;
  /** Writes a resource that is JSON text. A page of one large resource shows its beginning. */
  writeText(json: string): Promise<string>;
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
  const write = async (resource: JsonObject, cut?: Cut): Promise<string> => {
    const { entry, ...bundle } = resource;
    // A Bundle that is stored, or comes from an operation as a document, is a resource like any other.
    if (resource['resourceType'] === 'Bundle' && resource['id'] === undefined && cut === undefined) {
      const entries = Array.isArray(entry) ? entry : [];
      return framed(bundleTitle(resource, request), [...bundlePage(bundle, entries, request, paths, site)].join(''));
    }
    return framed(titleOf(resource), await contentOf(resource, cut));
  };
  return {
    headers: pageHeaders(nonce),
    write: (resource) => write(resource),
    writeText(json) {
      const isOne = request.interaction === 'read' || request.interaction === 'vread';
      if (!isOne || json.length <= SHOWN) return write(readJson(json) as JsonObject);
      const cut = cutJson(json, SHOWN);
      return write(readJson(cut) as JsonObject, { shown: cut.length, total: json.length });
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

  function contentOf(resource: JsonObject, cut: Cut | undefined): string | Promise<string> {
    const { interaction, operation } = request;
    const type = resource['resourceType'];
    if (interaction === 'capabilities' && type === 'CapabilityStatement') return capabilityPage(resource, paths);
    if (type === 'OperationOutcome' && resource['id'] === undefined) {
      return outcomePage(resource, 'OperationOutcome', 200, request, paths, site);
    }
    if (operation === DIFF && type === 'Parameters') return diffPage(resource, request, paths);
    return resourcePage(resource, request, paths, site, cut);
  }
}
