import { createHash, randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';

import { startKiln, type KilnProcess } from '../../service/kiln-process.js';
import { publication } from '../../http/exchange/publish-cases.js';
import { soak } from '../soak.js';

const KILLS = soak(5);
const CLIENTS = 4;

/** A published document as the server has it. */
interface Published {
  readonly id: string;
  readonly description: string;
  readonly content: readonly [{ readonly attachment: { readonly url: string; readonly hash: string } }];
}

/** Publications while the server is killed again and again: each is whole or not there, and each that was acknowledged is there. */
export function killedPublications(makeStore: () => string): void {
  let server: KilnProcess;
  let base: string;
  let store: string;

  const start = async (): Promise<void> => {
    server = startKiln(['serve', '--port', '0', '--store', store]);
    base = await server.started;
  };
  const stop = async (): Promise<void> => {
    server.child.kill('SIGKILL');
    await server.ended;
  };
  const send = (method: string, path: string, body?: object): Promise<Response> =>
    fetch(`${base}/${path}`, {
      method,
      headers: { 'content-type': 'application/fhir+json', accept: 'application/fhir+json' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });

  /** All resources of a type, page by page. */
  async function allOf<T>(type: string): Promise<T[]> {
    const found: T[] = [];
    for (let next: string | undefined = `${type}?_count=200`; next !== undefined;) {
      const bundle = (await (await send('GET', next)).json()) as {
        entry?: { resource: T }[];
        link: { relation: string; url: string }[];
      };
      found.push(...(bundle.entry ?? []).map(({ resource }) => resource));
      next = bundle.link.find(({ relation }) => relation === 'next')?.url.replace(/^.*\/fhir\//, '');
    }
    return found;
  }

  beforeAll(async () => {
    store = makeStore();
    await start();
    expect((await send('PUT', 'Patient/p', { resourceType: 'Patient', id: 'p' })).status).toBe(201);
  }, 120_000);
  afterAll(stop);

  it(`${KILLS} kills while documents are published: each is whole, or not there`, { timeout: 600_000 }, async () => {
    /** Hash of the document by the name that it was given. */
    const acknowledged = new Map<string, string>();
    let isOver = false;
    const publish = async (client: number): Promise<void> => {
      for (let n = 0; !isOver; n++) {
        const bytes = randomBytes(1000 + ((n * 7919) % 1_000_000));
        const description = `c${client}-${n}`;
        const content = [{ attachment: { contentType: 'application/pdf', data: bytes.toString('base64') } }];
        const sent = publication('Patient/p', { description, content });
        const answer = await send('POST', 'DocumentReference', sent).catch(() => undefined);
        if (answer?.status === 201) {
          await answer.arrayBuffer().catch(() => undefined);
          acknowledged.set(description, createHash('sha1').update(bytes).digest('base64'));
        } else await sleep(20);
      }
    };
    const publishing = Array.from({ length: CLIENTS }, (_, client) => publish(client));
    for (let kill = 0; kill < KILLS; kill++) {
      const before = acknowledged.size;
      while (acknowledged.size < before + 15) await sleep(10);
      await sleep((kill * 37) % 100);
      await stop();
      await start();
    }
    isOver = true;
    await Promise.all(publishing);

    const references = await allOf<Published>('DocumentReference');
    const lists = await allOf<{ entry: { item: { reference: string } }[] }>('List');
    const binaries = await allOf<{ id: string }>('Binary');
    const found = new Map(references.map((each) => [each.description, each]));
    expect(found.size).toBe(references.length);
    expect([...acknowledged.keys()].filter((name) => !found.has(name))).toEqual([]);
    expect(lists.flatMap(({ entry }) => entry.map(({ item }) => item.reference)).sort()).toEqual(
      references.map(({ id }) => `DocumentReference/${id}`).sort(),
    );
    const pathOf = ({ content: [{ attachment }] }: Published): string => attachment.url.replace(/^.*\/fhir\//, '');
    expect(binaries.map(({ id }) => `Binary/${id}`).sort()).toEqual(references.map(pathOf).sort());
    for (const reference of references) {
      const answer = await fetch(`${base}/${pathOf(reference)}`);
      const hash = createHash('sha1').update(Buffer.from(await answer.arrayBuffer())).digest('base64'); // prettier-ignore
      const { description, content } = reference;
      expect([description, answer.status, hash]).toEqual([description, 200, content[0].attachment.hash]);
      if (acknowledged.has(description)) expect(acknowledged.get(description)).toBe(hash);
    }
    console.info(`${references.length} documents, ${acknowledged.size} acknowledged`);
  });
}
