import { beforeAll, describe, expect, it } from 'vitest';

import { DEFAULT_SERVICES } from '../../../runtime/core/default-services.js';
import { tables } from '../../../generated/tables.js';
import { prepareAudit, type RunningAudit } from '../../../runtime/assembly/audit.js';
import { readConfig } from '../../../runtime/config/read-config.js';
import { DEFAULT_LIMITS } from '../../../runtime/fhir/limits.js';
import { SILENT } from '../../../runtime/observe/log.js';
import { createExtractor } from '../../../runtime/search/extract.js';
import type { Store } from '../../../runtime/store/store.js';
import { batch, entry } from '../bundles/bundle-server.js';
import { FORM_TYPE } from '../search-server.js';
import { EVERYTHING, serveWith } from './support.js';

const JWT = 'eyJhbGciOiJFUzM4NCJ9.eyJzdWIiOiJsYWIifQ.c2lnbmF0dXJl-c2lnbmF0dXJl_c2lnbmF0dXJl';

/** Method, path, what is posted, and what is told of it; lenient, so that searches are answered. */
const REQUESTS: readonly (readonly [string, string, string | object | undefined, string])[] = [
  ['GET', `/Patient/x?${JWT}`, undefined, 'Patient/x?***='],
  ['GET', `/Patient/x?token=${JWT}`, undefined, 'Patient/x?token=***'],
  ['GET', `/Patient?Access_Token=${JWT}`, undefined, 'Patient?Access_Token=***'],
  ['GET', '/Patient?Access%5FToken=opaque', undefined, 'Patient?Access_Token=***'],
  ['GET', `/Patient?client_assertion=${JWT}&family=x`, undefined, 'Patient?client_assertion=***&family=x'],
  ['GET', `/Patient?_id=${JWT},x`, undefined, 'Patient?_id=***,x'],
  ['GET', `/Patient?_id=${JWT.replaceAll('.', '%252E')}`, undefined, 'Patient?_id=***'],
  ['POST', '/Patient/_search', `token=${JWT}&family=${JWT}`, 'Patient?token=***&family=***'],
  ['GET', `/Patient/${JWT}`, undefined, 'Patient/***'],
  ['GET', `/Patient/${JWT}/Observation`, undefined, 'Patient/***/Observation'],
  ['DELETE', `/Patient/${JWT}`, undefined, 'Patient/***'],
  ['GET', `/Observation?patient=${JWT}`, undefined, 'Observation?patient=***'],
  ['GET', '/Observation?code=http://loinc.org|8867-4', undefined, 'Observation?code=http://loinc.org|8867-4'],
  ['POST', '', batch(entry('GET', `Patient?token=${JWT}`)), 'Patient?token=***'],
  // An event tells which operation it was, also where it is refused, and where it is about one resource.
  ['POST', '/Patient/$merge', { resourceType: 'Parameters' }, 'Patient/$merge'],
  ['GET', `/Patient/none/$everything?token=${JWT}`, undefined, 'Patient/none/$everything?token=***'],
  ['GET', '/$get-resource-counts', undefined, '$get-resource-counts'],
  ['POST', '/Patient/$validate', { resourceType: 'Patient' }, 'Patient/$validate'],
  ['POST', '', batch(entry('GET', 'Patient/$meta')), 'Patient/$meta'],
  ['POST', '', batch(entry('GET', `Patient/x?_id=${JWT}`)), 'Patient/x?_id=***'],
];

interface Told {
  readonly entity: readonly {
    readonly query?: string;
    readonly what?: { readonly reference?: string; readonly identifier?: { readonly value: string } };
  }[];
}

/** The audit of a server, as resources on a store. */
export function audited(store: Store): void {
  let audit: RunningAudit;
  const server = serveWith(store, {
    audit: {
      answered: (call, reply) => audit.answered(call, reply),
      failed: (call, error) => audit.failed(call, error),
    },
  });
  const events: Told[] = [];

  beforeAll(async () => {
    const { config } = readConfig({}, {});
    const services = { ...DEFAULT_SERVICES, store, extract: createExtractor(tables), limits: DEFAULT_LIMITS, tables };
    audit = await prepareAudit('store', config, services, SILENT, () => server.url);
    const admin = server.as(EVERYTHING);
    for (const [i, [method, path, body]] of REQUESTS.entries()) {
      const type = typeof body === 'string' ? FORM_TYPE : {};
      const headers = { ...type, prefer: 'handling=lenient', 'x-request-id': `audited-${i}` };
      await admin.send(method, path, body, headers);
    }
    await audit.close();
    const found = await admin.send('GET', '/AuditEvent?_count=1000');
    events.push(...found.json().entry.map(({ resource }: { resource: Told }) => resource));
  });

  describe('a token that stands where it does not belong is told to be one', () => {
    it.each(REQUESTS.map((request, i) => [i, ...request] as const))(
      '%i: %s %s %j',
      (i, _method, _path, _body, told) => {
        const isOfIt = ({ entity }: Told) => entity.some(({ what }) => what?.identifier?.value === `audited-${i}`);
        const [event, ...more] = events.filter(isOfIt);
        expect(more).toEqual([]);
        const texts = event!.entity.flatMap(({ query, what }) =>
          query === undefined ? (what?.reference ?? []) : decodeURIComponent(Buffer.from(query, 'base64').toString()),
        );
        expect(texts).toContain(told);
        expect(texts.join('\n')).not.toContain('eyJ');
        expect(JSON.stringify(event)).not.toContain('eyJ');
      },
    );
  });
}
