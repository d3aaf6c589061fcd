import { describe, expect, it } from 'vitest';

import { tables } from '../../../generated/tables.js';
import { createRuleChecker } from '../../../runtime/validate/rules/create-rule-checker.js';
import { useWholeServer } from '../../http/search-server.js';
import { exampleFiles, readExample } from '../formats/examples.js';

interface Issue {
  readonly severity: string;
  readonly details: { readonly text: string; readonly coding?: readonly { readonly code: string }[] };
}

/** Examples with a code of a system that the server knows, and one that has a unit, are in this text. */
const CODED =
  /"system"\s*:\s*"(?:http:\/\/(?:hl7\.org\/fhir|terminology\.hl7\.org|unitsofmeasure\.org)|urn:i(?:etf|so))/;

describe('$validate on official examples (terminologies.html#code)', () => {
  const server = useWholeServer({ rules: createRuleChecker(tables) } as never);

  it('knows all codes of the systems that it knows, and warns of some displays and of a blank in a unit', async () => {
    const found = new Set<string>();
    for (const file of exampleFiles()) {
      const { text, resource } = readExample(file);
      if (!CODED.test(text) || text.length > 1_000_000) continue;
      const answer = await server.send('POST', `/${String(resource['resourceType'])}/$validate`, text);
      for (const { severity, details } of answer.json().issue as Issue[]) {
        const [code] = details.coding ?? [];
        if (code?.code !== 'code-unknown' && code?.code !== 'display-wrong') continue;
        found.add(`${severity} ${details.text.replace(/^[^:]*: /, '').replace(/;.*/, '')}`);
      }
    }
    expect([...found].sort()).toEqual([
      'warning The display "Lead Sponsor" is wrong for http://hl7.org/fhir/research-study-party-role#lead-sponsor',
      'warning The display "Moderate" is wrong for http://hl7.org/fhir/certainty-rating#moderate',
      'warning The display "Overall quality" is wrong for http://hl7.org/fhir/certainty-type#Overall',
      'warning The display "Recruitment Contact" is wrong for http://hl7.org/fhir/research-study-party-role#recruitment-contact',
      'warning The unit "{delivered dose}" has a blank in an annotation',
    ]);
  }, 120_000);
});
