import { describe, expect, it } from 'vitest';

import { snapshotOf } from '../../../runtime/core/validation/snapshot-of.js';
import type { StructureDefinition } from '../../../runtime/validate/profiles/definition/structure-definition.js';
import { extension, profile, slice } from '../validate/defined.js';

describe('the snapshot of a stored definition', () => {
  const many = (count: number): StructureDefinition[] => {
    const all = Array.from({ length: count }, (_, n) => extension(`e${n}`, []));
    return [
      profile(
        'many',
        'Patient',
        all.map(({ url }, n) => slice(`s${n}`, url)),
      ),
      ...all,
    ];
  };
  const made = async (definitions: readonly StructureDefinition[]): Promise<{ asked: string[]; maxima: unknown[] }> => {
    const asked: string[] = [];
    const elements = await snapshotOf(definitions[0]!, (canonical) => {
      asked.push(canonical);
      return Promise.resolve(definitions.find(({ url }) => url === canonical));
    });
    const slices = elements.filter(({ path, sliceName }) => path === 'Patient.extension' && sliceName !== undefined);
    return { asked, maxima: slices.map(({ max }) => max) };
  };

  it('takes the cardinality of each of many extensions from its definition, which is looked up once', async () => {
    const { asked, maxima } = await made(many(80));
    expect(maxima).toEqual(Array.from({ length: 80 }, () => '1'));
    expect(asked).toEqual([...new Set(asked)]);
    expect(asked).toHaveLength(80);
  });

  it('is made where an extension is not known here', async () => {
    const [user, ...rest] = many(2);
    expect((await made([user!, rest[0]!])).maxima).toEqual(['1', '*']);
  });

  it('is not made of more definitions than 500', async () => {
    await expect(made(many(501))).rejects.toThrow('http://x.org/many needs more than 500 other definitions');
  });
});
