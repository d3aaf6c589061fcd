import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { tables } from '../../../generated/tables.js';
import { isObject, type JsonObject, type JsonValue, type Resource } from '../../../runtime/fhir/resource.js';
import { readJson } from '../../../runtime/format/read-json.js';
import { SUBSETTED } from '../../../runtime/fhir/meta.js';
import { summarize, type SummaryMode } from '../../../runtime/format/summary.js';
import { elementIndex } from '../../../runtime/format/xml/element-index.js';
import { exampleFiles, readExample } from '../../conformance/formats/examples.js';

const tagged = { tag: [SUBSETTED] };

const patient: Resource = {
  resourceType: 'Patient',
  id: 'p',
  meta: { versionId: '3', security: [{ code: 'R' }], tag: [{ code: 'mine' }] },
  implicitRules: 'http://example.org/rules',
  language: 'de',
  text: { status: 'generated', div: '<div/>' },
  contained: [{ resourceType: 'Organization', id: 'o' }],
  extension: [{ url: 'u', valueCode: 'c' }],
  modifierExtension: [{ id: 'm', url: 'u', valueCode: 'c' }],
  active: true,
  name: [{ id: 'n', family: 'F', _family: { id: 'f' }, extension: [{ url: 'u', valueCode: 'c' }] }],
  _birthDate: { extension: [{ url: 'u', valueCode: 'c' }] },
  deceasedBoolean: false,
  maritalStatus: { text: 'single' },
  photo: [{ title: 't' }],
  contact: [{ name: { family: 'C' } }],
  communication: [{ language: { text: 'de' }, preferred: true }],
  link: [{ id: 'l', other: { reference: 'Patient/1', type: 'Patient' }, type: 'refer' }],
};

const observation: Resource = {
  resourceType: 'Observation',
  id: 'o',
  text: { status: 'generated', div: '<div/>' },
  status: 'final',
  category: [{ text: 'c' }],
  code: { id: 'c', coding: [{ system: 's', code: 'c', extension: [{ url: 'u', valueCode: 'x' }] }], text: 't' },
  valueQuantity: { value: 1, unit: 'g' },
  interpretation: [{ text: 'i' }],
  note: [{ text: 'n' }],
  referenceRange: [{ low: { value: 1 } }],
  component: [
    {
      id: 'x',
      code: { text: 'a' },
      valueString: 'v',
      interpretation: [{ text: 'h' }],
      referenceRange: [{ text: 'r' }],
    },
  ],
};

const valueSet: Resource = {
  resourceType: 'ValueSet',
  id: 'v',
  url: 'http://example.org/v',
  status: 'draft',
  description: 'd',
  purpose: 'p',
  compose: { include: [{ system: 's' }] },
  expansion: { timestamp: '2020-01-01' },
};

describe('_summary (search.html#summary)', () => {
  it.each<[string, Resource, SummaryMode, Record<string, unknown>]>([
    [
      'true, Patient: its summary elements; modifiers whole, primitives with their extensions',
      patient,
      'true',
      {
        resourceType: 'Patient',
        id: 'p',
        meta: { versionId: '3', security: [{ code: 'R' }], tag: [{ code: 'mine' }, SUBSETTED] },
        implicitRules: 'http://example.org/rules',
        modifierExtension: [{ id: 'm', url: 'u', valueCode: 'c' }],
        active: true,
        name: [{ family: 'F', _family: { id: 'f' } }],
        _birthDate: { extension: [{ url: 'u', valueCode: 'c' }] },
        deceasedBoolean: false,
        link: [{ id: 'l', other: { reference: 'Patient/1', type: 'Patient' }, type: 'refer' }],
      },
    ],
    [
      'true, Observation: at every depth',
      observation,
      'true',
      {
        resourceType: 'Observation',
        id: 'o',
        meta: tagged,
        status: 'final',
        code: { coding: [{ system: 's', code: 'c' }], text: 't' },
        valueQuantity: { value: 1, unit: 'g' },
        component: [{ code: { text: 'a' }, valueString: 'v' }],
      },
    ],
    [
      'true, ValueSet',
      valueSet,
      'true',
      { resourceType: 'ValueSet', id: 'v', meta: tagged, url: 'http://example.org/v', status: 'draft' },
    ],
    [
      'text, Observation: text, id, meta, required elements',
      observation,
      'text',
      {
        resourceType: 'Observation',
        id: 'o',
        meta: tagged,
        text: observation['text'],
        status: 'final',
        code: observation['code'],
      },
    ],
    [
      'text, Patient: modifiers too',
      patient,
      'text',
      {
        resourceType: 'Patient',
        id: 'p',
        meta: { versionId: '3', security: [{ code: 'R' }], tag: [{ code: 'mine' }, SUBSETTED] },
        implicitRules: 'http://example.org/rules',
        text: patient['text'],
        modifierExtension: patient['modifierExtension'],
        active: true,
        deceasedBoolean: false,
        link: patient['link'],
      },
    ],
    [
      'data, ValueSet: everything but text',
      { ...valueSet, text: patient['text']! },
      'data',
      { ...valueSet, meta: tagged },
    ],
  ])('%s', (_title, resource, mode, expected) => {
    const before = structuredClone(resource);
    expect(summarize(resource, mode, tables)).toEqual(expected);
    expect(resource).toEqual(before);
  });

  it('false gives the resource itself', () => {
    expect(summarize(patient, 'false', tables)).toBe(patient);
  });

  it('meta comes after the id, and the tag is added once', () => {
    const once = summarize(observation, 'true', tables);
    expect(Object.keys(once).slice(0, 3)).toEqual(['resourceType', 'id', 'meta']);
    expect(summarize(once, 'data', tables)['meta']).toEqual(tagged);
    expect(Object.keys(summarize({ resourceType: 'Basic' }, 'data', tables))).toEqual(['resourceType', 'meta']);
  });

  it('an element that would have nothing left stays whole', () => {
    const absent = {
      extension: [{ url: 'http://hl7.org/fhir/StructureDefinition/data-absent-reason', valueCode: 'unknown' }],
    };
    const resource = { resourceType: 'Observation', _status: absent, code: absent };
    expect(summarize(resource, 'true', tables)).toEqual({ ...resource, meta: tagged });
  });

  it('numbers keep their text', () => {
    const resource = readJson('{"resourceType":"Observation","valueQuantity":{"value":1.50}}') as Resource;
    expect(summarize(resource, 'true', tables)['valueQuantity']).toEqual(resource['valueQuantity']);
  });

  it('a resource in an element stays whole', () => {
    const resource = { resourceType: 'Bundle', type: 'collection', entry: [{ id: 'e', resource: patient }] };
    expect(summarize(resource, 'true', tables)).toEqual({ ...resource, meta: tagged, entry: [{ resource: patient }] });
  });

  it('of every example is a part of it, and has its required elements and modifiers', { timeout: 60_000 }, () => {
    const files = exampleFiles().filter((_, i) => i % 9 === 0);
    const modes = fc.constantFrom<SummaryMode>('true', 'text', 'data', 'false');
    fc.assert(
      fc.property(fc.constantFrom(...files), modes, (file, mode) => {
        const { text } = readExample(file);
        if (text.length > 200_000) return;
        const resource = readJson(text) as Resource;
        const summary = summarize(resource, mode, tables);
        const { meta: _summary, ...part } = summary;
        const { meta: _whole, ...whole } = resource;
        expect(isPart(part, whole)).toBe(true);
        expectRequired(summary, resource);
      }),
      { numRuns: 300, seed: 20261121 },
    );
  });
});

/** Whether all of a value is in another one, in the same places. */
function isPart(part: JsonValue | undefined, whole: JsonValue | undefined): boolean {
  if (Array.isArray(part)) {
    return Array.isArray(whole) && part.length === whole.length && part.every((item, i) => isPart(item, whole[i]));
  }
  if (isObject(part)) return isObject(whole) && Object.keys(part).every((key) => isPart(part[key], whole[key]));
  return String(part) === String(whole) && typeof part === typeof whole;
}

/** That every object which is left has all that its type requires and the whole had, and its modifiers. */
function expectRequired(summary: JsonObject, whole: JsonObject, type = String(whole['resourceType'])): void {
  const index = elementIndex(tables);
  for (const { name, row, kind, type: inner } of index.of(type).byName.values()) {
    if ((row.min || row.modifier) && name in whole) expect(Object.keys(summary)).toContain(name);
    if (kind !== 'object') continue;
    const [left, right] = [summary[name], whole[name]].map((value) => (Array.isArray(value) ? value : [value]));
    left?.forEach((value, i) => {
      const other = right?.[i];
      if (isObject(value) && isObject(other) && name !== 'meta') expectRequired(value, other, inner);
    });
  }
}
