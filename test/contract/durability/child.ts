// Child process of the durability tests: node child.ts URL ROLE NAME COUNT. Begins when it is told to.
import { monitorEventLoopDelay } from 'node:perf_hooks';

import { FhirError } from '../../../runtime/fhir/errors.js';
import { VersionConflict, type Put } from '../../../runtime/store/store.js';
import { guardRoles } from './child-guards.js';
import { openStore } from '../open-store.js';

const [url = '', role = '', name = '', amount = '0'] = process.argv.slice(2);
const count = Number(amount);
let transactions = 0;
const store = await openStore(url, {
  ...(/fault/i.test(role) ? { faultAt: name, faultAfter: count } : {}),
  onCommand: (command) => (transactions += /^(?:commit|abort)Transaction$/.test(command) ? 1 : 0),
});

function change(id: string, expected: number, text: string): Put {
  const head = `{"resourceType":"Patient","id":"${id}","meta":{`;
  const entries = [
    { kind: 'token' as const, param: `p${expected % 7}`, system: `urn:${name}:${expected}`, code: text },
  ];
  const content = { resourceType: 'Patient', id, text };
  return { type: 'Patient', id, expected, body: { head, tail: `},"text":"${text}"}` }, content, entries };
}

/** Writes to one resource, as others do at the same time, until `count` went through. */
async function race() {
  let won = 0;
  let lost = 0;
  while (won < count) {
    const current = await store.read('Patient', 'shared');
    try {
      await store.write([change('shared', current?.version ?? 0, `${name}-${won}`)]);
      won++;
    } catch (error) {
      if (!(error instanceof VersionConflict)) throw error;
      lost++;
    }
  }
  return { won, lost };
}

/** Updates one resource `count` times at once, as a server is asked to by as many clients. */
async function update() {
  const { writeCurrent } = await import('../../../runtime/core/write/write-current.js');
  const one = async (n: number): Promise<void> => {
    try {
      await writeCurrent(store, 'Patient', 'shared', (before) =>
        change('shared', before?.version ?? 0, `${name}-${n}`),
      );
    } catch (error) {
      // On a slow machine too many stand before it: then a client asks again.
      if (!(error instanceof FhirError) || error.code !== 'store-busy') throw error;
      await one(n);
    }
  };
  await Promise.all(Array.from({ length: count }, (_, n) => one(n)));
  return {};
}

/** Eight clients that each write to resources of their own and read them again; tells of each answer. */
async function load() {
  const delay = monitorEventLoopDelay({ resolution: 5 });
  delay.enable();
  const times: number[] = [];
  const client = async (n: number): Promise<void> => {
    for (let version = 0; version < count; version++) {
      const id = `${name}-${n}`;
      const start = performance.now();
      const [first] = await store.write([
        change(id, version, `t${version}`),
        change(`${id}-twin`, version, `t${version}`),
      ]);
      times.push(performance.now() - start);
      process.send?.({ id, version: first?.version });
      if ((await store.read('Patient', id))?.version !== version + 1) throw new Error('an answered write is not there');
    }
  };
  await Promise.all(Array.from({ length: 8 }, (_, n) => client(n)));
  times.sort((a, b) => a - b);
  return { loopP99: delay.percentile(99) / 1e6, writeP50: times[times.length >> 1], writeMax: times.at(-1) };
}

/** A piece of a blob, then an update and a creation in one write, then their answer. */
async function fault() {
  if (name === 'piece') {
    await store.blobs.put('blob', (async function* () { yield new Uint8Array(600_000); })(), 1e9); // prettier-ignore
  }
  await store.write([change('a', 1, 'new'), change('b', 0, 'new')]);
  return { acknowledged: true };
}

/** One update of one resource. */
async function updateFault() {
  await store.write([change('a', 1, 'new')]);
  return { acknowledged: true };
}

/** Updates of three resources at once. What was read a moment ago is not read again, so that all are at the same step in the same moment. */
async function updatesFault() {
  const ids = ['a', 'b', 'c'];
  await Promise.all(ids.map((id) => store.read('Patient', id)));
  await Promise.all(ids.map((id) => store.write([change(id, 1, 'new')])));
  return { acknowledged: true };
}

/** One write of a thousand changes and one, at a step of which the process is killed. */
async function piecesFault() {
  const many = Array.from({ length: 1000 }, (_, n) => change(`n${n}`, 0, 'new'));
  await store.write([change('a', 1, 'new'), ...many]);
  return { acknowledged: true };
}

process.send?.('ready');
await new Promise((resolve) => process.once('message', resolve));
const roles = { race, update, load, fault, updateFault, updatesFault, piecesFault, ...guardRoles(store, name, count) };
const result: object = await roles[role as keyof typeof roles]();
await store.close();
process.send?.({ transactions, ...result }, () => {
  if (process.connected) process.disconnect();
});
