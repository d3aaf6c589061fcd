import fc from 'fast-check';
import { expect, it } from 'vitest';

import { DIALECTS, type Dialect } from '../../../runtime/auth/scopes/dialect.js';
import { grantScopes } from '../../../runtime/auth/scopes/grant.js';
import { rules } from './scopes-setup.js';

/**
 * What scopes give, read with other means than the ones under test: for each type and letter, which resources. A resource
 * is what it fulfils, one bit a pair.
 */
const TYPES = ['Patient', 'Observation', 'AuditEvent'] as const;
const LETTERS = 'cruds';
const PAIRS = ['_tag=a', '_tag=b,c', '_profile=http://x'] as const;
const RESOURCES = Array.from({ length: 2 ** PAIRS.length }, (_, bits) => bits);

const WORDS: Record<string, string> = { search: 's', create: 'c', write: 'cud', '*': 'cruds' };

function meaning(text: string, dialect: Dialect | undefined): Set<string> {
  const texts = text.split(' ');
  const isLong = texts.some((each) => /\.(search|create)$/.test(each));
  const read = dialect === 'eu-0.1' || (dialect !== 'v1' && isLong) ? 'r' : 'rs';
  const found = new Set<string>();
  for (const each of texts) {
    const [, type, right = '', query] = /^system\/(\*|\w+)\.([a-z]+|\*)(?:\?(.*))?$/.exec(each) ?? [];
    const letters = right === 'read' ? read : (WORDS[right] ?? right);
    const pairs = query === undefined ? [] : query.split('&').map((pair) => decodeURIComponent(pair));
    for (const one of TYPES) {
      if (type !== '*' && type !== one) continue;
      for (const letter of letters) {
        if (type === '*' && one === 'AuditEvent' && 'ud'.includes(letter)) continue;
        for (const resource of RESOURCES) {
          const fulfils = (pair: string): boolean => (resource & (1 << PAIRS.indexOf(pair as never))) !== 0;
          if (pairs.every(fulfils)) found.add(`${one}.${letter} ${resource}`);
        }
      }
    }
  }
  return found;
}

const letters = fc.subarray([...LETTERS], { minLength: 1 }).map((some) => some.join(''));
const pairs = fc.shuffledSubarray([...PAIRS]).chain((some) =>
  fc
    .constantFrom(
      (pair: string) => pair,
      (pair: string) => pair.replace(/[,:/]/g, (c) => encodeURIComponent(c)),
    )
    .map((spell) => (some.length === 0 ? '' : `?${some.map(spell).join('&')}`)),
);
const scope = fc.oneof(
  fc
    .tuple(fc.constantFrom('*', ...TYPES), letters, pairs)
    .map(([type, some, query]) => `system/${type}.${some}${query}`),
  fc
    .tuple(fc.constantFrom('*', ...TYPES), fc.constantFrom('read', 'search', 'create', 'write', '*'))
    .map(([type, word]) => `system/${type}.${word}`),
);
const list = fc.array(scope, { minLength: 1, maxLength: 5 }).map((some) => some.join(' '));
const dialects = fc.constantFrom(undefined, ...DIALECTS);

it('gives exactly what is requested and registered, and says so in both spellings', () => {
  fc.assert(
    fc.property(list, list, dialects, (requested, scope, dialect) => {
      const registered = { scope, ...(dialect !== undefined && { dialect }) };
      const given = grantScopes(requested, registered, rules.knows, rules.customs, rules);
      const allowed = meaning(scope, dialect);
      const both = new Set([...meaning(requested, dialect)].filter((each) => allowed.has(each)));
      if (given === undefined) return void expect(both).toEqual(new Set());
      expect(meaning(given.canonical, undefined)).toEqual(both);
      expect(meaning(given.spelled, dialect)).toEqual(both);
      // The canonical text asks for itself, and gets it.
      const again = { canonical: given.canonical, spelled: given.canonical };
      for (const each of [undefined, ...DIALECTS]) {
        const own = { scope: given.canonical, ...(each !== undefined && { dialect: each }) };
        expect(grantScopes(given.canonical, own, rules.knows, rules.customs, rules)).toEqual(again);
      }
    }),
    { numRuns: 500 },
  );
});

it('takes any text at all, and gives nothing for what is no scope', () => {
  const registered = { scope: 'system/*.cruds __admin' };
  const noise = fc.oneof(
    fc.string({
      unit: fc.constantFrom(...'system/Patient.cruds?_tag=&%2 *"\\\n\0é😀__admin'.split('')),
      maxLength: 60,
    }),
    fc
      .tuple(scope, fc.string({ maxLength: 4 }), fc.nat(40))
      .map(([text, more, at]) => text.slice(0, at) + more + text.slice(at)),
  );
  fc.assert(
    fc.property(noise, (text) => {
      const given = grantScopes(text, registered, rules.knows, rules.customs, rules);
      for (const each of given?.canonical.split(' ') ?? []) {
        expect(each).toMatch(
          /^(?:system\/(?:\*|[A-Z]\w+)\.c?r?u?d?s?(?:\?[\x21\x23-\x5B\x5D-\x7E]+)?|__admin[.a-z-]*)$/,
        );
      }
    }),
    { numRuns: 1000 },
  );
});
