import { beforeAll, describe, expect, it } from 'vitest';

import { OWN } from '../../toy/own.js';
import { tables } from '../../../generated/tables.js';
import { createIntegrity, type IntegrityModes } from '../../../runtime/core/references/integrity.js';
import type { Store } from '../../../runtime/store/store.js';
import { createExtractor } from '../../../runtime/indexing/extract.js';
import { mergeParameters, replacementParameters } from '../operations/replacement-support.js';
import { batch, entry, transaction, useBundleServer } from '../bundles/bundle-server.js';
import type { Answer, ToyServer } from '../server.js';
import { expectRefusal, word } from '../write-server.js';

const SHIPPED = 'StructureDefinition/Patient';
const REPLACE = '/$svc.fhir.replace-references';
const UNDO = '/$svc.fhir.undo-replace-references';

/** A server on which references have to lead to what these modes say. */
function serverWith(store: Store, mode: IntegrityModes['mode'], paths: IntegrityModes['paths'] = {}): ToyServer {
  const isShipped = ({ type, id }: { type: string; id: string }): boolean => `${type}/${id}` === SHIPPED;
  const integrity = createIntegrity({ mode, paths }, { tables, own: OWN, isShipped });
  return useBundleServer(store, { integrity, deletesMultiple: true, extract: createExtractor(tables, { own: OWN }) });
}

const basic = (more: object = {}): Record<string, unknown> => ({
  resourceType: 'Basic',
  code: { text: 'x' },
  ...more,
});
const about = (reference: string): Record<string, unknown> => basic({ subject: { reference } });
const PATCH = { 'content-type': 'application/json-patch+json' };

/** What one element of a resource refers with. */
type Kind = readonly [name: string, resource: (target: string) => object, expression: string];

const KINDS: readonly Kind[] = [
  ['an element with a search parameter', (reference) => about(reference), 'Basic.subject'],
  [
    'an extension',
    (reference) => basic({ extension: [{ url: 'urn:x', valueReference: { reference } }] }),
    'Basic.extension[0].value',
  ],
  [
    'an extension of a primitive',
    (reference) =>
      basic({ _language: { extension: [{ url: 'urn:x', valueReference: { reference } }] }, language: 'en' }),
    'Basic.language.extension[0].value',
  ],
  [
    'an element without a search parameter',
    (reference) => basic({ identifier: [{ value: '1', assigner: { reference } }] }),
    'Basic.identifier[0].assigner',
  ],
  [
    'a contained resource',
    (reference) =>
      basic({
        contained: [{ resourceType: 'Basic', id: 'c', code: { text: 'y' }, subject: { reference } }],
        extension: [{ url: 'urn:x', valueReference: { reference: '#c' } }],
      }),
    'Basic.contained[0].subject',
  ],
  [
    'a CodeableReference',
    (reference) => ({
      resourceType: 'CarePlan',
      status: 'active',
      intent: 'plan',
      subject: { display: 'x' },
      addresses: [{ concept: { text: 'x' } }, { reference: { reference } }],
    }),
    'CarePlan.addresses[1].reference',
  ],
];

/** References to which nothing has to be there. @param id of nothing */
const FREE: readonly (readonly [name: string, more: (id: string) => object])[] = [
  ['another server', (id) => ({ subject: { reference: `http://other.example/fhir/Patient/${id}` } })],
  ['a logical reference', () => ({ subject: { type: 'Patient', identifier: { value: 'x' } } })],
  ['words', () => ({ subject: { display: 'someone' } })],
  ['a uri', (id) => ({ extension: [{ url: 'urn:x', valueUri: `Patient/${id}` }] })],
  ['a url of an attachment', (id) => ({ extension: [{ url: 'urn:x', valueAttachment: { url: `Binary/${id}` } }] })],
  ['a canonical', (id) => ({ extension: [{ url: 'urn:x', valueCanonical: `Questionnaire/${id}` }] })],
  ['a definition that is shipped', () => ({ extension: [{ url: 'urn:x', valueReference: { reference: SHIPPED } }] })],
];

/** References have to lead to something, whatever the store. */
export function referenceIntegrity(store: Store): void {
  const servers = {
    none: serverWith(store, 'none'),
    written: serverWith(store, 'written'),
    enforced: serverWith(store, 'enforced'),
  };
  const MODES = ['written', 'enforced'] as const;

  /** Puts a resource under an id. @returns its name */
  const made = async (server: ToyServer, resource: object = basic(), id = word()): Promise<string> => {
    const { resourceType } = resource as { resourceType: string };
    const answer = await server.send('PUT', `/${resourceType}/${id}`, { ...resource, id });
    expect(answer.status, answer.text).toBeLessThan(300);
    return `${resourceType}/${id}`;
  };
  const gone = async (server: ToyServer): Promise<string> => {
    const name = await made(server);
    expect((await server.send('DELETE', `/${name}`)).status).toBe(200);
    return name;
  };
  const refused = (answer: Answer, expression: string, ...names: readonly string[]): void => {
    expectRefusal(answer, 409, 'reference-dangling', ...names.slice(0, 1));
    const { issue } = answer.json() as { issue: { code: string; expression: string[]; details: { text: string } }[] };
    expect(issue[0]).toMatchObject({ code: 'conflict', expression: [expression] });
    names.forEach((name, i) => expect(issue[i]?.details.text).toContain(name));
  };

  describe.each(MODES)('%s', (mode) => {
    const server = servers[mode];

    describe.each(KINDS)('%s', (_, of, expression) => {
      it('leads to what is there, is deleted, or never was', async () => {
        const target = await made(server);
        expect((await server.send('POST', `/${typeOf(of(''))}`, of(target))).status).toBe(201);
        const lost = await gone(server);
        for (const name of [lost, `Patient/${word()}`])
          refused(await server.send('POST', `/${typeOf(of(''))}`, of(name)), expression, name);
      });

      it('every way of writing is refused, and nothing is stored', async () => {
        const none = `Patient/${word()}`;
        const type = typeOf(of(''));
        const tag = word();
        const sent = { ...of(none), meta: { tag: [{ system: 'urn:test', code: tag }] } };
        const id = word();
        refused(await server.send('PUT', `/${type}/${id}`, { ...sent, id }), expression, none);
        expect((await server.send('GET', `/${type}/${id}`)).status).toBe(404);
        refused(
          await server.send('POST', `/${type}`, sent, { 'if-none-exist': `_tag=urn:test|${tag}` }),
          expression,
          none,
        );
        refused(await server.send('PUT', `/${type}?_tag=urn:test|${tag}`, sent), expression, none);
        const each = await server.send('POST', '', batch(entry('POST', type, sent), entry('POST', 'Basic', basic())));
        expect(each.json().entry.map((one: { response: { status: string } }) => one.response.status)).toEqual([
          expect.stringMatching(/^409/),
          expect.stringMatching(/^201/),
        ]);
        const whole = await server.send(
          'POST',
          '',
          transaction(entry('POST', 'Basic', basic()), entry('POST', type, sent)),
        );
        refused(whole, expression.replace(/^\w+/, 'Bundle.entry[1].resource'), none);
        const found = await server.send('GET', `/${type}?_tag=urn:test|${tag}`);
        expect(found.json().entry).toBeUndefined();
      });
    });

    it.each(FREE)('%s leads anywhere', async (_, more) => {
      expect((await server.send('POST', '/Basic', basic(more(word())))).status).toBe(201);
    });

    it('what lies in a stored Bundle, and an AuditEvent, lead anywhere', async () => {
      const name = `Patient/${word()}`;
      const bundle = { resourceType: 'Bundle', type: 'collection', entry: [{ resource: about(name) }] };
      expect((await server.send('POST', '/Bundle', bundle)).status).toBe(201);
      const event = {
        resourceType: 'AuditEvent',
        code: { text: 'x' },
        recorded: '2020-01-01T00:00:00Z',
        agent: [{ who: { reference: name } }],
        source: { observer: { display: 'x' } },
      };
      expect((await server.send('POST', '/AuditEvent', event)).status).toBe(201);
    });

    it('an absolute reference below the own base is one to this server', async () => {
      const target = await made(server);
      expect((await server.send('POST', '/Basic', about(`${server.url}/fhir/${target}`))).status).toBe(201);
      const none = `${server.url}/fhir/Patient/${word()}`;
      refused(await server.send('POST', '/Basic', about(none)), 'Basic.subject', none.slice(server.url.length + 6));
    });

    it('a version has to be there, whatever became of the resource', async () => {
      const target = await made(server);
      await server.send('PUT', `/${target}`, basic({ id: target.slice(6), language: 'en' }));
      for (const version of ['1', '2']) {
        expect((await server.send('POST', '/Basic', about(`${target}/_history/${version}`))).status).toBe(201);
      }
      for (const version of ['3', '0', 'x'])
        refused(await server.send('POST', '/Basic', about(`${target}/_history/${version}`)), 'Basic.subject', target);
      expect((await server.send('DELETE', `/${target}`)).status).toBe(200);
      expect((await server.send('POST', '/Basic', about(`${target}/_history/1`))).status).toBe(201);
      // The third version is the deletion.
      refused(await server.send('POST', '/Basic', about(`${target}/_history/3`)), 'Basic.subject', target);
    });

    it('all faults come at once', async () => {
      const names = [`Patient/${word()}`, `Patient/${word()}`];
      const [subject, author] = names.map((reference) => ({ reference }));
      refused(await server.send('POST', '/Basic', basic({ subject, author })), 'Basic.subject', ...names);
    });

    it('what was dangling before may stay, at the same element', async () => {
      const none = `Patient/${word()}`;
      const name = await made(servers.none, about(none));
      const id = name.slice(6);
      expect((await server.send('PUT', `/${name}`, { ...about(none), id, language: 'en' })).status).toBe(200);
      const patch = [{ op: 'add', path: '/language', value: 'de' }];
      expect((await server.send('PATCH', `/${name}`, patch, PATCH)).status).toBe(200);
      const moved = basic({ id, author: { reference: none } });
      refused(await server.send('PUT', `/${name}`, moved), 'Basic.author', none);
      const other = [{ op: 'replace', path: '/subject/reference', value: `Patient/${word()}` }];
      refused(await server.send('PATCH', `/${name}`, other, PATCH), 'Basic.subject');
      const conditional = await server.send('PATCH', `/Basic?_id=${id}`, other, PATCH);
      refused(conditional, 'Basic.subject');
    });

    it('a resource may refer to itself', async () => {
      const id = word();
      expect((await server.send('PUT', `/Basic/${id}`, { ...about(`Basic/${id}`), id })).status).toBe(201);
      const again = { ...about(`Basic/${id}`), id, author: { reference: `Basic/${id}` } };
      expect((await server.send('PUT', `/Basic/${id}`, again)).status).toBe(200);
      expect((await server.send('DELETE', `/Basic/${id}`)).status).toBe(200);
    });

    it('a transaction is judged when it is whole: order and circles do not matter, deletions do', async () => {
      const [a, b] = ['urn:uuid:8f6b4f5e-31fa-4a8a-9d0c-4c1d0b7c9b11', 'urn:uuid:8f6b4f5e-31fa-4a8a-9d0c-4c1d0b7c9b12'];
      const circle = transaction(
        { ...entry('POST', 'Basic', about(b)), fullUrl: a },
        { ...entry('POST', 'Basic', about(a)), fullUrl: b },
      );
      expect((await server.send('POST', '', circle)).status).toBe(200);
      const id = word();
      const forward = transaction(
        entry('POST', 'Basic', about(`Basic/${id}`)),
        entry('PUT', `Basic/${id}`, basic({ id })),
      );
      expect((await server.send('POST', '', forward)).status).toBe(200);
      const target = await made(server);
      const lost = transaction(entry('POST', 'Basic', about(target)), entry('DELETE', target));
      refused(await server.send('POST', '', lost), 'Bundle.entry[0].resource.subject', target);
      expect((await server.send('GET', `/${target}`)).status).toBe(200);
    });
  });

  describe.each(MODES)('operations that write, %s', (mode) => {
    const server = servers[mode];
    const patient = (id: string) => ({ resourceType: 'Patient', id });
    const two = async (): Promise<readonly [string, string]> => [
      await made(server, patient('x')),
      await made(server, patient('x')),
    ];

    it('references are replaced beside others that were dangling before', async () => {
      const [source, target] = await two();
      const body = basic({ subject: { reference: source }, author: { reference: `Patient/${word()}` } });
      const referrer = await made(servers.none, body);
      const answer = await server.send('POST', REPLACE, replacementParameters(source, target));
      expect(answer.status, answer.text).toBe(200);
      expect((await server.send('GET', `/${referrer}`)).json().subject.reference).toBe(target);
    });

    it('a merge moves all that refers', async () => {
      const [source, target] = await two();
      const referrer = await made(server, about(source));
      const answer = await server.send('POST', '/Patient/$merge', mergeParameters(source, target));
      expect(answer.status, answer.text).toBe(200);
      expect((await server.send('GET', `/${referrer}`)).json().subject.reference).toBe(target);
    });

    it('an undo is refused that would lead back to nothing', async () => {
      const [source, target] = await two();
      const referrer = await made(server, about(source));
      expect((await server.send('POST', REPLACE, replacementParameters(source, target))).status).toBe(200);
      expect((await servers.none.send('DELETE', `/${source}`)).status).toBe(200);
      const undone = await server.send('POST', UNDO, replacementParameters(source, target));
      expectRefusal(undone, 409, 'reference-dangling', source);
      expect((await server.send('GET', `/${referrer}`)).json().subject.reference).toBe(target);
    });
  });

  it('none takes all, and deletes all', async () => {
    const target = await made(servers.none);
    await made(servers.none, about(target));
    await made(servers.none, about(`Patient/${word()}`));
    expect((await servers.none.send('DELETE', `/${target}`)).status).toBe(200);
  });

  it('written lets go of what others refer to', async () => {
    const target = await made(servers.written);
    await made(servers.written, about(target));
    expect((await servers.written.send('DELETE', `/${target}`)).status).toBe(200);
  });

  describe('deletions, enforced', () => {
    const server = servers.enforced;
    const kept = (answer: Answer, target: string, ...words: readonly string[]): void => {
      expectRefusal(answer, 409, 'still-referred', `${target} is referred to by`, ...words);
      expect(answer.json().issue[0].code).toBe('conflict');
    };

    it.each(KINDS)('are refused while %s refers', async (_, of) => {
      const target = await made(server);
      const referrer = await made(server, of(target));
      kept(await server.send('DELETE', `/${target}`), target, referrer);
      expect((await server.send('GET', `/${target}`)).headers.etag).toBe('W/"1"');
      expect((await server.send('GET', `/${target}/_history`)).json().total).toBe(1);
      expect((await server.send('DELETE', `/${referrer}`)).status).toBe(200);
      expect((await server.send('DELETE', `/${target}`)).status).toBe(200);
    });

    it('are not hindered by versions, by what is past, nor by records', async () => {
      const target = await made(server);
      await made(server, about(`${target}/_history/1`));
      const past = await made(server, about(target));
      expect((await server.send('PUT', `/${past}`, basic({ id: past.slice(6) }))).status).toBe(200);
      const event = {
        resourceType: 'AuditEvent',
        code: { text: 'x' },
        recorded: '2020-01-01T00:00:00Z',
        agent: [{ who: { reference: target } }],
        source: { observer: { display: 'x' } },
      };
      await made(server, event);
      expect((await server.send('DELETE', `/${target}`)).status).toBe(200);
    });

    it('name ten, and count the others', async () => {
      const target = await made(server);
      for (let n = 0; n < 12; n++) await made(server, about(target));
      kept(await server.send('DELETE', `/${target}`), target, ' and 2 more; ');
    });

    it('by criteria: all or nothing', async () => {
      const tag = word();
      const tagged = { meta: { tag: [{ system: 'urn:test', code: tag }] } };
      const [free, target] = [await made(server, basic(tagged)), await made(server, basic(tagged))];
      await made(server, about(target));
      kept(await server.send('DELETE', `/Basic?_tag=urn:test|${tag}`), target);
      expect((await server.send('GET', `/${free}`)).status).toBe(200);
    });

    it('in a transaction, go with who refers, or with what ends that', async () => {
      const target = await made(server);
      const [one, two] = [await made(server, about(target)), await made(server, about(target))];
      const half = transaction(entry('DELETE', target), entry('DELETE', one));
      const answer = await server.send('POST', '', half);
      kept(answer, target, two);
      expect(answer.json().issue[0].expression).toEqual(['Bundle.entry[0].request.url']);
      expect(answer.text).not.toContain(one);
      const still = transaction(
        ...[entry('DELETE', target), entry('DELETE', one)],
        entry('PUT', two, { ...about(target), id: two.slice(6), language: 'en' }),
      );
      kept(await server.send('POST', '', still), target);
      const whole = transaction(
        ...[entry('DELETE', target), entry('DELETE', one)],
        entry('PUT', two, basic({ id: two.slice(6) })),
      );
      expect((await server.send('POST', '', whole)).status).toBe(200);
    });

    it('in a batch, each for itself', async () => {
      const target = await made(server);
      const other = await made(server);
      await made(server, about(target));
      const { entry: answers } = (
        await server.send('POST', '', batch(entry('DELETE', target), entry('DELETE', other)))
      ).json();
      expect(answers[0].response.status).toMatch(/^409/);
      expect(answers[1].response.status).toMatch(/^204/);
    });
  });

  describe('modes of types and elements', () => {
    const server = serverWith(store, 'none', {
      Basic: 'written',
      'Basic.subject': 'enforced',
      'CarePlan.addresses': 'enforced',
    });

    it('the longest that fits counts', async () => {
      const none = { reference: `Patient/${word()}` };
      refused(await server.send('POST', '/Basic', basic({ author: none })), 'Basic.author', none.reference);
      const observation = { resourceType: 'Observation', status: 'final', code: { text: 'x' }, subject: none };
      expect((await server.send('POST', '/Observation', observation)).status).toBe(201);
      const plan = { resourceType: 'CarePlan', status: 'active', intent: 'plan', subject: none };
      expect((await server.send('POST', '/CarePlan', plan)).status).toBe(201);
      const addresses = { ...plan, addresses: [{ reference: none }] };
      refused(await server.send('POST', '/CarePlan', addresses), 'CarePlan.addresses[0].reference', none.reference);
    });

    it('only elements that are enforced hinder a deletion', async () => {
      const [one, other] = [await made(server), await made(server)];
      await made(server, basic({ author: { reference: one } }));
      await made(server, basic({ author: { reference: one } }));
      await made(server, about(other));
      expect((await server.send('DELETE', `/${one}`)).status).toBe(200);
      expectRefusal(await server.send('DELETE', `/${other}`), 409, 'still-referred');
    });
  });

  describe('races', () => {
    const server = servers.enforced;
    let pairs: readonly (readonly [Answer, Answer, string])[];

    beforeAll(async () => {
      pairs = await Promise.all(
        Array.from({ length: 20 }, async () => {
          const target = await made(server);
          const id = word();
          const [deleted, written] = await Promise.all([
            server.send('DELETE', `/${target}`),
            server.send('PUT', `/Basic/${id}`, { ...about(target), id }),
          ]);
          return [deleted, written, target] as const;
        }),
      );
    });

    it('of a deletion and a reference one is refused', () => {
      for (const [deleted, written] of pairs)
        expect([
          [200, 409],
          [409, 201],
        ]).toContainEqual([deleted.status, written.status]);
    });
  });
}

function typeOf(resource: object): string {
  return (resource as { resourceType: string }).resourceType;
}
