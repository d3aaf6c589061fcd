import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';

import { runProgram } from '../../runtime/cli/program.js';

const DAY = 24 * 60 * 60 * 1000;

/** `kiln explain-search` says by which source a page was found, what is asked besides, and how many rows that was expected to take. */
export function explainedPlans(store: string): void {
  const folder = mkdtempSync(join(tmpdir(), 'kiln-explained-'));
  afterAll(() => rmSync(folder, { recursive: true }));

  async function kiln(...args: string[]): Promise<string> {
    const out: string[] = [];
    const err: string[] = [];
    const terminal = { out: (line: string) => out.push(line), err: (line: string) => err.push(line), env: {} };
    expect(await runProgram([...args, '--store', store], terminal), err.join('\n')).toBe(0);
    return out.join('\n');
  }

  beforeAll(async () => {
    const patients = Array.from({ length: 60 }, (_, n) => {
      return { resourceType: 'Patient', id: `p${n}`, active: n % 2 === 0, name: [{ family: `F${n}x` }] };
    });
    const observations = Array.from({ length: 300 }, (_, n) => ({
      resourceType: 'Observation',
      id: `o${n}`,
      status: n % 2 === 0 ? 'final' : 'amended',
      code: { coding: [{ system: 'http://loinc.org', code: n % 15 === 0 ? 'rare' : 'common' }] },
      subject: { reference: `Patient/p${n % 60}` },
      effectiveDateTime: new Date(Date.UTC(2024, 0, 1) + n * DAY).toISOString(),
    }));
    const file = join(folder, 'all.ndjson');
    writeFileSync(file, [...patients, ...observations].map((each) => JSON.stringify(each)).join('\n'));
    await kiln('load', file);
  }, 60_000);

  interface Told {
    readonly source: RegExp;
    readonly filters: RegExp;
    readonly estimated: RegExp;
  }

  /** Stores may choose other plans where several are as good. */
  const CASES: Readonly<Record<string, Told>> = {
    'Observation?date=ge2024-09-27&_count=50': { source: /^date .* \(walked in its order\)$/, filters: /^(none|date .*)$/, estimated: /^30 rows$/ }, // prettier-ignore
    'Observation?status=final&code=rare': { source: /^code = "rare" \(walked in its order\)$/, filters: /^status = "final"$/, estimated: /^20 rows$/ }, // prettier-ignore
    'Observation?status=final&code=common': { source: /^status = "final" \(walked in its order\)$/, filters: /^code = "common"$/, estimated: /^(150|at most 500) rows$/ }, // prettier-ignore
    'Observation?_sort=-date&_count=10': { source: /^the order -date, _id \(walked in its order\)$/, filters: /^none$/, estimated: /^11 rows$/ }, // prettier-ignore
    'Observation?status:not=final&_sort=-date&_count=10': { source: /^the order -date, _id \(walked in its order\)$/, filters: /^not \(status = "final"\)$/, estimated: /^unknown$/ }, // prettier-ignore
    'Observation?code=rare&_sort=-date': { source: /^code = "rare" \(collected and sorted\)$/, filters: /^none$/, estimated: /^20 rows$/ }, // prettier-ignore
    'Observation?subject:Patient.family=F7x&status=final': { source: /^subject -> Patient \(family begins "f7x"\) \(walked in its order\)$/, filters: /^status = "final"$/, estimated: /^5 rows$/ }, // prettier-ignore
    'Patient?_has:Observation:subject:code=rare': { source: /^subject of Observation \(code = "rare"\) -> this \((collected|walked in its order)\)$/, filters: /^(none|subject of .*)$/, estimated: /^(4|20) rows$/ }, // prettier-ignore
    'Observation?status:not=amended': { source: /^every Observation \(walked in its order\)$/, filters: /^not \(status = "amended"\)$/, estimated: /^unknown$/ }, // prettier-ignore
  };

  it.each(Object.entries(CASES))('%s: source, filters, estimated and seen rows', async (search, told) => {
    const out = await kiln('explain-search', search);
    const lines = new Map(out.split('\n').map((line) => [line.slice(0, 12).trim(), line.slice(12)]));
    for (const [name, text] of Object.entries(told)) expect(lines.get(name), name).toMatch(text as RegExp);
    const [, seen, returned] = /^([\d,]+) rows for (\d+) returned$/.exec(lines.get('seen') ?? '') ?? [];
    expect(Number(seen?.replaceAll(',', ''))).toBeGreaterThanOrEqual(Number(returned));
  });
}
