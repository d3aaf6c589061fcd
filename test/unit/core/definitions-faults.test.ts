import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { loadDefinitions } from '../../../generator/load/definitions.js';

type Json = Record<string, unknown>;

let work: string;
beforeAll(() => {
  work = mkdtempSync(join(tmpdir(), 'kiln-definitions-'));
});
afterAll(() => rmSync(work, { recursive: true, force: true }));

/** A copy of the real definitions. */
function copyDefinitions(): string {
  const dir = join(mkdtempSync(join(work, 'case-')), 'definitions');
  cpSync('definitions', dir, { recursive: true });
  return dir;
}

/** The faults of the real definitions with one file changed, or replaced by what `change` returns. */
function faultsWith(file: string, change: (content: Json) => unknown): readonly string[] {
  const dir = copyDefinitions();
  const content = JSON.parse(readFileSync(join(dir, file), 'utf8')) as Json;
  const replaced = change(content);
  writeFileSync(join(dir, file), typeof replaced === 'string' ? replaced : JSON.stringify(replaced ?? content));
  try {
    loadDefinitions(dir);
    return [];
  } catch (error) {
    return (error as { details: readonly string[] }).details;
  }
}

describe('a fault is named with its file, its place and what would be right', () => {
  const pin = { name: 'hl7.fhir.r5.core', version: '5.0.0', role: 'definitions', expect: {} };
  const erratum = { package: 'hl7.fhir.r5.core', target: 'http://hl7.org/x', reason: 'It is wrong there.' };

  it.each<[string, string, (content: Json) => unknown, string]>([
    [
      'a missing setting',
      'settings.json',
      (s) => void delete s['vendor'],
      'definitions/settings.json /vendor: is missing',
    ],
    [
      'a range of versions',
      'packages.json',
      () => ({ packages: [{ ...pin, version: '^5.0.0' }] }),
      'definitions/packages.json /packages/0/version: is "^5.0.0"; expected an exact version, such as 5.0.0',
    ],
    [
      'an unknown role',
      'packages.json',
      () => ({ packages: [{ ...pin, role: 'core' }] }),
      'definitions/packages.json /packages/0/role: is "core"; expected one of definitions, expansions',
    ],
    [
      'a count that is no number',
      'packages.json',
      () => ({ packages: [{ ...pin, expect: { 'a/b': '3' } }] }),
      'definitions/packages.json /packages/0/expect/a~1b: is "3"; expected integer',
    ],
    [
      'an erratum without reason',
      'errata.json',
      () => ({ errata: [{ ...erratum, reason: undefined, omit: true }] }),
      'definitions/errata.json /errata/0/reason: is missing',
    ],
    [
      'an erratum that changes nothing',
      'errata.json',
      () => ({ errata: [{ ...erratum, path: '/a' }] }),
      'either `omit`, or `path` with `was`, `now` or both',
    ],
    [
      'an erratum with a path that is no pointer',
      'errata.json',
      () => ({ errata: [{ ...erratum, path: 'a.b', now: 1 }] }),
      'definitions/errata.json /errata/0/path: is "a.b"; expected a JSON pointer into the definition, such as /parameter/0/min',
    ],
    [
      'an operation with a misspelt member',
      'operations/diff.json',
      (o) => void (o['affectState'] = true),
      'definitions/operations/diff.json /affectState: is not known here; expected one of resourceType, id,',
    ],
    [
      'an operation without level',
      'operations/reindex.json',
      (o) => void (o['system'] = false),
      'expected at least one of `system`, `type` and `instance` true, and `resource` where the last two are',
    ],
    [
      'an unknown placeholder',
      'operations/reindex.json',
      (o) => void (o['title'] = '{vender}'),
      'definitions/operations/reindex.json : {vender} is not known; expected {vendor}, {publisher}',
    ],
    [
      'two operations for one call',
      'operations/reindex.json',
      (o) => void (o['code'] = 'diff'),
      'definitions/operations/reindex.json /code: $diff on level system is defined a second time; the first is in operations/diff.json',
    ],
    [
      'a canonical that is not made of the id',
      'operations/diff.json',
      (o) => void (o['id'] = 'difference'),
      'definitions/operations/diff.json /url: is "OperationDefinition/diff"; expected "OperationDefinition/difference"',
    ],
    [
      'an unknown method',
      'operations/export-poll-status.json',
      (o) => void ((o['extension'] as Json[])[2] = { ...(o['extension'] as Json[])[2], valueCode: 'HEAD' }),
      'definitions/operations/export-poll-status.json /extension/2/valueCode: is "HEAD"; expected one of GET, POST, DELETE',
    ],
    [
      'letters out of order',
      'policy/scopes.json',
      (p) => void (p['withheld'] = [{ type: 'AuditEvent', letters: 'du' }]),
      'definitions/policy/scopes.json /withheld/0/letters: is "du"; expected letters of "cruds", each once at most, in this order',
    ],
    [
      'an unknown interaction',
      'policy/scopes.json',
      (p) => void ((p['rows'] as Json[])[0] = { interactions: ['search'], open: true }),
      'definitions/policy/scopes.json /rows/0/interactions/0: is "search"; expected one of read, vread,',
    ],
    [
      'a row that asks nothing and opens nothing',
      'policy/scopes.json',
      (p) => void ((p['rows'] as Json[])[0] = { interactions: ['capabilities'] }),
      'expected at least one of `needs`, `admin`, `open`, `anyToken` and `owner`',
    ],
    [
      'a set that is not defined',
      'policy/scopes.json',
      (p) => void ((p['rows'] as Json[])[0] = { interactions: ['capabilities'], needs: [{ use: 'criterion' }] }),
      'definitions/policy/scopes.json /rows/0/needs/0/use: names no set; expected one of criteria, results,',
    ],
    [
      'a custom scope that is not defined',
      'policy/scopes.json',
      (p) => void ((p['rows'] as Json[])[0] = { interactions: ['capabilities'], admin: '__admin.all' }),
      'definitions/policy/scopes.json /rows/0/admin: is "__admin.all"; expected one of __admin, __admin.expunge,',
    ],
    [
      'a second row for an interaction',
      'policy/scopes.json',
      (p) => void (p['rows'] as Json[]).push({ interactions: ['read'], anyToken: true }),
      '/interactions: read has a row already',
    ],
    [
      'a profile that is no canonical',
      'profiles.json',
      () => ({ Observation: ['bmi'] }),
      'definitions/profiles.json /Observation/0: is "bmi"; expected an absolute http(s) URL without version, fragment and trailing slash',
    ],
    [
      'a profile given twice',
      'profiles.json',
      () => ({ Observation: ['http://x.org/a', 'http://x.org/a'] }),
      'definitions/profiles.json /Observation: items 0 and 1 are equal; expected each once',
    ],
    [
      'a type in small letters',
      'profiles.json',
      () => ({ observation: ['http://x.org/a'] }),
      'definitions/profiles.json /observation: is the name "observation"; expected the name of a resource type',
    ],
    [
      'another name without a reason',
      'aliases.json',
      () => ({ aliases: [{ package: 'hl7.fhir.r5.core', type: 'Patient', name: 'called', code: 'name' }] }),
      'definitions/aliases.json /aliases/0/reason: is missing',
    ],
    [
      'another name that is none for a URL',
      'aliases.json',
      () => ({
        aliases: [{ package: 'p', type: 'Patient', name: 'Called.so', code: 'name', reason: 'Some call it so.' }],
      }),
      'definitions/aliases.json /aliases/0/name: is "Called.so"; expected a name for URLs: small letters, digits and hyphens',
    ],
    ['text that is not JSON', 'profiles.json', () => '{', 'definitions/profiles.json : is not JSON ('],
  ])('%s', (_, file, change, expected) => {
    const faults = faultsWith(file, change);
    expect(
      faults.filter((fault) => fault.includes(expected)),
      faults.join('\n'),
    ).toHaveLength(1);
    expect(faults).toHaveLength(1);
  });

  it('a missing file, with the faults of the others', () => {
    const dir = copyDefinitions();
    rmSync(join(dir, 'packages.json'));
    writeFileSync(join(dir, 'profiles.json'), '{ "Observation": [] }');
    const attempt = (): unknown => loadDefinitions(dir);
    expect(attempt).toThrow('definitions: 2 faults');
    expect(attempt).toThrow(
      expect.objectContaining({
        details: [
          'definitions/packages.json : cannot be read (ENOENT)',
          expect.stringContaining('definitions/profiles.json /Observation: is []; expected'),
        ],
      }),
    );
  });
});
