import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { createRequire } from 'node:module';
import { expect, it } from 'vitest';

import type { Resource } from '../../../runtime/fhir/resource.js';
import { expand } from '../../../runtime/terminology/expand.js';
import { ANY_LANGUAGE } from '../../../runtime/terminology/systems/languages.js';
import { createResolver } from '../../../runtime/terminology/resolver.js';
import { shippedResource } from '../../../runtime/terminology/shipped.js';

const folder = dirname(createRequire(import.meta.url).resolve('hl7.fhir.r5.expansions/package.json'));

interface Contains {
  readonly system?: string;
  readonly code?: string;
  readonly contains?: readonly Contains[];
}

function codesOf(contains: readonly Contains[] = []): string[] {
  return contains.flatMap(({ system, code, contains: inner }) => [...(code === undefined ? [] : [`${system}|${code}`]), ...codesOf(inner)]); // prettier-ignore
}

/** Why a value set is not compared: its codes are of systems that the package lacks, or a rule defines them. */
function whyNot(error: unknown): string {
  return (error as Error).message;
}

/**
 * Those that differ, both because time went on: ISO 4217 has six currencies more than the official expansion (SLE, UYW, VED, VES, XCG,
 * ZWG), and IANA more time zones.
 */
const DIFFERENT = ['http://hl7.org/fhir/ValueSet/currencies', 'http://hl7.org/fhir/ValueSet/timezones'];

it('core value sets expand as hl7.fhir.r5.expansions says', async () => {
  const resolver = createResolver(() => Promise.resolve(undefined));
  const options = {
    ...{ activeOnly: false, excludeNested: true, excludeNotForUI: false, includeDesignations: false },
    ...{ designations: undefined, languages: ANY_LANGUAGE, properties: new Set<string>(), excludedSystems: new Set<string>(), offset: 0 }, // prettier-ignore
  };
  const versions = { system: new Map(), force: new Map(), check: new Map() };
  let compared = 0;
  const different: string[] = [];
  for (const name of readdirSync(folder).filter((each) => each.startsWith('ValueSet-'))) {
    const official = JSON.parse(readFileSync(join(folder, name), 'utf8')) as Resource & {
      url: string;
      expansion?: { contains?: readonly Contains[]; total?: number };
    };
    const own = shippedResource('ValueSet', official.url);
    const wanted = new Set(codesOf(official.expansion?.contains));
    if (own === undefined || own['compose'] === undefined || wanted.size === 0) continue;
    // What is shipped with its official expansion would be compared with itself.
    const { expansion: _official, ...definition } = own;
    const context = { resolver, versions, signal: undefined, used: { systems: new Set<string>(), valueSets: new Set<string>() } }; // prettier-ignore
    let found: Set<string>;
    try {
      found = new Set(
        codesOf(
          (await expand(definition as Resource, options, context))['contains'] as readonly Contains[] | undefined,
        ),
      );
    } catch (error) {
      expect(whyNot(error)).toMatch(/does not know|cannot be listed|not supported|not how they are arranged/);
      continue;
    }
    compared++;
    const alike = found.size === wanted.size && [...wanted].every((code) => found.has(code));
    if (!alike) different.push(`${official.url}: ${found.size} instead of ${wanted.size}`);
  }
  expect(compared).toBeGreaterThanOrEqual(670);
  expect(different.filter((each) => !DIFFERENT.some((url) => each.startsWith(`${url}:`)))).toEqual([]);
});
