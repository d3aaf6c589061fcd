import type { Call, Reply } from '../../core/call.js';
import { openGraph } from '../../search-execution/graph/include-graph.js';
import { writeLink } from '../../search-execution/pages/page-walk.js';
import { renderPage } from '../../search-execution/present/render-page.js';
import { replySearchBundle } from '../../search-execution/present/search-bundle.js';
import type { Services } from '../../core/services.js';
import { FhirError } from '../../fhir/errors.js';
import { read } from '../../interactions/read/read.js';
import type { StoredVersion } from '../../store/store.js';
import { readArguments, valueOf } from '../common/arguments.js';

/**
 * `[type]/[id]/$graph`: a resource and all that a GraphDefinition leads to from it, as far as the token may see it.
 * https://hl7.org/fhir/R5/resource-operation-graph.html
 *
 * @throws FhirError `not-found`, `parameter-invalid` for a graph that cannot be followed, `too-costly` where it leads to too much
 */
export async function graph(call: Call, services: Services): Promise<Reply> {
  const named = String(valueOf(readArguments(call, services), 'graph'));
  const focus = await readVersion(call, services);
  const included = await followGraph(focus, named, call, services);
  const { type = '', id = '' } = call;
  return replySearchBundle({
    page: { versions: [focus], complete: focus.lastUpdated },
    total: 1,
    base: call.base,
    self: writeLink(call, `${type}/${id}/$graph`, [['graph', named]]),
    texts: await renderPage([focus], () => undefined, services),
    included,
    includedTexts: await renderPage(included, () => undefined, services),
    notes: [],
  });
}

/** The current version behind the URL of a call, read as the interaction does. */
export async function readVersion(call: Call, services: Services): Promise<StoredVersion> {
  const { type = '', id = '' } = call;
  const plain: Call = { ...call, params: new URLSearchParams(), conditions: {} };
  const { versionId, lastUpdated = 0, json } = await read(plain, services);
  if (json === undefined) throw new Error('a read without content');
  return { type, id, version: Number(versionId), lastUpdated, json };
}

/** Returns the resources that a graph leads to from a resource. @throws FhirError `parameter-invalid`, `too-costly` */
export async function followGraph(
  focus: StoredVersion,
  named: string,
  call: Call,
  services: Services,
): Promise<readonly StoredVersion[]> {
  const most = services.search.includes;
  try {
    const opened = await openGraph(named, [focus.type], Date.now(), call, services);
    const { included, isCut } = await opened.follow([focus], [], most);
    if (!isCut) return included;
  } catch (error) {
    if (!(error instanceof FhirError)) throw error;
    // Searches have the parameter under another name.
    throw error.map((issue) => ({ ...issue, text: issue.text.replaceAll('"_graph"', '"graph"'), parameter: 'graph' }));
  }
  throw new FhirError('too-costly', `The graph leads to more than ${most} resources; use one with fewer links`);
}
