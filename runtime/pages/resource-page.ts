import { isObject, type JsonObject, type Resource, textsOf } from '../fhir/resource.js';
import { nameOf } from './display.js';
import { html, template, type Html } from './engine.js';
import { highlightJson, highlightXml } from './highlight.js';
import { linksOf, resourcePath } from './links.js';
import { narrativeOf } from './narrative.js';
import type { PageRequest, Paths, Site, View } from './site.js';

/** How much of a resource its page shows, in characters of JSON. */
export interface Cut {
  readonly shown: number;
  readonly total: number;
}

interface ResourcePage {
  readonly paths: Paths;
  readonly title: string;
  readonly name: string | undefined;
  readonly type: string;
  readonly id: string | undefined;
  readonly path: string | undefined;
  /** Of this version, where the page is about one. */
  readonly plain: string | undefined;
  readonly version: string | undefined;
  readonly isVersion: boolean;
  /** Of the version before; absent: this is the first. */
  readonly previous: { readonly path: string; readonly changes: string } | undefined;
  readonly lastUpdated: string | undefined;
  readonly profiles: readonly string[];
  readonly tags: readonly string[];
  /** Forms of operations that many want on it. */
  readonly operations: readonly { readonly name: string; readonly path: string }[];
  /** `Observation:subject …`: what may refer to it. */
  readonly referrers: string;
  readonly narrative: Html | undefined;
  readonly isXml: boolean;
  readonly hasXml: boolean;
  /** Absent: the page shows the whole resource. */
  readonly cut: { readonly shown: string; readonly total: string } | undefined;
  readonly code: Html;
}

const render = template<ResourcePage>('resource');

/**
 * The page of one resource: narrative, facts, and its JSON or XML. Nothing but the resource is read for it.
 *
 * @param cut the resource is only the beginning of a larger one
 */
export async function resourcePage(
  resource: JsonObject,
  request: Pick<PageRequest, 'view' | 'versionId'>,
  paths: Paths,
  site: Pick<Site, 'writeXml' | 'tables'>,
  cut?: Cut,
): Promise<string> {
  const { resourceType, id, meta } = resource;
  const type = typeof resourceType === 'string' ? resourceType : 'FHIR';
  const name = nameOf(resource);
  const facts = isObject(meta) ? meta : {};
  const version = textIn(facts, 'versionId');
  const isIdentified = typeof id === 'string';
  const view: View = site.writeXml !== undefined && request.view === 'xml' ? 'xml' : 'json';
  return render({
    paths,
    title: titleOf(resource),
    name: name === id ? undefined : name,
    type,
    id: isIdentified ? id : undefined,
    path: isIdentified ? resourcePath(paths, type, id) : undefined,
    plain: isIdentified ? resourcePath(paths, type, id, request.versionId) : undefined,
    version,
    isVersion: request.versionId !== undefined,
    previous: isIdentified && version !== undefined ? previousOf(type, id, version, paths) : undefined,
    lastUpdated: textIn(facts, 'lastUpdated'),
    profiles: textsOf(facts['profile']),
    tags: [...codesIn(facts['tag']), ...codesIn(facts['security'])],
    operations: isIdentified ? operationsOn(type, id, paths, site) : [],
    referrers: request.versionId === undefined ? referrersOf(type, site) : '',
    narrative: narrativeOf(resource, paths),
    isXml: view === 'xml',
    hasXml: site.writeXml !== undefined,
    cut: cut && { shown: sizeText(cut.shown), total: sizeText(cut.total) },
    code: html(await codeOf(resource, view, paths, site)),
  });
}

/** Operations that the page of a resource names; the others are one page away. */
const NAMED: ReadonlySet<string> = new Set(['everything', 'graph', 'validate']);

function operationsOn(
  type: string,
  id: string,
  { ui }: Paths,
  { tables }: Pick<Site, 'tables'>,
): ResourcePage['operations'] {
  const query = new URLSearchParams({ type, id }).toString();
  return tables.operations
    .filter(({ name, levels }) => NAMED.has(name) && levels.includes('instance'))
    .filter(({ types }) => types === undefined || types.includes(type))
    .map((row) => ({ name: row.name, path: `${ui}/operations/${row.id}?${query}` }));
}

/** Reference parameters that may lead to a type. Those of any type would be nearly all that there are. */
function referrersOf(type: string, { tables }: Pick<Site, 'tables'>): string {
  return tables.search
    .filter((table) => tables.resourceTypes.includes(table.type))
    .flatMap((table) =>
      table.parameters
        .filter(({ type: kind, targets }) => kind === 'reference' && targets?.includes(type) === true)
        .map(({ code }) => `${table.type}:${code}`),
    )
    .join(' ');
}

/** `8 kB`, `1.4 MB`. */
function sizeText(characters: number): string {
  const [size, unit] = characters < 1e6 ? [characters / 1e3, 'kB'] : [characters / 1e6, 'MB'];
  return `${size < 10 ? size.toFixed(1) : Math.round(size)} ${unit}`;
}

/** `Patient/ada`, or the type where there is no id. */
export function titleOf({ resourceType, id }: JsonObject): string {
  return [resourceType, id].filter((part) => typeof part === 'string').join('/') || 'FHIR';
}

async function codeOf(resource: JsonObject, view: View, paths: Paths, { writeXml }: Pick<Site, 'writeXml'>) {
  const linkOf = linksOf(paths);
  if (view === 'json' || writeXml === undefined) return highlightJson(resource, linkOf);
  return highlightXml(await writeXml(resource as Resource), linkOf);
}

/** Version ids are numbers from 1. */
function previousOf(type: string, id: string, version: string, paths: Paths): ResourcePage['previous'] {
  const before = Number(version) - 1;
  if (!(before >= 1)) return undefined;
  return {
    path: resourcePath(paths, type, id, String(before)),
    changes: `${resourcePath(paths, type, id, version)}/$diff`,
  };
}

function textIn(object: JsonObject, name: string): string | undefined {
  const value = object[name];
  return typeof value === 'string' ? value : undefined;
}

function codesIn(value: JsonObject[string] | undefined): string[] {
  const codings = Array.isArray(value) ? value.filter(isObject) : [];
  return codings.flatMap((coding) => textIn(coding, 'display') ?? textIn(coding, 'code') ?? []);
}
