import { describe, expect, it } from 'vitest';

import { profiles } from '../../../generated/profiles.js';
import { tables } from '../../../generated/tables.js';
import { breaches, conforming } from './conforming.js';
import { check } from './made.js';

const claimed = tables.capabilities.flatMap(({ supportedProfiles = [] }) => supportedProfiles);
const rows = profiles.filter(({ url }) => claimed.includes(url));

it('all 63 profiles that the server claims have a row', () => {
  expect(rows.length).toBe(63);
});

describe.each(rows.map((row) => [row.url.split('/').pop() ?? '', row] as const))('%s', (_id, row) => {
  const errors = async (resource: object): Promise<string[]> => {
    const found = await check(resource as Record<string, unknown>, [row]);
    return found.filter((each) => each.startsWith('error'));
  };
  const good = conforming(row);

  it('takes what has all that it requires', async () => {
    expect(await errors(good)).toEqual([]);
  });

  it('refuses what breaks it in one place, for that alone', async () => {
    const ways = breaches(row, good);
    const found = await Promise.all(ways.map(async ({ broken }) => errors(broken)));
    const alone = ways.filter(
      ({ name, key }, i) =>
        found[i]?.length === 1 && found[i][0] === `error ${key} ${name === '' ? 'Basic' : `${row.type}.${name}`}`,
    );
    expect(alone.length, JSON.stringify(found)).toBeGreaterThan(0);
  });
});
