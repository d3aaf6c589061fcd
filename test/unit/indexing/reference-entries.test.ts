import { describe, expect, it } from 'vitest';

import { OwnBases } from '../../../runtime/path/own-bases.js';
import { tables } from '../../../generated/tables.js';
import type { Resource } from '../../../runtime/fhir/resource.js';
import { renameReferences } from '../../../runtime/jobs/replacement/rename-references.js';
import { createReferenceWalk } from '../../../runtime/path/reference-walk.js';
import { createExtractor } from '../../../runtime/indexing/extract.js';
import { REFERS } from '../../../runtime/indexing/other-references.js';

const walk = createReferenceWalk(tables);
const extension = (reference: string) => [{ url: 'urn:x', valueReference: { reference } }];
const basic = (more: object): Resource =>
  ({ resourceType: 'Basic', id: 'b', code: { text: 'x' }, ...more }) as Resource;

describe('entries of references that no search parameter covers', () => {
  const extract = createExtractor(tables);
  const refersOf = (more: object): string[] =>
    extract(basic(more)).flatMap((entry) =>
      entry.kind === 'reference' && entry.param === REFERS
        ? [`${entry.base === undefined ? '' : `${entry.base}/`}${entry.type}/${entry.id}`]
        : [],
    );

  it.each([
    ['a parameter covers it', { subject: { reference: 'Patient/1' } }, []],
    ['in an extension', { extension: extension('Patient/1') }, ['Patient/1']],
    ['beside one that is covered', { subject: { reference: 'Patient/1' }, extension: extension('Patient/1') }, []],
    [
      'covered in another version only',
      { subject: { reference: 'Patient/1/_history/2' }, extension: extension('Patient/1') },
      ['Patient/1'],
    ],
    ['twice', { extension: [...extension('Patient/1'), ...extension('Patient/1')] }, ['Patient/1']],
    ['of a version', { extension: extension('Patient/1/_history/1') }, []],
    ['absolute', { extension: extension('https://x.example/fhir/Patient/1') }, ['http://x.example/fhir/Patient/1']],
    ['of something else', { extension: extension('urn:uuid:1') }, []],
    [
      'in a contained resource',
      { contained: [{ resourceType: 'Observation', id: 'o', subject: { reference: 'Patient/1' } }] },
      ['Patient/1'],
    ],
    ['to a contained resource', { extension: extension('#o') }, []],
  ])('%s', (_, more, expected) => expect(refersOf(more)).toEqual(expected));

  it('none of what stands in the entries of a Bundle', () => {
    const resource = { resourceType: 'Observation', subject: { reference: 'Patient/1' } };
    const bundle = { resourceType: 'Bundle', type: 'collection', entry: [{ resource }] };
    expect(extract(bundle).filter(({ param }) => param === REFERS)).toEqual([]);
  });
});

describe('renameReferences', () => {
  const renaming = {
    from: { type: 'Patient', id: '1' },
    to: { type: 'Patient', id: '22' },
    own: new OwnBases(['http://kiln.example/fhir']),
  };
  const renamed = (more: object): [number, object] => {
    const resource = basic(more);
    const count = renameReferences(resource, renaming, walk);
    const { resourceType: _type, id: _id, code: _code, ...rest } = resource;
    return [count, rest];
  };

  it.each([
    ['Patient/1', 'Patient/22'],
    ['https://kiln.example/fhir/Patient/1', 'https://kiln.example/fhir/Patient/22'],
    ['http://kiln.example/fhir/Patient/1', 'http://kiln.example/fhir/Patient/22'],
  ])('%s', (before, after) => {
    expect(renamed({ subject: { reference: before, display: 'Patient/1' } })).toEqual([
      1,
      { subject: { reference: after, display: 'Patient/1' } },
    ]);
  });

  it.each(['Patient/11', 'Patient/1/_history/1', 'Device/1', 'https://other.example/fhir/Patient/1', '#1', 'urn:x'])(
    'not %s',
    (reference) => expect(renamed({ subject: { reference } })).toEqual([0, { subject: { reference } }]),
  );

  it('nothing that is no Reference', () => {
    const more = { extension: [{ url: 'Patient/1', valueUri: 'Patient/1' }], text: { div: 'Patient/1' } };
    expect(renamed(more)).toEqual([0, more]);
    // An Expression has an element of that name, which is a URI.
    const expression = { extension: [{ url: 'urn:x', valueExpression: { reference: 'Patient/1' } }] };
    expect(renamed(expression)).toEqual([0, expression]);
  });

  it('each of several, at every depth', () => {
    const at = (reference: string) => ({
      subject: { reference, extension: extension(reference), identifier: { assigner: { reference } } },
      _created: { extension: extension(reference) },
      contained: [{ resourceType: 'List', id: 'l', entry: [{ item: { reference } }, { item: { reference: 'X/1' } }] }],
    });
    expect(renamed(at('Patient/1'))).toEqual([5, at('Patient/22')]);
  });
});
