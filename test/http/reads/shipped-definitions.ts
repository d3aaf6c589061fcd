import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';

import { OwnBases } from '../../../runtime/path/own-bases.js';
import { tables } from '../../../generated/tables.js';
import { createScopes } from '../../../runtime/auth/scopes/create-scopes.js';
import { Principal } from '../../../runtime/auth/scopes/principal.js';
import { SHIPPED } from '../../../runtime/core/shipped/shipped-resources.js';
import { summarize } from '../../../runtime/format/summary.js';
import type { KilnOptions } from '../../../runtime/http/kiln.js';
import { utc } from '../../../runtime/indexing/values/zone.js';
import type { Store } from '../../../runtime/store/store.js';
import { idsOf } from '../search-server.js';
import { refusal, useWriteServer, word } from '../write-server.js';

const CORE = 'http://hl7.org/fhir/StructureDefinition/';
const scopes = createScopes({ tables, zone: utc, own: new OwnBases() });

interface Erratum {
  readonly package: string;
  readonly target: string;
  readonly path?: string;
  readonly now?: unknown;
}
const ERRATA = (
  JSON.parse(readFileSync(new URL('../../../definitions/errata.json', import.meta.url), 'utf8')) as {
    errata: Erratum[];
  }
).errata.filter(({ package: name }) => name === 'hl7.fhir.r5.core');

const gateOf = (scope: string): NonNullable<KilnOptions['gate']> => ({
  admit: () => Principal.ofClient({ clientId: 'test', scope, access: scopes.access(scope) }),
});

/** The definitions of FHIR are read and searched like stored ones, whatever the store. */
export function shippedDefinitions(store: Store): void {
  const options = {
    shipped: SHIPPED,
    allowsExpunge: true,
    publish: { types: ['Patient'], every: 3_600_000 },
    hasWebsocket: true,
    subset: (resource: never, { summary }: { summary?: never }) => summarize(resource, summary ?? 'true', tables),
  } as unknown as Partial<KilnOptions>;
  const server = useWriteServer(store, options);
  const without = useWriteServer(store);
  const active = useWriteServer(store, { ...options, gate: gateOf('system/SearchParameter.rs?status=active') });
  const patients = useWriteServer(store, { ...options, gate: gateOf('system/Patient.rs') });
  const get = (path: string) => server.send('GET', path);

  describe('definitions of FHIR (conformance-module.html)', () => {
    it.each([
      ['StructureDefinition/Patient', `${CORE}Patient`],
      ['StructureDefinition/bp', `${CORE}bp`],
      ['SearchParameter/individual-birthdate', 'http://hl7.org/fhir/SearchParameter/individual-birthdate'],
      ['OperationDefinition/Resource-validate', 'http://hl7.org/fhir/OperationDefinition/Resource-validate'],
      ['CompartmentDefinition/patient', 'http://hl7.org/fhir/CompartmentDefinition/patient'],
      ['ValueSet/administrative-gender', 'http://hl7.org/fhir/ValueSet/administrative-gender'],
      ['CodeSystem/administrative-gender', 'http://hl7.org/fhir/administrative-gender'],
    ])('%s is read by its id, and found by its URL', async (path, url) => {
      const read = await get(`/${path}`);
      expect([read.status, read.json().url], read.text.slice(0, 500)).toEqual([200, url]);
      const [type = '', id = ''] = path.split('/');
      const found = await get(`/${type}?url=${encodeURIComponent(url)}`);
      expect([idsOf(found), found.json().total], found.text.slice(0, 500)).toEqual([[id], 1]);
      expect(idsOf(await get(`/${type}?_id=${id}`))).toEqual([id]);
      expect(idsOf(await get(`/${type}?url=${encodeURIComponent(url)}&status=retired`))).toEqual([]);
    });

    it('have the views of this server, by canonicals below it', async () => {
      const read = await get('/ViewDefinition/patient-demographics');
      const { url, name } = read.json() as { url: string; name: string };
      expect([read.status, name, new URL(url).pathname]).toEqual([200, 'patient_demographics', '/fhir/ViewDefinition/patient-demographics']); // prettier-ignore
      expect(idsOf(await get(`/ViewDefinition?url=${url}`))).toEqual(['patient-demographics']);
      const table = await get(`/$sql-run?subjectCanonical=${url}&_format=csv`);
      expect([table.status, table.text.split(',')[0]]).toEqual([200, 'patient_id']);
    });

    it('say in the form of a search what parameters and codes are about', async () => {
      const form = async (from: typeof server) => (await from.raw('GET', '/ui/search/Observation')).text;
      const text = await form(server);
      expect(text).toContain('<p class="about">The code of the observation type</p>');
      expect(text).toMatch(/<option value="registered">The existence of the observation is registered, but /);
      // The lines of other types are not shown.
      expect(text).not.toContain('AllergyIntolerance');
      expect(await form(without)).not.toContain('The code of the observation type');
    });

    it('have an entity tag, and views', async () => {
      const read = await get('/StructureDefinition/Patient');
      const again = await server.send('GET', '/StructureDefinition/Patient', undefined, {
        'if-none-match': String(read.headers.etag),
      });
      expect([read.headers.etag, again.status]).toEqual(['W/"0"', 304]);
      const summary = await get('/StructureDefinition/Patient?_summary=true');
      expect([summary.status, summary.json().snapshot]).toEqual([200, undefined]);
    });

    it('serve instance-level operations', async () => {
      const expanded = await get('/ValueSet/administrative-gender/$expand');
      expect(expanded.json().expansion.contains).toHaveLength(4);
    });

    it('that are examples of the documentation are left out', async () => {
      expect((await get('/SearchParameter/example')).status).toBe(404);
    });

    it('have the corrections by which the server works (definitions/errata.json)', async () => {
      // What is for the generator alone is no correction.
      const isMark = (now: unknown): boolean => JSON.stringify(now)?.includes('operation-version-level') === true;
      const corrected = ERRATA.filter(({ path, now }) => path !== undefined && !isMark(now));
      expect(corrected.length).toBeGreaterThan(20);
      for (const { target, path = '', now } of corrected) {
        const [type = '', id = ''] = target.split('/').slice(-2);
        const served: unknown = (await get(`/${type}/${id}`)).json();
        const steps = path.split('/').slice(1);
        const value = steps.reduce<unknown>((at, step) => (at as Record<string, unknown> | undefined)?.[step], served);
        if (now === undefined) expect(steps, target).toContain('base');
        else expect(value, `${target} ${path}`).toEqual(now);
      }
      const topic = (await get('/SearchParameter/MetadataResource-topic')).json();
      expect((topic as { base: string[] }).base).not.toContain('EvidenceVariable');
    });

    it('are in no count, no history and no search that does not name them', async () => {
      expect(idsOf(await get('/CompartmentDefinition'))).toEqual([]);
      expect((await get('/CompartmentDefinition?_summary=count')).json().total).toBe(0);
      expect((await get('/CompartmentDefinition/_history')).json().total).toBe(0);
      const counts = (await get('/$get-resource-counts')).json().parameter ?? [];
      expect(counts.map(({ name }: { name: string }) => name)).not.toContain('CompartmentDefinition');
    });

    it('are only read: a patch finds nothing, and a stored resource stands in the place of one', async () => {
      const json = { 'content-type': 'application/json-patch+json' };
      const patch = await server.send('PATCH', '/CodeSystem/address-use', [{ op: 'remove', path: '/title' }], json);
      expect(refusal(patch).slice(0, 2)).toEqual([404, 'not-found']);
      const own = { resourceType: 'CodeSystem', id: 'address-use', url: `http://x.org/${word()}`, status: 'draft', content: 'complete' }; // prettier-ignore
      expect((await server.send('PUT', '/CodeSystem/address-use', own)).status).toBe(201);
      const read = await get('/CodeSystem/address-use');
      expect([read.json().url, read.headers.etag]).toEqual([own.url, 'W/"1"']);
      expect(idsOf(await get('/CodeSystem?url=http://hl7.org/fhir/address-use'))).toEqual([]);
      await server.send('DELETE', '/CodeSystem/address-use');
      expect((await get('/CodeSystem/address-use')).status).toBe(410);
    });

    it('come behind what is stored, as far as the page has room', async () => {
      const [id, url] = [word(), `${CORE}HumanName`];
      const stored = { resourceType: 'StructureDefinition', id, url, name: 'X', status: 'draft', kind: 'complex-type', abstract: false, type: 'HumanName' }; // prettier-ignore
      expect((await server.send('PUT', `/StructureDefinition/${id}`, stored)).status).toBe(201);
      const both = await get(`/StructureDefinition?url=${url}`);
      expect([idsOf(both), both.json().total]).toEqual([[id, 'HumanName'], 2]);
      const first = await get(`/StructureDefinition?url=${url}&_count=1`);
      expect(idsOf(first)).toEqual([id]);
    });

    it('are all there that /metadata names, those of our own operations below the base', async () => {
      const base = `${server.url}/fhir`;
      const named = canonicalsOf((await get('/metadata')).json());
      const own = named.filter((url) => url.startsWith(base));
      expect([named.length, own.length]).toEqual([expect.toSatisfy((count: number) => count > 1400), 34]);
      const missing: string[] = [];
      const typeOf = (url: string): string => url.split('/').at(-2) ?? '';
      for (const type of new Set(named.map(typeOf))) {
        const urls = named.filter((url) => typeOf(url) === type);
        const ids: string[] = [];
        for (let at = 0; at < urls.length; at += 20) {
          const some = urls.slice(at, at + 20);
          const found = (await get(`/${type}?url=${some.map(encodeURIComponent).join()}&_count=100`)).json();
          const there = (found.entry ?? []).map(({ resource }: { resource: { url: string } }) => resource.url);
          missing.push(...some.filter((url) => !there.includes(url)));
          ids.push(...(found.entry ?? []).map(({ resource }: { resource: { id: string } }) => resource.id));
        }
        for (const id of ids) expect((await get(`/${type}/${id}`)).status, `${type}/${id}`).toBe(200);
      }
      expect(missing).toEqual([]);
      for (const url of own) {
        const definition = (await get(url.slice(base.length))).json();
        expect(definition, url).toMatchObject({ resourceType: 'OperationDefinition', url, kind: 'operation' });
        expect(definition.extension, url).toBeUndefined();
        const verdict = await server.send('POST', '/OperationDefinition/$validate', definition);
        const faults = verdict.json().issue.filter(({ severity }: { severity: string }) => severity === 'error');
        expect([verdict.status, faults], url).toEqual([200, []]);
      }
    });

    it('need the same scopes as stored ones', async () => {
      const read = (path: string) => active.send('GET', path);
      expect((await read('/SearchParameter/Account-name')).status).toBe(404);
      expect((await read('/SearchParameter?_id=Account-name')).json().total).toBe(0);
      expect((await read('/SearchParameter/Resource-id')).status).toBe(200);
      expect((await read('/StructureDefinition/Patient')).status).toBe(403);
      expect((await patients.send('GET', '/StructureDefinition?_id=Patient')).status).toBe(403);
    });

    it('are not there where the setting switches them off', async () => {
      expect((await without.send('GET', '/StructureDefinition/Patient')).status).toBe(404);
      expect(idsOf(await without.send('GET', '/StructureDefinition?_id=Patient'))).toEqual([]);
    });
  });
}

/** The definitions that a CapabilityStatement names. */
function canonicalsOf(value: unknown): string[] {
  const found = new Set<string>();
  const visit = (each: unknown, name: string): void => {
    if (Array.isArray(each)) each.forEach((one) => visit(one, name));
    else if (typeof each === 'object' && each !== null) {
      for (const [key, below] of Object.entries(each)) visit(below, key);
    } else if (['definition', 'profile', 'supportedProfile', 'compartment'].includes(name)) found.add(String(each));
  };
  visit(value, '');
  return [...found];
}
