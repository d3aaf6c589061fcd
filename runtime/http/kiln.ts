import type { IncomingMessage, ServerResponse } from 'node:http';

import { scopeTargetOf } from '../auth/access/scope-rows.js';
import { OPEN_ACCESS, type Principal } from '../auth/scopes/principal.js';
import { attemptOrIgnore } from '../fhir/attempt.js';
import { FhirError, type Issue } from '../fhir/errors.js';
import { knownMethod } from '../observe/known-method.js';
import { parseQuery } from '../fhir/parse-query.js';
import { asksForResource, namedType, negotiate, PAGE_HINT, releaseOf, type Negotiated } from '../format/negotiate.js';
import type { Call, Trace } from '../core/call.js';
import { sendAudited, type FailedCall } from '../core/call-audit.js';
import type { LargeBodies } from '../core/write/large-bodies.js';
import type { DefinitionServices, Services } from '../core/services.js';
import { authorize, type ScopeServices } from '../search-execution/authorize/authorize.js';
import { hasSpans, requestSpan, span, type RequestFacts } from '../observe/trace/spans.js';
import { execute } from '../interactions/execute.js';
import { explain, isSearch } from '../interactions/search/explain.js';
import { respondsLater, startRequest } from '../operations/async/start-request.js';
import { hasContent } from '../interactions/registry.js';
import { patchTypes } from '../interactions/write/sent-patch.js';
import { SILENT, type Log } from '../observe/log.js';
import { VIEW_PARAMETER, type PageRequest, type View } from '../pages/site.js';
import type { RequestRate } from './request-rate.js';
import { createServing, type ServiceOptions, type Serving } from './create-services.js';
import { OPEN_GATE, type Gate } from './gate.js';
import { isLocal } from './open-mode.js';
import { openRoutes } from './open-routes.js';
import type { Pages } from './pages.js';
import type { Incoming } from './request/incoming.js';
import { hasOnlyJson, ownAnswers, readsFormat } from './request/operation-bodies.js';
import { drain, hasBody } from './request/read-body.js';
import { readCall } from './request/read-call.js';
import { requestId } from './request/request-id.js';
import type { PageWriter } from '../pages/page.js';
import type { Presentation } from './response/presentation.js';
import { PLAIN, sendError, sendPageText, sendReply, takesJson } from './response/respond.js';
import type { Destination, Router } from './router.js';

/** Options of a FHIR handler. */
export interface KilnOptions extends ServiceOptions {
  readonly log?: Log;
  /** The definitions that hold at the moment, where they come and go; absent: always those of the options. */
  readonly live?: () => Partial<DefinitionServices>;
  /** Where large bodies are read; absent: where all are. */
  readonly large?: LargeBodies;
  /** Who may ask; absent: there is no authorization. */
  readonly gate?: Gate;
  /** URL of the FHIR base for who calls the server by a name that is not this machine's, where none is configured. */
  readonly ownBase?: string;
  /** How many requests a client may send; absent: any number. */
  readonly rate?: RequestRate | undefined;
  /** Address of a client; absent: that of the connection. */
  readonly clientAddress?: (req: IncomingMessage) => string;
}

/**
 * The FHIR interface: guard, one Map lookup, the interaction, the answer.
 *
 * @param url path and query relative to the base
 * @param mount path of the base on this server
 */
export type FhirServer = (req: IncomingMessage, res: ServerResponse, url: string, mount: string) => Promise<void>;

/** Returns a function that gives the services of a server with these options, as they are at each moment. */
export function servingOf(options: KilnOptions): () => Serving {
  const { large } = options;
  return createServing(large === undefined ? options : { ...options, largeTexts: large }, options.live);
}

/** The FHIR interface. https://hl7.org/fhir/R5/http.html */
export function createFhirServer(options: KilnOptions, pages: Pages, serving = servingOf(options)): FhirServer {
  const { log = SILENT, large, gate = OPEN_GATE, clientAddress = peerAddress } = options;
  const rest = {
    log,
    large,
    gate,
    rate: options.rate,
    ownBase: options.ownBase,
    pages,
    isOpen: openRoutes(options.tables),
  };
  let context: Context = { ...serving(), ...rest };
  return (req, res, url, mount) => {
    // One request goes by one set of definitions.
    const now = serving();
    if (context.services !== now.services) context = { ...now, ...rest };
    return (hasSpans() ? handleInSpan : handle)(new Exchange(req, res, url, mount, clientAddress), context);
  };
}

/** That of the connection. */
export function peerAddress(req: IncomingMessage): string {
  return req.socket.remoteAddress ?? '';
}

interface Context extends Serving {
  readonly log: Log;
  readonly large: LargeBodies | undefined;
  readonly gate: Gate;
  readonly rate: RequestRate | undefined;
  readonly ownBase: string | undefined;
  readonly pages: Pages;
  /** Whether a method and a path are for everybody. */
  readonly isOpen: (method: string, path: string) => boolean;
}

const NO_PARAMS = new URLSearchParams();
const NO_CONDITIONS = {};

/** One request and what is known of it so far. */
class Exchange {
  readonly start = performance.now();
  readonly id: string;
  readonly method: string;
  params = NO_PARAMS;
  destination: Destination | undefined;
  principal: Principal | undefined;
  call: Call | undefined;
  form: Negotiated | undefined;
  /** Of a client that asks for HTML: writes the answer. */
  page: PageWriter | undefined;
  view: View = 'json';
  /** Who asks decides on the answer. */
  isPersonal = false;
  /** To be done at the end. */
  readonly left: (() => void)[] = [];

  constructor(
    readonly req: IncomingMessage,
    readonly res: ServerResponse,
    readonly url: string,
    readonly mount: string,
    readonly addressOf: (req: IncomingMessage) => string,
  ) {
    this.id = requestId(req);
    this.method = req.method ?? 'GET';
  }

  get trace(): Trace {
    const address = this.addressOf(this.req);
    return address === '' ? { requestId: this.id } : { requestId: this.id, address };
  }

  get look(): Presentation {
    const pretty = this.params.size > 0 && this.params.has('_pretty') && this.params.get('_pretty') !== 'false';
    const { format, contentType } = this.form ?? PLAIN;
    const { id: requestId, isPersonal, page } = this;
    const look = { format, contentType, pretty, requestId, isPersonal };
    return page === undefined ? look : { ...look, page };
  }
}

/** Handles a request within its span, with the facts that a trace has of it. */
function handleInSpan(exchange: Exchange, context: Context): Promise<void> {
  const facts = (): RequestFacts => {
    const { destination, method, res } = exchange;
    const { row, type } = destination ?? {};
    return {
      method: knownMethod(method),
      route: row?.path,
      interaction: row?.interaction,
      type,
      status: res.statusCode,
    };
  };
  return requestSpan(exchange.req.headers, () => handle(exchange, context), facts);
}

async function handle(exchange: Exchange, context: Context): Promise<void> {
  const { log, codecs } = context;
  const { req, res, id, method } = exchange;
  let failed: string | undefined;
  let missing: string | undefined;
  try {
    await answer(exchange, context);
  } catch (error) {
    if (!(error instanceof FhirError)) {
      if (isCutOff(error, res)) res.destroy();
      else log.defect(id, error);
    } else if (error.status >= 500) failed = describeFailure(error);
    const failure = error instanceof FhirError ? error : new FhirError('internal');
    missing = failure.missingScopes;
    exchange.destination ??= aimOfRefused(exchange, context);
    context.services.audit.failed(failedCall(exchange), failure);
    exchange.form ??= formOfFailure(exchange, context);
    if (exchange.form.format === 'html')
      await openPage(exchange, context).catch((defect: unknown) => log.defect(id, defect));
    await sendError(res, failure, exchange.look, codecs).catch((defect: unknown) => log.defect(id, defect));
    // What has begun and cannot be ended well must not look whole.
    if (!res.writableEnded) res.destroy();
  }
  for (const action of exchange.left) action();
  const row = exchange.destination?.row;
  log.request({
    requestId: id,
    method,
    route: row?.path,
    interaction: row?.interaction,
    status: res.statusCode,
    duration: performance.now() - exchange.start,
    failure: failed,
    ...(res.statusCode === FORBIDDEN && { client: exchange.principal?.clientId || undefined, missing }),
    params: exchange.params.size === 0 ? undefined : namesOf(exchange.params),
  });
  if (!req.complete && hasBody(req)) drain(req, 1.25 * context.services.limits.body);
}

/** The log says of these which client lacks which scopes. */
const FORBIDDEN = 403;

/** What a client makes up is no reason for long lines. */
const LOGGED_NAMES = 50;
const LOGGED_LENGTH = 64;

function namesOf(params: URLSearchParams): string[] {
  const names = [...new Set(params.keys())].slice(0, LOGGED_NAMES);
  return names.map((name) => (name.length > LOGGED_LENGTH ? `${name.slice(0, LOGGED_LENGTH)}…` : name));
}

/** An outage floods the log with these, so they are one line each, without a stack. */
function describeFailure({ code, issues: [{ diagnostics }] }: FhirError): string {
  return diagnostics === undefined ? code : `${code} (${diagnostics})`;
}

async function answer(exchange: Exchange, context: Context): Promise<void> {
  const { services, codecs, router, large } = context;
  const { req, res, method, url } = exchange;
  const admitted = context.gate === OPEN_GATE ? admit(exchange, context) : admitInSpan(exchange, context);
  const principal = admitted instanceof Promise ? await admitted : admitted;
  exchange.principal = principal;
  context.rate?.take(principal.clientId, exchange.addressOf(req));
  const path = splitUrl(exchange, services.limits.url);
  if (method === 'OPTIONS') {
    const allow = router.allowed(path);
    // RFC 5789, 3.1
    const patches = allow.includes('PATCH') ? ['Accept-Patch', patchTypes(services).join(', ')] : [];
    const headers = allow.length === 0 ? [] : ['Allow', allow.join(', '), ...patches];
    res.writeHead(204, ['X-Request-Id', exchange.id, ...headers]).end();
    const { row: _row, ...place } = aimOf('GET', exchange, router) ?? {};
    services.audit.answered({ ...place, principal, params: exchange.params, trace: exchange.trace }, { status: 204 });
    return;
  }
  if (!url.startsWith('/')) throw new FhirError('url-invalid');
  if (exchange.params.size > 0) takeView(exchange, context);
  const destination = router.find(method, path);
  exchange.destination = destination;
  if (principal.access !== OPEN_ACCESS) authorizeHead(exchange, destination, principal, services);
  const isContent = destination.type !== undefined && hasContent(destination.row.interaction, destination.type);
  const wantsContent = isContent && chooseContent(exchange);
  exchange.form = wantsContent ? PLAIN : formOfAnswer(exchange, destination, services);
  const base = baseOf(exchange, context);
  const { params, trace } = exchange;
  // Written out: what spreads an object and adds to it takes as long as the rest of this function.
  const incoming: Incoming = {
    req,
    res,
    destination,
    principal,
    params,
    base,
    wantsContent,
    large,
    trace,
    release: releaseOf(services.tables.origin.fhirVersion),
    exchanges: services.tables.exchanges,
    patchTypes: () => patchTypes(services),
    whenDone: (action) => exchange.left.push(action),
  };
  const call = await readCall(incoming, codecs, services.limits);
  exchange.call = call;
  if (call.form !== undefined) takeForm(exchange, call.form, services);
  if (exchange.view === 'plan' && isSearch(call)) {
    const plan = await explain(call, services);
    services.audit.answered(call, { status: 200 });
    const page = await openPage(exchange, context);
    return sendPageText(req, res, page.writePlan(plan), exchange.look);
  }
  const isLater = respondsLater(call, method, services);
  const reply = await (isLater ? startRequest(call, services) : execute(call, services));
  const writing = { codecs, resourceLimit: services.limits.resource, large };
  await sendAudited(services.audit, call, reply, async () => {
    if (exchange.form?.format === 'html') await openPage(exchange, context);
    await sendReply(req, res, reply, exchange.look, base, writing);
  });
}

function baseOf({ req, mount }: Exchange, { services, ownBase }: Context): string {
  return services.baseUrl ?? requestBase(req, mount, ownBase);
}

/** Takes what chooses the view of a page from the parameters: it is none of FHIR. */
function takeView(exchange: Exchange, { services }: Context): void {
  const { params } = exchange;
  if (!params.has(VIEW_PARAMETER)) return;
  try {
    if (negotiated(exchange, services).format !== 'html') return;
  } catch {
    // The refusal of the form has its own time.
    return;
  }
  const view = params.get(VIEW_PARAMETER);
  if (view === 'xml' || view === 'plan') exchange.view = view;
  params.delete(VIEW_PARAMETER);
}

async function openPage(exchange: Exchange, context: Context): Promise<PageWriter> {
  const { destination, method, url, view } = exchange;
  const { row, ...place } = destination ?? {};
  const request: PageRequest = {
    ...place,
    ...(row !== undefined && scopeTargetOf(row)),
    ...{ base: baseOf(exchange, context), method, url, view },
  };
  exchange.page ??= await context.pages.open(request);
  return exchange.page;
}

/** Where a request would have led that was refused before that was looked at: the log and the audit tell it. */
function aimOfRefused(exchange: Exchange, { router }: Context): Destination | undefined {
  return exchange.principal === undefined ? aimOf(exchange.method, exchange, router) : undefined;
}

/** Where the path of a request leads by a method; undefined: nowhere. */
function aimOf(method: string, exchange: Exchange, router: Router): Destination | undefined {
  try {
    return router.find(method, splitUrl(exchange, Infinity));
  } catch {
    return undefined;
  }
}

/** What is known of a call that failed, however early. */
function failedCall({ destination, principal, params, trace, call }: Exchange): FailedCall {
  if (call !== undefined) return call;
  const { row, ...place } = destination ?? {};
  return {
    ...place,
    ...(row !== undefined && { interaction: row.interaction }),
    ...(row?.operation !== undefined && { operation: row.operation }),
    ...(principal !== undefined && { principal }),
    params,
    trace,
  };
}

/** Finds out who asks. Answers by that are for no other client, refusals as well. */
function admit(exchange: Exchange, { gate, isOpen, services: { tables } }: Context): Principal | Promise<Principal> {
  const { req, method, url, id: requestId } = exchange;
  const mark = url.indexOf('?');
  const isForAll = gate !== OPEN_GATE && isOpen(method, mark < 0 ? url : url.slice(0, mark));
  exchange.isPersonal = !isForAll && gate !== OPEN_GATE;
  return gate.admit(req, { query: mark < 0 ? '' : url.slice(mark + 1), isOpen: isForAll, tables, requestId });
}

function admitInSpan(exchange: Exchange, context: Context): Principal | Promise<Principal> {
  return span('authorize', {}, () => admit(exchange, context));
}

/** What the URL and the headers ask for is refused before the body is read. */
function authorizeHead(
  { req: { headers }, params }: Exchange,
  { row, type, id, member }: Destination,
  { access }: Principal,
  services: ScopeServices,
): void {
  const ifNoneExist = headers['if-none-exist'];
  const conditions = ifNoneExist === undefined ? NO_CONDITIONS : { ifNoneExist: String(ifNoneExist) };
  const { interaction, operation, level } = scopeTargetOf(row);
  authorize({ interaction, operation, level, type, id, member, params, conditions }, access, services);
}

/** Whether this answer is content: a Binary is read, or written, and its resource is not asked for. */
function chooseContent({ req, params }: Exchange): boolean {
  return !asksForResource(req.headers.accept, formatOf(params));
}

/** `_format`, if it has a value. */
function formatOf(params: URLSearchParams): string | undefined {
  return params.size === 0 ? undefined : params.getAll('_format').find((value) => value !== '');
}

function negotiated({ req, params }: Exchange, { formats, tables }: Pick<Services, 'formats' | 'tables'>): Negotiated {
  const { accept } = req.headers;
  const format = formatOf(params);
  return accept === undefined && format === undefined
    ? PLAIN
    : negotiate(accept, format, formats, releaseOf(tables.origin.fhirVersion));
}

/** The form of an answer. An operation may answer in another one: who asks for that alone gets failures in JSON. */
function formOfAnswer(exchange: Exchange, { row }: Destination, services: Services): Negotiated {
  const { exchanges } = services.tables;
  try {
    const form = negotiated(exchange, services);
    if (form.format === 'xml' && hasOnlyJson(row, exchanges) && !takesJson(exchange.req)) {
      throw new FhirError('not-acceptable', `The answer is JSON; accept application/fhir+json; ${PAGE_HINT}`);
    }
    return form;
  } catch (error) {
    const own = ownAnswers(row, exchanges);
    const { req, params } = exchange;
    const format = formatOf(params);
    const isOwn =
      format === undefined ? namedType(req.headers.accept, own) !== undefined : readsFormat(row, services.tables);
    if (own.length > 0 && isOwn) return format === undefined ? PLAIN : formBeside(req.headers.accept, services);
    throw own.length > 0 && error instanceof FhirError ? error.map((issue) => alsoAnswers(issue, own)) : error;
  }
}

/** The form of resources, of failures too, where `_format` names a form of an operation: XML for a client that likes it best. */
function formBeside(accept: string | undefined, { formats }: Pick<Services, 'formats'>): Negotiated {
  const form = attemptOrIgnore(() => negotiate(accept, undefined, formats));
  return form?.format === 'xml' ? form : PLAIN;
}

/** Says what an operation answers beside FHIR. */
function alsoAnswers(issue: Issue, own: readonly string[]): Issue {
  return { ...issue, text: `${issue.text}. The operation also answers ${own.join(', ')}` };
}

/** A search that is posted may say in its body how to write the answer. */
function takeForm(exchange: Exchange, form: URLSearchParams, services: Services): void {
  exchange.params = new URLSearchParams([...exchange.params, ...form]);
  if (formatOf(form) !== undefined) exchange.form = negotiated(exchange, services);
}

/** A failure is reported in the form that the client wants, if it can be had. */
function formOfFailure(exchange: Exchange, { services }: Context): Negotiated {
  try {
    // Who is not let in is refused before the URL is looked at.
    if (exchange.params === NO_PARAMS) splitUrl(exchange, Infinity);
  } catch {
    // It is not what this failure is about.
  }
  try {
    return negotiated(exchange, services);
  } catch {
    return PLAIN;
  }
}

/** The path; the query becomes the parameters of the exchange. */
function splitUrl(exchange: Exchange, limit: number): string {
  const { url, mount } = exchange;
  if (mount.length + url.length > limit) throw new FhirError('url-too-long', `A URL may have ${limit} characters`);
  const mark = url.indexOf('?');
  if (mark < 0) return url;
  exchange.params = parseQuery(url.slice(mark + 1));
  return url.slice(0, mark);
}

/**
 * URL of the base as the client sees it: its Host, and the path that the handler is mounted on. What is below it counts as ours,
 * so another name than those of this machine does not count.
 */
function requestBase(req: IncomingMessage, mount: string, ownBase: string | undefined): string {
  const { host = '' } = req.headers;
  if (ownBase !== undefined && !isLocal(host)) return ownBase;
  const scheme = 'encrypted' in req.socket ? 'https' : 'http';
  return `${scheme}://${host}${mount}`;
}

/** Whether an answer was not taken to its end: that is the client's affair, and no defect. */
function isCutOff(error: unknown, res: ServerResponse): boolean {
  const { code, name } = (error ?? {}) as { code?: string; name?: string };
  return res.destroyed && (code === 'ERR_STREAM_PREMATURE_CLOSE' || name === 'AbortError');
}
