import { STATUS_CODES } from 'node:http';

import { isObject, type JsonObject, type JsonValue } from '../fhir/resource.js';
import { displayOf } from './display.js';
import { html, template, type Html } from './engine.js';
import { highlightJson } from './highlight.js';
import { linksOf } from './links.js';
import type { PageRequest, Paths, Site } from './site.js';

interface Issue {
  readonly severity: string;
  readonly code: string;
  readonly text: string;
  readonly where: string;
}

interface OutcomePage {
  readonly paths: Paths;
  readonly title: string;
  readonly issues: readonly Issue[];
  readonly needsToken: boolean;
  readonly history: string | undefined;
  readonly search: string | undefined;
  readonly code: Html;
}

const render = template<OutcomePage>('outcome');

/** The title of an answer that failed: `404 Not Found`. */
export function failureTitle(status: number): string {
  return `${status} ${STATUS_CODES[status] ?? ''}`.trim();
}

/** The page of an OperationOutcome: what is wrong, where, and where to go on. */
export function outcomePage(
  outcome: JsonObject,
  title: string,
  status: number,
  { type, id }: PageRequest,
  paths: Paths,
  { tables, isGuarded }: Pick<Site, 'tables' | 'isGuarded'>,
): string {
  const isType = type !== undefined && tables.resourceTypes.includes(type);
  const path = isType ? `${paths.fhir}/${type}` : undefined;
  return render({
    paths,
    title,
    issues: issuesOf(outcome),
    needsToken: status === 401 && isGuarded,
    history:
      status === 410 && path !== undefined && id !== undefined
        ? `${path}/${encodeURIComponent(id)}/_history`
        : undefined,
    search: path,
    code: html(highlightJson(outcome, linksOf(paths))),
  });
}

function issuesOf({ issue }: JsonObject): Issue[] {
  const issues = Array.isArray(issue) ? issue.filter(isObject) : [];
  return issues.map((each) => ({
    severity: displayOf(each['severity']),
    code: displayOf(each['code']),
    text: textOf(each['details']),
    where: displayOf(each['expression'] ?? each['location']),
  }));
}

function textOf(details: JsonValue | undefined): string {
  return isObject(details) && typeof details['text'] === 'string' ? details['text'] : displayOf(details);
}
