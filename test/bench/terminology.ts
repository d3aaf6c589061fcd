import type { Resource } from '../../runtime/fhir/resource.js';
import { expand, type ExpansionOptions } from '../../runtime/terminology/expand.js';
import { judgeInValueSet } from '../../runtime/terminology/judge.js';
import { ANY_LANGUAGE } from '../../runtime/terminology/languages.js';
import { ANY_VERSION, createResolver } from '../../runtime/terminology/resolver.js';
import { measure } from './measure.js';
import type { Bench, Row } from './row.js';

const SYSTEM = 'http://cs.example/large';
const SIZE = 100_000;

const OPTIONS: ExpansionOptions = {
  ...{ activeOnly: false, excludeNested: false, excludeNotForUI: false, includeDesignations: false },
  ...{ designations: [], languages: ANY_LANGUAGE, properties: [], excludedSystems: new Set() },
};

/** What `npm run bench -- terminology` measures: expansions of a code system with 100,000 concepts, and checks of its codes. */
export const bench: Bench = async () => {
  const concept = Array.from({ length: SIZE }, (_, i) => ({
    code: `c${i}`,
    display: `Finding number ${i} of the ${['heart', 'lung', 'liver', 'knee'][i % 4]}`,
    property: i === 0 ? [] : [{ code: 'parent', valueCode: `c${Math.floor((i - 1) / 8)}` }],
  }));
  const system = { resourceType: 'CodeSystem', url: SYSTEM, status: 'active', content: 'complete', concept };
  const include = (more: object) => ({ compose: { include: [{ system: SYSTEM, ...more }] } });
  const all = { resourceType: 'ValueSet', url: 'http://vs.example/all', status: 'active', ...include({}) };
  const part = {
    ...{ ...all, url: 'http://vs.example/part' },
    ...include({ filter: [{ property: 'concept', op: 'is-a', value: 'c1' }] }),
  };
  const known = new Map([system, all, part].map((each) => [each.url, each as unknown as Resource]));
  const resolver = createResolver((_type, url) => Promise.resolve(known.get(url)));
  const context = () => ({
    ...{ resolver, versions: ANY_VERSION, signal: undefined },
    used: { systems: new Set<string>(), valueSets: new Set<string>() },
  });
  const expanded = (url: string, more: Partial<ExpansionOptions>) => async () => {
    await expand(known.get(url)!, { ...OPTIONS, ...more }, context());
    return 1;
  };
  const judge = { languages: ANY_LANGUAGE, isLenient: false, takesAbstract: true, activeOnly: false, membershipOnly: false }; // prettier-ignore
  let at = 0;
  const checked = async (): Promise<number> => {
    for (let i = 0; i < 100; i++) {
      const sent = { system: SYSTEM, code: `c${(at += 7919) % SIZE}`, place: 'Coding' };
      const { member } = await judgeInValueSet(sent, known.get(all.url)!, context(), judge);
      if (member === undefined) throw new Error(`${sent.code} is missing`);
    }
    return 100;
  };
  const rows: Row[] = [];
  const add = async (name: string, unit: string, work: () => Promise<number>, rate: number): Promise<void> => {
    rows.push({ name, unit, measured: await measure(work), goal: { rate } });
  };
  // 5 ms each, and what HTTP adds.
  await add('expand 100,000 codes by words, 20 of them', 'expansions', expanded(all.url, { filter: 'number 99', count: 20 }), 200); // prettier-ignore
  await add('expand a part by words, 20 of them', 'expansions', expanded(part.url, { filter: 'knee', count: 20 }), 200);
  await add('check a code against 100,000', 'checks', checked, 20_000);
  return rows;
};
