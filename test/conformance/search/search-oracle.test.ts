import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { tables } from '../../../generated/tables.js';
import { openStore } from '../../contract/open-store.js';
import { seedOfRun } from '../../contract/random.js';
import type { Store } from '../../../runtime/store/store.js';
import { readSamples, withoutContained, writeSamples } from './search-matrix-data.js';
import { runFilters } from './search-oracle-filters.js';
import { findWithin, writeWithin } from './search-contained-samples.js';
import { runMoved, writeMoved } from './search-contained-links.js';
import { createLinkTrials } from './search-oracle-link-trials.js';
import { runWords } from './search-oracle-words.js';
import { createTrials } from './search-oracle-trials.js';

const samples = readSamples(tables);
const trials = createTrials(tables, samples);

/** 200 random criteria about the examples. `test:long` has thousands, on MongoDB too, as it has what follows. */
describe('a criterion finds what the rules of the specification find in the JSON, read by the FHIRPath library', () => {
  let sqlite: Store;
  beforeAll(async () => {
    sqlite = await openStore('sqlite::memory:');
    await writeSamples(sqlite, samples);
  }, 120_000);
  afterAll(() => sqlite.close());

  it('on SQLite, and by matches', async () => {
    expect(await trials.run([sqlite], seedOfRun(), 200)).toBeGreaterThan(50);
  }, 60_000);

  it('words, on SQLite', async () => {
    expect(await runWords(tables, samples, [sqlite], seedOfRun(), 75)).toBeGreaterThan(35);
  }, 60_000);
});

/** 50 random criteria about the examples, of which others contain two or three each: what is contained contains nothing. */
describe('a criterion finds the same in contained resources', () => {
  const bare = withoutContained(samples, tables);
  const within = createTrials(tables, bare, findWithin(tables, bare));
  let sqlite: Store;
  beforeAll(async () => {
    sqlite = await openStore('sqlite::memory:');
    await writeWithin(sqlite, bare);
  }, 120_000);
  afterAll(() => sqlite.close());

  it('on SQLite', async () => {
    expect(await within.run([sqlite], seedOfRun(), 50)).toBeGreaterThan(10);
  }, 60_000);
});

/** 60 random chains among examples of which many contain copies of what they refer to. */
describe('a chain finds the same where what it leads to is contained', () => {
  const linked = createLinkTrials(tables, samples, 9);
  let sqlite: Store;
  beforeAll(async () => {
    sqlite = await openStore('sqlite::memory:');
    expect(await writeMoved(tables, linked.samples, sqlite, 4)).toBeGreaterThan(200);
  }, 120_000);
  afterAll(() => sqlite.close());

  it('on SQLite', async () => {
    expect(await runMoved(tables, linked, [sqlite], seedOfRun(), 60)).toBeGreaterThan(15);
  }, 60_000);
});

/** Random chains, reverse chains, filters and includes among the examples, which refer to each other: 100, 75 and 30. */
describe('links find what following the references in the JSON finds', () => {
  const linked = createLinkTrials(tables, samples, 9);
  let sqlite: Store;
  beforeAll(async () => {
    sqlite = await openStore('sqlite::memory:');
    await writeSamples(sqlite, linked.samples);
  }, 120_000);
  afterAll(() => sqlite.close());

  it('on SQLite, and by matches', async () => {
    expect(await linked.run([sqlite], seedOfRun(), 100)).toBeGreaterThan(25);
  }, 60_000);

  it('filters, on SQLite', async () => {
    expect(await runFilters(linked.world, [sqlite], seedOfRun(), 75)).toBeGreaterThan(20);
  }, 60_000);

  it('what comes with pages, on SQLite', async () => {
    expect(await linked.runIncludes([sqlite], seedOfRun(), 30)).toBeGreaterThan(7);
  }, 60_000);
});
