import { Router, type RequestHandler } from 'express';
import type { IncomingMessage, ServerResponse } from 'node:http';

import type { Principal } from '../auth/scopes/principal.js';
import type { Call, Reply } from '../core/call.js';
import type { FailedCall } from '../core/call-audit.js';
import { isOwnJob } from '../core/job-files/own-job.js';
import { SEARCH_URL_HELP } from '../search-execution/explain/search-url.js';
import type { Services } from '../core/services.js';
import { SUBSCRIPTION } from '../core/write/content-to-store.js';
import { FhirError } from '../fhir/errors.js';
import { isId } from '../fhir/id.js';
import { wantsPage } from '../format/negotiate.js';
import type { Log } from '../observe/log.js';
import { documentNames, makeDocument, SYSTEM, type DocumentUrls } from '../openapi/documents.js';
import type { Page } from '../pages/framed.js';
import { pathsOf, UI_PATH, type Site } from '../pages/site.js';
import { audited } from './audited.js';
import { OPEN_GATE, type Gate } from './gate.js';
import type { Pages } from './pages.js';
import type { RequestRate } from './request-rate.js';
import { requestId } from './request/request-id.js';
import { HTML_FORM, PLAIN, sendError } from './response/respond.js';
import { checkSameOrigin } from './same-origin.js';
import { sendPage } from './send-page.js';

/** Parts that the pages without FHIR answers are made with. */
export interface UiNeeds {
  readonly site: Site;
  readonly pages: Pages;
  /** URL of the FHIR base, or its path. */
  readonly base: string;
  /** Absent: there is no authorization. */
  readonly gate: Gate | undefined;
  /** Absent: clients may send any number of requests. */
  readonly rate: RequestRate | undefined;
  /** Address of the client. */
  readonly addressOf: (req: IncomingMessage) => string;
  readonly urls: DocumentUrls;
  readonly log: Log;
  readonly servicesNow: () => Services;
}

interface Asked {
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
  /** Of the request. */
  readonly id: string;
  /** What the path names; empty: nothing. */
  readonly name: string;
}

/** Anyone may keep what says no more than `/metadata`, and asks whether it has changed. */
const PUBLIC = ['Cache-Control', 'no-cache'];

/** A page that shows what the token gives. */
const PERSONAL = ['Cache-Control', 'no-store', 'Vary', 'Authorization'];

/**
 * The pages below `/ui`: forms and lists that are made from the definitions, which every client may read like `/metadata`, and the lists of
 * jobs and of Subscriptions, which ask for a token. Data is shown by the pages of FHIR requests alone: these forms lead to them.
 */
export function uiRoutes(needs: UiNeeds): Router {
  const { site, pages, base, gate = OPEN_GATE, rate, addressOf, urls, log, servicesNow } = needs;
  const paths = pathsOf(base, site);
  const router = Router({ strict: false });
  const page = (make: (query: URLSearchParams, name: string) => Promise<Page | undefined>): RequestHandler =>
    answer(async ({ req, res, id, name }) => {
      rate?.take(undefined, addressOf(req));
      const made = await make(queryOf(req), name);
      if (made === undefined) return false;
      sendPage(res, id, made, PUBLIC);
      return true;
    });

  /** Fails as FHIR requests do: with a page for browsers. */
  function answer(handle: (asked: Asked) => Promise<boolean>): RequestHandler {
    return (req, res, next) => {
      const [id, start] = [requestId(req), performance.now()];
      const name = req.params['name'];
      handle({ req, res, id, name: typeof name === 'string' ? name : '' })
        .catch(async (error: unknown) => {
          if (!(error instanceof FhirError)) throw error;
          const look = { pretty: false, requestId: id, isPersonal: true };
          // A program that asks for no page gets an OperationOutcome, whatever it called.
          if (!wantsPage(req.headers.accept)) await sendError(res, error, { ...PLAIN, ...look });
          else {
            const shown = await pages.open({ base, method: req.method, url: req.url, view: 'json' });
            await sendError(res, error, { ...HTML_FORM, ...look, page: shown });
          }
          return true;
        })
        .then((isDone) => {
          if (!isDone) next();
          else {
            const duration = performance.now() - start;
            log.request({ requestId: id, method: req.method, route: UI_PATH, status: res.statusCode, duration });
          }
        })
        .catch(next);
    };
  }

  /**
   * Who asks, and whence, for a page that shows or changes data. What is refused here is recorded: no call is made of it.
   *
   * @param about what is known of the call
   * @param isForm only pages of this server may send it
   */
  async function placeOf(
    req: IncomingMessage,
    requestId: string,
    about: FailedCall,
    isForm = false,
  ): Promise<Pick<Call, 'principal' | 'base' | 'trace'>> {
    const { tables, audit } = servicesNow();
    const address = addressOf(req);
    const trace = address === '' ? { requestId } : { requestId, address };
    let principal: Principal | undefined;
    try {
      if (isForm) checkSameOrigin(req);
      principal = await gate.admit(req, { query: queryOf(req).toString(), isOpen: false, tables, requestId });
      rate?.take(principal.clientId, address);
      return { principal, base, trace };
    } catch (error) {
      const failure = error instanceof FhirError ? error : new FhirError('internal');
      audit.failed({ ...about, ...(principal !== undefined && { principal }), trace }, failure);
      throw error;
    }
  }

  const isType = (name: string): boolean => site.tables.resourceTypes.includes(name);
  const subjectOf = (query: URLSearchParams) => {
    const [type, id] = [query.get('type') ?? '', query.get('id') ?? ''];
    return { type: isType(type) ? type : undefined, id: id === '' ? undefined : id };
  };
  const wiredOperations = () => {
    const { tables, operations } = servicesNow();
    return tables.operations.filter(({ id }) => operations.has(id));
  };

  router.get(
    '/search',
    page(async () => (await import('../pages/tools/search-builder.js')).searchTypesPage(site, paths)),
  );
  router.get(
    '/search/:name',
    page(async (query, type) => {
      if (!isType(type)) return undefined;
      const { searchBuilderPage } = await import('../pages/tools/search-builder.js');
      return searchBuilderPage(type, query, site, paths, servicesNow().shipped);
    }),
  );
  router.get(
    '/explain-search',
    page(async (query) => {
      const { explainPage } = await import('../pages/tools/explain-page.js');
      return explainPage(query.get('search') ?? '', site, paths);
    }),
  );
  router.get(
    '/operations',
    page(async (query) => {
      const { operationsPage } = await import('../pages/tools/operation-pages.js');
      return operationsPage(wiredOperations(), subjectOf(query), site, paths);
    }),
  );
  router.get(
    '/operations/:name',
    page(async (query, id) => {
      const operation = wiredOperations().find((row) => row.id === id);
      if (operation === undefined) return undefined;
      const { operationPage } = await import('../pages/tools/operation-pages.js');
      return operationPage(operation, subjectOf(query), servicesNow().tables, site, paths);
    }),
  );
  router.get(
    '/api',
    page(async () => (await import('../pages/tools/api-page.js')).apiTypesPage(SYSTEM, site, paths)),
  );
  router.get(
    '/api/:name',
    page(async (_query, name) => {
      const services = servicesNow();
      if (!documentNames(services).includes(name)) return undefined;
      const { apiPage } = await import('../pages/tools/api-page.js');
      return apiPage(name, makeDocument(name, services, urls), site, paths);
    }),
  );
  router.get(
    '/edit/:name',
    page(async (query, type) => {
      if (!isType(type)) return undefined;
      const { editPage } = await import('../pages/tools/edit-page.js');
      const id = query.get('id') ?? '';
      return editPage(type, isId(id) ? id : undefined, query.has('copy'), servicesNow().tables, site, paths);
    }),
  );
  router.get(
    '/upload',
    page(async () => (await import('../pages/tools/edit-page.js')).uploadPage(site, paths)),
  );
  router.get(
    '/console',
    page(async (query) => {
      const { consolePage } = await import('../pages/tools/console-page.js');
      return consolePage(query.get('path') ?? '', query.get('method') ?? '', site, paths);
    }),
  );
  router.get(
    '/graphql',
    page(async (query) => {
      if (!site.hasGraphql) return undefined;
      const { graphqlPage } = await import('../pages/tools/graphql-page.js');
      return graphqlPage(subjectOf(query), site, paths);
    }),
  );
  router.get(
    '/views',
    page(async () => {
      if (!site.hasViews) return undefined;
      const { viewsPage } = await import('../pages/tools/views-page.js');
      return viewsPage(site, paths);
    }),
  );
  router.get(
    '/go',
    answer(async ({ req, res, id: ownId }) => {
      rate?.take(undefined, addressOf(req));
      const { operationOf, planOf, searchOf } = await import('../pages/tools/go.js');
      const form = queryOf(req);
      const explained = form.get('explain');
      const type = form.get('search');
      const operation = wiredOperations().find(({ id }) => id === form.get('operation'));
      const target =
        explained !== null
          ? planOf(explained, paths)
          : type !== null && isType(type)
            ? searchOf(type, form, paths)
            : operation === undefined
              ? undefined
              : operationOf(operation, form, paths);
      if (target === undefined)
        throw new FhirError(
          'parameter-invalid',
          explained === null ? 'The form names no search and no operation' : `A search ${SEARCH_URL_HELP}`,
        );
      seeOther(res, ownId, target);
      return true;
    }),
  );
  router.get(
    '/jobs',
    answer(async ({ req, res, id: ownId }) => {
      const { tables, jobs } = servicesNow();
      const { principal } = await placeOf(req, ownId, {});
      // As its status: a job is shown to the client that started it, by a token that gives all it was started with.
      const known = (await jobs?.list())?.filter((job) => isOwnJob(job, { principal }, { tables })) ?? [];
      const { jobsPage } = await import('../pages/tools/jobs-page.js');
      sendPage(res, ownId, jobsPage(known, site, paths), PERSONAL);
      return true;
    }),
  );
  router.post(
    '/edit/:name',
    answer(async ({ req, res, id: ownId, name: type }) => {
      if (!isType(type)) return false;
      const place = await placeOf(req, ownId, { type }, true);
      const { editPlainly } = await import('./plain-edit.js');
      const outcome = await editPlainly(req, res, type, place, servicesNow());
      if ('location' in outcome) {
        seeOther(res, ownId, `${paths.fhir}/${outcome.location}`);
        return true;
      }
      const { plainEditPage } = await import('../pages/tools/edit-page.js');
      sendPage(res, ownId, plainEditPage(outcome.form, site, paths), PERSONAL, outcome.status);
      return true;
    }),
  );
  async function subscriptionCall(
    req: IncomingMessage,
    requestId: string,
    asked: Pick<Call, 'interaction'> & Partial<Call>,
  ): Promise<Call> {
    const about = { ...asked, type: SUBSCRIPTION };
    const place = await placeOf(req, requestId, about, req.method === 'POST');
    return { params: new URLSearchParams(), conditions: {}, prefer: {}, ...about, ...place };
  }
  router.get(
    '/subscriptions',
    answer(async ({ req, res, id: ownId }) => {
      if (!servicesNow().operations.has(STATUS)) return false;
      const asked = { interaction: 'operation', operation: STATUS, level: 'type' } as const;
      const call = await subscriptionCall(req, ownId, asked);
      const { listSubscriptions } = await import('../subscriptions/operations/list.js');
      const services = servicesNow();
      const listed = await audited(call, services, () => listSubscriptions(call, services), ok);
      const { subscriptionsPage } = await import('../pages/tools/subscriptions-page.js');
      sendPage(res, ownId, subscriptionsPage(listed, site, paths), PERSONAL);
      return true;
    }),
  );
  router.post(
    '/subscriptions/:name',
    answer(async ({ req, res, id: ownId, name }) => {
      if (!servicesNow().operations.has(STATUS) || !isId(name)) return false;
      const call = await subscriptionCall(req, ownId, { interaction: 'update', id: name });
      const { retrySubscription } = await import('../subscriptions/operations/list.js');
      const services = servicesNow();
      await audited(call, services, () => retrySubscription(call, services), ok);
      seeOther(res, ownId, `${paths.ui}/subscriptions`);
      return true;
    }),
  );
  return router;
}

const ok = (): Reply => ({ status: 200 });

/** Leads a browser on. https://www.rfc-editor.org/rfc/rfc9110#name-303-see-other */
function seeOther(res: ServerResponse, requestId: string, target: string): void {
  res.writeHead(303, ['X-Request-Id', requestId, 'Location', target, 'Content-Length', '0']).end();
}

/** `OperationRow.id` of the state of Subscriptions. */
const STATUS = 'Subscription-status';

function queryOf({ url = '' }: IncomingMessage): URLSearchParams {
  const mark = url.indexOf('?');
  return new URLSearchParams(mark < 0 ? '' : url.slice(mark + 1));
}
