import { beforeAll, describe, expect, it } from 'vitest';

import type { FhirError } from '../../../runtime/fhir/errors.js';
import type { Resource } from '../../../runtime/fhir/resource.js';
import { expand, type ExpansionOptions } from '../../../runtime/terminology/expand.js';
import { ANY_LANGUAGE } from '../../../runtime/terminology/systems/languages.js';
import { ANY_VERSION, createResolver } from '../../../runtime/terminology/resolver.js';
import { findMember } from '../../../runtime/terminology/value-set.js';
import { processorTime } from '../../processor-time.js';

const OPTIONS: ExpansionOptions = {
  ...{ activeOnly: false, excludeNested: false, excludeNotForUI: false, includeDesignations: false },
  ...{ designations: undefined, languages: ANY_LANGUAGE, properties: new Set(), excludedSystems: new Set() },
};
const SYSTEM = 'http://large.example';
/** Depth of imports: without memory of what was looked at, two to this power. */
const DEPTH = 28;

const valueSet = (url: string, include: readonly object[]) => ({ resourceType: 'ValueSet', url, status: 'active', compose: { include } }); // prettier-ignore
const known = new Map<string, object>();
const resolver = createResolver((_type, url) => Promise.resolve(known.get(url) as Resource | undefined));
const contextOf = (signal?: AbortSignal) => ({
  ...{ resolver, versions: ANY_VERSION, signal },
  used: { systems: new Set<string>(), valueSets: new Set<string>() },
});
const expanded = (url: string, more: Partial<ExpansionOptions> = {}, signal?: AbortSignal) =>
  expand(known.get(url) as Resource, { ...OPTIONS, ...more }, contextOf(signal));
const find = (url: string, code: string, system = SYSTEM) =>
  findMember(known.get(url) as Resource, { system, code }, contextOf());
const add = (resource: { url: string }) => known.set(resource.url, resource);
const system = (url: string, count: number) =>
  add({ ...{ resourceType: 'CodeSystem', url, status: 'active', content: 'complete' }, concept: Array.from({ length: count }, (_, i) => ({ code: `${i}` })) } as never); // prettier-ignore
const refusal = async (work: Promise<unknown>): Promise<string> => {
  const error = (await work.then(() => expect.fail('it was answered'), (each: unknown) => each)) as FhirError; // prettier-ignore
  return `${error.status} ${error.code} ${error.message}`;
};

describe('what costs too much is refused in bounded time', () => {
  beforeAll(() => {
    system(SYSTEM, 210_000);
    system('http://small.example', 10);
    const circle = Array.from({ length: 3000 }, (_, i) => ({ code: `${i}`, property: [{ code: 'parent', valueCode: `${(i + 1) % 3000}` }] })); // prettier-ignore
    add({ ...{ resourceType: 'CodeSystem', url: 'http://circle.example', status: 'active', content: 'complete' }, concept: circle } as never); // prettier-ignore
    const below = (system: string, count: number) => Array.from({ length: count }, (_, i) => ({ system, filter: [{ property: 'concept', op: 'is-a', value: `${i}` }] })); // prettier-ignore
    add(valueSet('v:circle', below('http://circle.example', 2000)));
    add(valueSet('v:many', below(SYSTEM, 2000)));
    const bomb = [{ property: 'code', op: 'regex', value: '(9?){900}x' }];
    add(valueSet('v:regex', [{ system: SYSTEM, filter: bomb }]));
    add(valueSet('v:million', [{ system: 'http://million.example' }]));
    add(valueSet('v:large', [{ system: SYSTEM }]));
    add(valueSet('v:0', [{ system: 'http://small.example' }, { system: SYSTEM, concept: [{ code: '7' }] }]));
    add(valueSet('v:lost-0', [{ system: 'http://lost.example' }]));
    for (let i = 1; i <= DEPTH; i++) {
      add(valueSet(`v:${i}`, [{ valueSet: [`v:${i - 1}`] }, { valueSet: [`v:${i - 1}`] }]));
      add(valueSet(`v:lost-${i}`, [{ valueSet: [`v:lost-${i - 1}`] }, { valueSet: [`v:lost-${i - 1}`] }]));
    }
    add(valueSet('v:deep', [{ valueSet: ['v:deeper'] }]));
    add(valueSet('v:deeper', [{ valueSet: ['v:deepest'] }]));
    add(valueSet('v:deepest', [{ system: 'http://small.example' }, { valueSet: ['v:deeper'] }]));
  });

  it('a million codes: too-costly, before anything is made of them', async () => {
    system('http://million.example', 1_000_000);
    const spent = processorTime();
    expect(await refusal(expanded('v:million'))).toMatch(/^422 expansion-too-costly .*500000/);
    expect(await refusal(expanded('v:million', { count: 10 }))).toMatch(/^422 expansion-too-costly/);
    expect(spent()).toBeLessThan(1000);
    // What the collector looks at counts as time of the tests that follow.
    known.delete('http://million.example');
  });

  it('an expansion beyond the limit: too-costly, with pages as well', async () => {
    expect(await refusal(expanded('v:large'))).toMatch(/^422 expansion-too-costly/);
    expect(await refusal(expanded('v:large', { count: 10 }))).toMatch(/^422 expansion-too-costly/);
    // A single code is found all the same.
    expect(await find('v:large', '209999')).toMatchObject({ code: '209999' });
  });

  it('value sets that import each other twice, many levels deep, took time that doubled with each level', async () => {
    const spent = processorTime();
    expect((await expanded(`v:${DEPTH}`))['total']).toBe(11);
    expect(await find(`v:${DEPTH}`, '7')).toMatchObject({ code: '7' });
    expect(await find(`v:${DEPTH}`, 'none')).toBeUndefined();
    expect(await refusal(find(`v:lost-${DEPTH}`, '7', 'http://lost.example'))).toContain('lost.example');
    expect(spent()).toBeLessThan(2000);
  });

  it('many filters over a circle of concepts: 10.8 s went by before the time limit ended it', async () => {
    const spent = processorTime();
    expect(await refusal(expanded('v:circle'))).toMatch(/^422 expansion-too-costly .*too much work/);
    expect(spent()).toBeLessThan(2000);
    expect(await find('v:circle', '2999', 'http://circle.example')).toMatchObject({ code: '2999' });
    expect(await find('v:circle', 'none', 'http://circle.example')).toBeUndefined();
    expect(spent()).toBeLessThan(2000);
  });

  it('many small parts of a large code system are no such case', async () => {
    expect((await expanded('v:many'))['total']).toBe(2000);
  });

  it('a regular expression that is slow on each of many concepts', async () => {
    const spent = processorTime();
    expect(await refusal(expanded('v:regex'))).toMatch(/^422 expansion-too-costly/);
    expect(spent()).toBeLessThan(3000);
  });

  it('a circle below the first value set says where it closes', async () => {
    expect(await refusal(expanded('v:deep'))).toContain('v:deeper → v:deepest → v:deeper');
    expect(await refusal(find('v:deep', '7'))).toContain('v:deeper → v:deepest → v:deeper');
  });

  it('an aborted request ends', async () => {
    expect(await refusal(expanded('v:5', {}, AbortSignal.abort(new Error('over'))))).toContain('store-busy');
  });
});
