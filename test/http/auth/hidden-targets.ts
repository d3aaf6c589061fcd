import { beforeAll, describe, expect, it } from 'vitest';

import { tables } from '../../../generated/tables.js';
import { createStoredProfiles } from '../../../runtime/core/validation/stored-profiles.js';
import type { Store } from '../../../runtime/store/store.js';
import { loadProfiles } from '../../../runtime/tables.js';
import { createRuleChecker } from '../../../runtime/validate/rules/create-rule-checker.js';
import type { Answer } from '../server.js';
import { expectRefusal, word } from '../write-server.js';
import { EVERYTHING, observed, serveWith } from './support.js';

/** A profile of one element. */
const definition = (url: string, type: string, path: string, more: object): object => ({
  resourceType: 'StructureDefinition',
  ...{ url, name: 'Made', status: 'active', kind: 'resource', abstract: false, type, derivation: 'constraint' },
  baseDefinition: `http://hl7.org/fhir/StructureDefinition/${type}`,
  differential: { element: [{ id: type, path: type }, { id: path, path, ...more }] }, // prettier-ignore
});

/** Validation follows references no further than the token may read: what is hidden is as good as missing. */
export function hiddenTargets(store: Store): void {
  /** Types of the resources that the store was asked for by their id. */
  let asked: string[] = [];
  const watched = new Proxy(store, {
    get(target, name: keyof Store) {
      const own = target[name] as unknown;
      if (typeof own !== 'function') return own;
      return (...args: unknown[]): unknown => {
        if (name === 'read') asked.push(String(args[0]));
        return own.apply(target, args) as unknown;
      };
    },
  });
  const born = `http://x.org/StructureDefinition/${word()}`;
  const about = `http://x.org/StructureDefinition/${word()}`;
  const useServer = (required: ReadonlyMap<string, readonly string[]>) => {
    const { types, profile, store: own } = createStoredProfiles(watched, tables, loadProfiles);
    return serveWith(own, { rules: createRuleChecker(tables), profiles: { types, profile, required } });
  };
  const claimed = useServer(new Map());
  const strict = useServer(new Map([['Observation', [about]]]));
  const reader = 'system/Observation.cr system/Patient.r?gender=male';
  const blind = 'system/Observation.cr';
  const ids = { right: word(), wrong: word(), hidden: word(), none: word() };

  beforeAll(async () => {
    const all = claimed.as(EVERYTHING);
    const targetProfile = [born];
    const put = async (type: string, id: string, body: object): Promise<void> => {
      const answer = await all.send('PUT', `/${type}/${id}`, { ...body, id });
      expect(answer.status, answer.text).toBe(201);
    };
    await put('StructureDefinition', word(), definition(born, 'Patient', 'Patient.birthDate', { min: 1 }));
    const type = [{ code: 'Reference', targetProfile }];
    await put('StructureDefinition', word(), definition(about, 'Observation', 'Observation.subject', { type }));
    await put('Patient', ids.right, { resourceType: 'Patient', gender: 'male', birthDate: '2000' });
    await put('Patient', ids.wrong, { resourceType: 'Patient', gender: 'male' });
    await put('Patient', ids.hidden, { resourceType: 'Patient', gender: 'female' });
  });

  const of = (id: string, isClaiming = true): object =>
    observed('laboratory', {
      ...(isClaiming && { meta: { profile: [about] } }),
      subject: { reference: `Patient/${id}` },
    });
  const outcome = (answer: Answer, id: string): string => answer.text.replaceAll(id, 'ID');

  describe.each([
    ['a profile that is claimed', claimed, true],
    ['a profile that is required', strict, false],
  ])('by %s', (_, server, isClaiming) => {
    it('what the token reads has to conform', async () => {
      const client = server.as(reader);
      expect((await client.send('POST', '/Observation', of(ids.right, isClaiming))).status).toBe(201);
      const refused = await client.send('POST', '/Observation', of(ids.wrong, isClaiming));
      expectRefusal(refused, 422, 'profile-broken', 'Observation.subject', 'does not conform to', born);
      const issues = (await client.send('POST', '/Observation/$validate', of(ids.wrong, isClaiming))).json().issue;
      expect(issues[0]).toMatchObject({ severity: 'error', expression: ['Observation.subject'] });
    });

    it('what it does not read is answered like what never was', async () => {
      for (const scopes of [reader, blind]) {
        const client = server.as(scopes);
        for (const path of ['/Observation', '/Observation/$validate']) {
          const hidden = await client.send('POST', path, of(ids.hidden, isClaiming));
          const none = await client.send('POST', path, of(ids.none, isClaiming));
          expect(hidden.status, hidden.text).toBe(none.status);
          expect(hidden.status).toBeLessThan(300);
          if (path.endsWith('$validate')) expect(outcome(hidden, ids.hidden)).toBe(outcome(none, ids.none));
        }
      }
    });

    it('nothing is looked up of a type that the token does not read', async () => {
      asked = [];
      await server.as(blind).send('POST', '/Observation/$validate', of(ids.wrong, isClaiming));
      expect(asked).not.toContain('Patient');
      await server.as(reader).send('POST', '/Observation/$validate', of(ids.wrong, isClaiming));
      expect(asked).toContain('Patient');
    });
  });
}
