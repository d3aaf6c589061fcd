import type { KnownSystem } from '../../core/services.js';
import { GRAMMARS } from '../systems/grammar.js';
import { LISTED_SYSTEMS } from '../systems/listed-system.js';
import { shippedResources } from '../shipped.js';
import { objectsOf } from '../../fhir/resource.js';

/** The code systems that anyone may know of: by rule, and of the FHIR package. Stored ones are found by a search for CodeSystems. */
export function knownSystems(): readonly KnownSystem[] {
  const byRule = [...GRAMMARS.keys(), ...LISTED_SYSTEMS];
  const found: KnownSystem[] = byRule.map((uri) => ({ uri, content: 'complete', subsumption: false }));
  for (const { url, version, content, concept } of shippedResources('CodeSystem')) {
    // What is absent there is known by rule.
    if (byRule.includes(String(url)) || content === 'not-present') continue;
    const subsumption = objectsOf(concept).some((each) => each['concept'] !== undefined);
    found.push({
      ...{ uri: String(url), content: String(content ?? 'complete'), subsumption },
      ...(typeof version === 'string' && { version }),
    });
  }
  return found;
}
