import { describe, expect, it } from 'vitest';

import { tables } from '../../../generated/tables.js';
import { loadProfiles } from '../../../runtime/tables.js';
import { createFhirTypes } from '../../../runtime/validate/profiles/fhir-types.js';
import { createRuleChecker } from '../../../runtime/validate/rules/create-rule-checker.js';
import { openSqliteStore } from '../../../runtime/store/sqlite/sqlite-store.js';
import { CONTENT_CASES } from './hard-cases/content-cases.js';
import type { HardCase } from './hard-cases/hard-case.js';
import { FURTHER_CONTENT_CASES } from './hard-cases/further-content-cases.js';
import { FURTHER_JSON_CASES } from './hard-cases/further-json-cases.js';
import { FURTHER_VALUE_CASES } from './hard-cases/further-value-cases.js';
import { JSON_CASES } from './hard-cases/json-cases.js';
import { NARRATIVE_CASES } from './hard-cases/narrative-cases.js';
import { PRIMITIVE_CASES } from './hard-cases/primitive-cases.js';
import { XML_CASES } from './hard-cases/xml-cases.js';
import type { Answer } from '../server.js';
import { useWriteServer } from '../write-server.js';

const CASES: Readonly<Record<string, readonly HardCase[]>> = {
  'JSON and structure (json.html)': JSON_CASES,
  'primitives (datatypes.html)': PRIMITIVE_CASES,
  'XML (xml.html)': XML_CASES,
  'narratives (narrative.html)': NARRATIVE_CASES,
  'rules, references, Bundles (references.html, bundle.html)': CONTENT_CASES,
  'JSON, continued': FURTHER_JSON_CASES,
  'primitives, continued': FURTHER_VALUE_CASES,
  'narratives, XML, links, continued': FURTHER_CONTENT_CASES,
};

const rows = new Map((await loadProfiles()).map((row) => [row.url, row]));
const store = openSqliteStore('sqlite::memory:');

describe('what a create accepts, and what $validate says', () => {
  const server = useWriteServer(store, {
    rules: createRuleChecker(tables),
    profiles: { types: createFhirTypes(tables), profile: (url) => rows.get(url), required: new Map() },
  });

  const typeOf = ({ type, body }: HardCase): string => {
    if (type !== undefined) return type;
    const { resourceType } = (typeof body === 'string' ? { resourceType: 'Patient' } : body) as {
      resourceType: string;
    };
    return resourceType;
  };
  const post = (path: string, { body, isXml }: HardCase): Promise<Answer> =>
    server.send('POST', path, body, isXml === true ? { 'content-type': 'application/fhir+xml' } : {});
  const isError = ({ severity }: { readonly severity: string }): boolean =>
    severity === 'error' || severity === 'fatal';

  for (const [group, cases] of Object.entries(CASES)) {
    describe(group, () => {
      it.each(cases.map((each): [string, HardCase] => [each.name, each]))('%s', async (_name, each) => {
        const type = typeOf(each);
        const validated = await post(`/${type}/$validate`, each);
        const errors = validated.json().issue.filter(isError);
        expect([validated.status, errors.length === 0], validated.text).toEqual([200, each.isValid]);
        const created = await post(`/${type}`, each);
        expect(created.status === 201, created.text).toBe(each.isCreated ?? each.isValid);
        if (created.status !== 201) expect([400, 422]).toContain(created.status);
      });
    });
  }
});
