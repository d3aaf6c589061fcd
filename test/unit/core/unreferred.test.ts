import { expect, it } from 'vitest';

import { tables } from '../../../generated/tables.js';
import { OPEN_ACCESS } from '../../../runtime/auth/scopes/principal.js';
import { openUnreferred } from '../../../runtime/core/references/unreferred.js';
import type { Services } from '../../../runtime/core/services.js';

/** Services over a store in which Observations without end refer to everything. @param isHolding whether their references count */
function endless(isHolding: boolean): { readonly services: Services; readonly pages: () => number } {
  let pages = 0;
  const json = '{"resourceType":"Observation","id":"x"}';
  const page = Array.from({ length: 200 }, (_, n) => ({ type: 'Observation', id: `o${n}`, version: 1, lastUpdated: 0, json })); // prettier-ignore
  const services = {
    tables,
    indexStatus: { notCurrent: () => Promise.resolve([]) },
    integrity: { holding: ['Observation'], isShipped: () => false, targetsOf: () => undefined, holds: () => isHolding },
    store: {
      counts: () => Promise.resolve(new Map([['Observation', 1]])),
      find: () => Promise.resolve({ versions: page, next: String(++pages) }),
    },
  };
  return { services: services as unknown as Services, pages: () => pages };
}

const DELETION = { type: 'Patient', id: 'p', expected: 1 };

it.each([
  ['a deletion of what very many refer to is refused after some', true],
  ['a deletion is too costly where very many refer in ways that may be', false],
])('%s', async (_, isHolding) => {
  const { services, pages } = endless(isHolding);
  const unreferred = openUnreferred({ principal: { access: OPEN_ACCESS } } as never, services);
  await unreferred([DELETION]);
  expect(pages()).toBe(0);
  if (isHolding) {
    const [deletion] = await unreferred([DELETION]);
    expect(deletion!.refuse!(new Set()).message).toContain(' and at least 990 more; ');
  } else await expect(unreferred([DELETION])).rejects.toThrow('More than 20000 resources refer to Patient/p');
  expect(pages()).toBe(101);
});
