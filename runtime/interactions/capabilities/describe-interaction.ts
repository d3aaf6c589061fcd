import type { Interaction } from '../../contract/index.js';
import type { JsonObject } from '../../fhir/resource.js';
import { FORM_PARAMETERS } from '../../search/control-parameters.js';
import type { Services } from '../../core/services.js';
import { viewParameters } from '../../core/view.js';
import { historyParameters } from '../history/history-query.js';

/** An interaction as a CapabilityStatement has it. https://hl7.org/fhir/R5/capabilitystatement-definitions.html#CapabilityStatement.rest.resource.interaction.documentation */
export function describeInteraction(code: string, services: Services): JsonObject {
  const documentation = documentationOf(code, services);
  return documentation === undefined ? { code } : { code, documentation };
}

function documentationOf(code: string, services: Services): string | undefined {
  switch (code) {
    case 'search-type':
      return describeResults(services);
    case 'search-system':
      return describeSystemSearch();
    case 'read':
    case 'vread':
      return takes(viewParameters(services));
    case 'history-instance':
    case 'history-type':
    case 'history-system':
      return takes(historyParameters(services));
    case 'delete':
      return describeExpunging(services);
    default:
      return undefined;
  }
}

function takes(names: readonly string[]): string {
  return `Takes ${[...names, ...Object.keys(FORM_PARAMETERS)].join(', ')}.`;
}

/** What of the matches can be asked for. */
function describeResults({ search, subset }: Pick<Services, 'search' | 'subset'>): string {
  const { count, maxCount, links, includes, includeRounds } = search;
  const views = subset === undefined ? '_summary=count' : '_summary, _elements';
  return (
    `_sort by every parameter listed but composite ones, _count up to ${maxCount} (default ${count}), _maxresults, ` +
    `_total, ${views}. Chains and _has, nested, up to ${links} links in one name. _include and _revinclude, also with ` +
    `:iterate (${includeRounds} times), up to ${includes} resources a page. _contained and _containedType. _score beside words. _graph. By GET and by POST to _search.`
  );
}

/** What searches over several types take. */
function describeSystemSearch(): string {
  return (
    'By the parameters that all types have, those that _type names or all of them; _sort, _count, _total, _score, _include, ' +
    '_revinclude and _graph as in searches of one type. By GET and by POST to _search.'
  );
}

/** Interactions that have no code of their own, and what they do. https://hl7.org/fhir/R5/http.html#delete-history */
const REMOVALS: readonly (readonly [Interaction, string])[] = [
  ['delete-history', 'removes all versions but the current one for good'],
  ['delete-history-version', 'removes one of them for good'],
];

function describeExpunging({ tables, wired }: Pick<Services, 'tables' | 'wired'>): string | undefined {
  const sentences = REMOVALS.flatMap(([interaction, does]) => {
    const route = wired.has(interaction) ? tables.routes.find((each) => each.interaction === interaction) : undefined;
    return route === undefined ? [] : [`${route.method} ${route.path} ${does}`];
  });
  if (sentences.length === 0) return undefined;
  const scope = tables.scopes.rows.find(({ interaction }) => interaction === 'delete-history')?.admin;
  return `${sentences.join('; ')}${scope === undefined ? '' : `; tokens need ${scope}, too`}.`;
}
