import type { RequestHandler } from 'express';

import { PRODUCT } from '../fhir/product.js';
import { escapeHtml, HTML_TYPE, PAGE_HEADERS, PAGE_TAIL, pageHead } from '../format/html.js';
import { wantsPage } from '../format/negotiate.js';
import type { Log } from '../observe/log.js';
import { requestId } from './request/request-id.js';

/** What the landing page says of a server. Everybody may read it, so there is nothing in it that not everybody may know. */
export interface LandingFacts {
  /** URL of the FHIR base. */
  readonly base: string;
  /** URL of the index of the OpenAPI documents. */
  readonly openApi: string;
  /** URL of the reference pages; absent: they are not served. */
  readonly docs?: string | undefined;
  /** Whether requests need a token. */
  readonly isGuarded: boolean;
  /** The command that prints a token, where every client is on this machine. */
  readonly tokenCommand?: string | undefined;
}

/**
 * The page that a browser gets at the root of the server and at the FHIR base. Who does not ask for HTML gets what was there
 * before: nothing at the root, a search at the base.
 *
 * @param paths of the root and the base
 */
export function createLanding(facts: LandingFacts, paths: readonly string[], log: Log): RequestHandler {
  const page = Buffer.from(pageHead('Kiln') + describe(facts) + PAGE_TAIL);
  return (req, res, next) => {
    const isRead = req.method === 'GET' || req.method === 'HEAD';
    if (!isRead || !paths.includes(req.url) || !wantsPage(req.headers.accept)) return next();
    const start = performance.now();
    const id = requestId(req);
    const headers = [
      'X-Request-Id',
      id,
      'Content-Type',
      HTML_TYPE,
      'X-Content-Type-Options',
      'nosniff',
      ...PAGE_HEADERS,
    ];
    headers.push('Cache-Control', 'no-cache', 'Vary', 'Accept', 'Content-Length', String(page.length));
    res.writeHead(200, headers).end(page);
    log.request({ requestId: id, method: req.method, route: '/', status: 200, duration: performance.now() - start });
  };
}

function describe(facts: LandingFacts): string {
  const { base, openApi, docs, isGuarded } = facts;
  const links = [
    link(`${base}/metadata`, 'CapabilityStatement', 'what this server supports'),
    ...(docs === undefined
      ? []
      : [link(docs, 'Reference', 'resource types, search parameters, operations and required scopes')]),
    ...(isGuarded
      ? [
          link(
            `${base}/.well-known/smart-configuration`,
            'Discovery',
            'where clients get tokens (SMART Backend Services)',
          ),
        ]
      : []),
    link(openApi, 'OpenAPI', 'documents for generators of clients and for viewers'),
    link('https://hl7.org/fhir/R5/', 'FHIR R5', 'the specification'),
  ];
  return [
    `<p>A FHIR R5 server: ${escapeHtml(`${PRODUCT.name} ${PRODUCT.version}`)}. The FHIR base is <code>${escapeHtml(base)}</code>.</p>`,
    `<ul>\n${links.join('\n')}\n</ul>`,
    '<h2>First request</h2>',
    firstRequest(facts),
  ].join('\n');
}

function firstRequest({ base, isGuarded, tokenCommand }: LandingFacts): string {
  if (!isGuarded) {
    return `<p>No token is needed. ${anchor(`${base}/Patient`, 'Search all patients')}, or:</p>\n${code(`curl '${base}/Patient'`)}`;
  }
  const request = `curl -H "Authorization: Bearer $token" '${base}/Patient'`;
  if (tokenCommand !== undefined) {
    return `<p>Requests need a token, also from a browser. On this machine:</p>\n${code(`token=$(${tokenCommand})\n${request}`)}`;
  }
  return (
    '<p>Requests need a token of a registered client. The operator registers clients (<code>kiln client add</code>); ' +
    `the discovery document names the token endpoint. Then:</p>\n${code(request)}`
  );
}

function link(url: string, text: string, about: string): string {
  return `<li>${anchor(url, text)}: ${escapeHtml(about)}</li>`;
}

function anchor(url: string, text: string): string {
  return `<a href="${escapeHtml(url)}">${escapeHtml(text)}</a>`;
}

function code(text: string): string {
  return `<pre>${escapeHtml(text)}</pre>`;
}
