import { describe, expect, it } from 'vitest';

import { OwnBases } from '../../../runtime/path/own-bases.js';
import { tables } from '../../../generated/tables.js';
import type { Resource } from '../../../runtime/fhir/resource.js';
import { utc } from '../../../runtime/indexing/values/zone.js';
import { MAX_HIERARCHY, resolveCriteria } from '../../../runtime/search-execution/execute/resolve-criteria.js';
import { createExtractor } from '../../../runtime/indexing/extract.js';
import { matches } from '../../../runtime/search/query/match.js';
import { printCondition } from '../../../runtime/search/query/print.js';
import type { Chain, Condition, Target } from '../../../runtime/search/query/query.js';
import type { FindQuery } from '../../../runtime/store/store.js';
import { parse } from './chain-parser.js';

const extract = createExtractor(tables);

const organization = (id: string, partOf?: string) =>
  ({ resourceType: 'Organization', id, ...(partOf !== undefined && { partOf: { reference: `Organization/${partOf}` } }) }) as unknown as Resource; // prettier-ignore

/** A store that has these, and counts how often it is asked. */
function sourceOf(resources: readonly Resource[]) {
  const asked: FindQuery[] = [];
  return {
    asked,
    zone: utc,
    findReadable: () => Promise.reject(new Error('nobody asks for members')),
    codesOf: () => Promise.reject(new Error('no search asks for codes')),
    extract,
    tables,
    own: new OwnBases(),
    find: (query: FindQuery) => {
      asked.push(query);
      const found = resources.filter((resource) =>
        matches(query.where, { id: String(resource['id']), lastUpdated: 0, entries: extract(resource) }),
      );
      const versions = found.map((resource) => ({
        type: query.type,
        id: String(resource['id']),
        version: 1,
        lastUpdated: 0,
        json: JSON.stringify(resource),
      }));
      return Promise.resolve({ versions, complete: 0 });
    },
  };
}

/** Without what is asked of contained resources, which is the same. */
function plainly(condition: Condition): Condition {
  if ('some' in condition && condition.some.some((each) => 'param' in each && each.param.endsWith('#')))
    return plainly(condition.some[0]!);
  if (!('chain' in condition)) return condition;
  return { ...condition, chain: condition.chain.map((target) => ({ ...target, where: plainly(target.where) })) };
}

describe('hierarchies at the end of links', () => {
  const tree = [
    organization('root'),
    organization('ward', 'root'),
    organization('room', 'ward'),
    organization('other'),
  ];
  const resolve = async (target: string, value: string): Promise<string> =>
    printCondition(plainly(await resolveCriteria([parse(target, value)], sourceOf(tree))));

  it.each([
    [
      'Observation?patient.organization:below',
      'Organization/ward',
      'patient -> Patient (organization (-> Organization {"id":"ward"} or -> Organization {"id":"room"}))',
    ],
    [
      'Observation?patient.organization:above',
      'Organization/ward',
      'patient -> Patient (organization (-> Organization {"id":"ward"} or -> Organization {"id":"root"}))',
    ],
    [
      'Organization?_has:Patient:organization:organization:below',
      'Organization/other',
      'organization of Patient (organization -> Organization {"id":"other"}) -> this',
    ],
    [
      'Patient?organization.partof:below',
      'Organization/ward',
      'organization -> Organization (partof (-> Organization {"id":"ward"} or -> Organization {"id":"room"}))',
    ],
  ])('%s=%s', async (target, value, condition) => {
    expect(await resolve(target, value)).toBe(condition);
  });

  it('are followed once, however many types lead there', async () => {
    const source = sourceOf(tree);
    const criterion = parse('Observation?subject.organization.partof:below', 'Organization/root');
    const condition = await resolveCriteria([criterion], source);
    expect(printCondition(condition).match(/"room"/g)!.length).toBeGreaterThan(1);
    // root, ward and room, each level once.
    expect(source.asked).toHaveLength(3);
  });

  it('count together', async () => {
    const many = [organization('root'), ...Array.from({ length: MAX_HIERARCHY.resources }, (_, i) => organization(`o${i}`, 'root'))]; // prettier-ignore
    const criterion = parse('Observation?patient.organization:below', 'Organization/root');
    await expect(resolveCriteria([criterion], sourceOf(many))).resolves.toBeTypeOf('object');
    const both = [criterion, parse('Observation?performer:Organization.partof:below', 'Organization/root')];
    await expect(resolveCriteria(both, sourceOf(many))).rejects.toThrow(/Hierarchies lead to more than 1000 resources/);
  });

  it('leave other criteria as they are, but for chains, which lead into contained resources, too', async () => {
    const plain = parse('Observation?code', 'x');
    expect(await resolveCriteria([plain], sourceOf([]))).toEqual(plain);
    const chain = parse('Observation?patient.name', 'x');
    const [{ where }] = (chain as Chain).chain as [Target];
    const within = { param: 'patient#', chain: [{ type: '#Patient', where }] };
    expect(await resolveCriteria([chain], sourceOf([]))).toEqual({ some: [chain, within] });
  });
});
