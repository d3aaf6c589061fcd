import { type JsonObject, type JsonValue, objectsOf } from '../fhir/resource.js';
import { html, template, type Html } from './engine.js';
import { highlightJson } from './highlight.js';
import { linksOf, resourcePath, type LinkOf } from './links.js';
import type { PageRequest, Paths } from './site.js';

/** `OperationRow.id` of `$diff`. */
export const DIFF = 'diff';

interface Change {
  readonly kind: string;
  readonly path: string;
  readonly before: Html | undefined;
  readonly after: Html | undefined;
  /** Of a move: from where to where. */
  readonly move: string | undefined;
}

interface DiffPage {
  readonly paths: Paths;
  readonly sides: readonly { readonly label: string; readonly path: string }[];
  readonly history: string | undefined;
  readonly changes: readonly Change[];
  readonly plain: string;
}

const render = template<DiffPage>('diff');

/** The page of what `$diff` answers: the operations of a FHIRPath Patch as a table. https://hl7.org/fhir/R5/fhirpatch.html */
export function diffPage(patch: JsonObject, request: PageRequest, paths: Paths): string {
  const linkOf = linksOf(paths);
  const sides = sidesOf(request, paths);
  const [first] = sides;
  return render({
    paths,
    sides,
    history: first === undefined ? undefined : `${first.path.replace(/\/_history\/.*$/, '')}/_history`,
    changes: objectsOf(patch['parameter']).map((each) => changeOf(each, linkOf)),
    plain: `${paths.fhir}${request.url}${request.url.includes('?') ? '&' : '?'}_format=json&_pretty=true`,
  });
}

/** What is compared, as far as the URL names it. */
function sidesOf({ url, type, id, versionId }: PageRequest, paths: Paths): DiffPage['sides'] {
  const mark = url.indexOf('?');
  const params = new URLSearchParams(mark < 0 ? '' : url.slice(mark + 1));
  const linkOf = linksOf(paths);
  const named = ['from', 'to'].flatMap((name) => {
    const reference = params.get(name)?.replace('/version/', '/_history/') ?? '';
    const path = linkOf(reference);
    return path === undefined ? [] : [{ label: reference.replace('/_history/', ' version '), path }];
  });
  if (type === undefined || id === undefined) return named;
  const label = versionId === undefined ? `${type}/${id}` : `${type}/${id} version ${versionId}`;
  return [{ label, path: resourcePath(paths, type, id, versionId) }];
}

function changeOf(operation: JsonObject, linkOf: LinkOf): Change {
  const parts = objectsOf(operation['part']);
  const kind = textOf(parts, 'type');
  const name = textOf(parts, 'name');
  const index = valueOf(parts, 'index');
  const place = name === '' ? '' : `.${name}`;
  return {
    kind,
    path: textOf(parts, 'path') + place + (kind === 'insert' && index !== undefined ? `[${String(index)}]` : ''),
    before: shown(valueOf(parts, 'previousValue'), linkOf),
    after: shown(valueOf(parts, 'value'), linkOf),
    move:
      kind === 'move' ? `${String(valueOf(parts, 'source'))} → ${String(valueOf(parts, 'destination'))}` : undefined,
  };
}

function shown(value: JsonValue | undefined, linkOf: LinkOf): Html | undefined {
  return value === undefined ? undefined : html(highlightJson(value, linkOf));
}

function textOf(parts: readonly JsonObject[], name: string): string {
  const value = valueOf(parts, name);
  return typeof value === 'string' ? value : '';
}

/** The value of a part, whatever its type; of one with parts, these as members of an object. */
function valueOf(parts: readonly JsonObject[], name: string): JsonValue | undefined {
  const part = parts.find((each) => each['name'] === name);
  return part === undefined ? undefined : contentOf(part);
}

function contentOf(part: JsonObject): JsonValue | undefined {
  if (part['resource'] !== undefined) return part['resource'];
  const key = Object.keys(part).find((each) => each.startsWith('value'));
  if (key !== undefined) return part[key];
  const inner = objectsOf(part['part']);
  return inner.length === 0
    ? undefined
    : Object.fromEntries(inner.map((each) => [String(each['name']), contentOf(each) ?? null]));
}
