import { expect, it } from 'vitest';

import { OwnBases } from '../../../runtime/path/own-bases.js';
import { tables } from '../../../generated/tables.js';
import { criteriaAccess, searchAccess } from '../../../runtime/auth/access/search-access.js';
import type { Access } from '../../../runtime/auth/scopes/access.js';
import { OPEN_ACCESS } from '../../../runtime/auth/scopes/principal.js';
import { CONTEXT, contextEntries } from '../../../runtime/indexing/context-entries.js';
import { createExtractor } from '../../../runtime/indexing/extract.js';
import { printCondition } from '../../../runtime/search/query/print.js';
import { accessOf } from '../auth/scopes-setup.js';

const { param } = CONTEXT;
const present = { kind: 'token', param, code: 'present' };

it.each([
  ['none', undefined, []],
  ['a resource', { reference: 'Patient/1' }, [present, { kind: 'reference', param, type: 'Patient', id: '1' }]],
  [
    'a version',
    { reference: 'Patient/1/_history/2' },
    [present, { kind: 'reference', param, type: 'Patient', id: '1' }],
  ],
  ['one elsewhere', { reference: 'http://x/Patient/1' }, [present, { kind: 'reference', param, type: 'Patient', id: '1', base: 'http://x' }]], // prettier-ignore
  ['what is no place', { reference: 'urn:x' }, [present]],
  ['an identifier', { identifier: { value: '1' } }, [present]],
  ['nonsense', 'Patient/1', [present]],
  ['null', null, [present]],
])('the context of a Binary is found: %s', (_, securityContext, entries) => {
  const binary = {
    resourceType: 'Binary',
    contentType: 'text/plain',
    ...(securityContext !== undefined && { securityContext }),
  };
  expect(contextEntries(binary, new OwnBases())).toEqual(entries);
  expect(createExtractor(tables)(binary).filter((each) => each.param === param)).toEqual(entries);
  expect(contextEntries({ ...binary, resourceType: 'Basic' }, new OwnBases())).toEqual([]);
});

it('decides what of Binaries searches see, and of nothing else', () => {
  const shown = (access: Access, type: string, letters = 's'): string => {
    const reach = access.on(type, letters);
    return typeof reach === 'string' ? reach : printCondition(reach);
  };
  const types = ['Binary', 'Patient'];
  const none = shown(searchAccess(accessOf('system/Binary.s'), types), 'Binary');
  expect(shown(criteriaAccess(accessOf('system/*.rs')), 'Binary')).toBe(none);
  expect(none).not.toBe('everything');
  const some = searchAccess(accessOf('system/Binary.s system/Patient.r?_tag=x'), types);
  expect(shown(some, 'Binary')).toContain('_tag = "x"');
  expect(shown(some, 'Patient', 'r')).toBe('_tag = "x"');
  expect(shown(some, 'Patient')).toBe('nothing');
  expect(some.isWhole('Binary', 's')).toBe(false);
  expect(shown(searchAccess(accessOf('system/Patient.rs'), types), 'Binary')).toBe('nothing');
  expect(criteriaAccess(OPEN_ACCESS)).toBe(OPEN_ACCESS);
});
