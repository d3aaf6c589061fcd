import { readInclude } from '../../search-execution/parse/read-include.js';
import type { JsonObject } from '../../fhir/resource.js';
import { searchDefinitions } from '../../indexing/definitions.js';
import type { IncludeDirective } from '../../store/store.js';
import { objectsOf, textOf, textsOf, type Faults } from '../faults.js';
import type { ShapePlan } from '../plan.js';
import { readFocusTypes } from './focus-types.js';
import type { CompileServices } from './read-criteria.js';
import { MOST_PARTS } from './triggers.js';

/**
 * Compiles `notificationShape` of a topic. https://hl7.org/fhir/R5/subscriptiontopic-definitions.html#SubscriptionTopic.notificationShape
 *
 * @param optional faults of what a topic may do without: its includes
 */
export function compileShapes(
  topic: JsonObject,
  faults: Faults,
  optional: Faults,
  services: CompileServices,
): readonly ShapePlan[] {
  const shapes = objectsOf(topic['notificationShape']);
  if (shapes.length > MOST_PARTS) faults.add('notificationShape', `may be there ${MOST_PARTS} times`);
  return shapes.slice(0, MOST_PARTS).flatMap((shape, i) => {
    const at = `notificationShape[${i}]`;
    const focus = readFocusTypes(textOf(shape['resource']) ?? '', services.tables);
    if (typeof focus === 'string') {
      faults.add(`${at}.resource`, focus, 'not-supported');
      return [];
    }
    const context = { types: [...focus.types], definitions: searchDefinitions(services.tables) };
    const read = (element: 'include' | 'revInclude', name: string): readonly IncludeDirective[] =>
      textsOf(shape[element])
        .slice(0, MOST_PARTS)
        .flatMap((text, k) => {
          const made = optional.read(`${at}.${element}[${k}]`, () =>
            includesOf(name, text).flatMap(([each, value]) => readInclude(each, value, context)),
          );
          return made ?? [];
        });
    return [{ types: focus.types, includes: [...read('include', '_include'), ...read('revInclude', '_revinclude')] }];
  });
}

/**
 * The parameters of a search that an include stands for: `Encounter:patient`, the same with `:iterate` behind it or `_include=` before
 * it, and the form of the specification's example, `Encounter:patient&iterate=Patient.link`.
 */
function includesOf(name: string, text: string): readonly (readonly [name: string, value: string])[] {
  const [first = '', ...more] = text.replace(/^_(?:rev)?include(?::iterate)?=/, '').split('&');
  const isIterating = /^_(?:rev)?include:iterate=/.test(text) || first.endsWith(':iterate');
  const own = [isIterating ? `${name}:iterate` : name, first.replace(/:iterate$/, '')] as const;
  const iterated = more.map((each) => {
    const value = each.replace(/^_?(?:include:)?iterate=/, '').replace(/^([A-Za-z]+)\./, '$1:');
    return [`${name}:iterate`, value] as const;
  });
  return [own, ...iterated];
}
