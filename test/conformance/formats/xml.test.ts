import { describe, expect, it } from 'vitest';

import { readExample } from './examples.js';
import { examplesBesideCore, openSchema, roundTrip } from './xml-examples.js';

/** What is rare, so that a sample would miss it. */
const ALWAYS = ['Bundle-dataelements.json', 'Patient-example.json'];

/** About one in nine of the small files, the same ones each time. test/long/formats/xml-round-trip.test.ts has them all. */
const sample = examplesBesideCore().filter(
  (file, i) =>
    ALWAYS.includes(file) || ((i * 2_654_435_761) % 2 ** 32 < 2 ** 32 / 9 && readExample(file).text.length < 200_000),
);

describe('official examples: JSON to JSON, to XML that the schema takes, and back (xml.html, json.html)', () => {
  it('a sample of them', { timeout: 60_000 }, () => {
    const result = roundTrip(sample, openSchema());
    expect(result).toMatchObject({ jsonChanged: [], schemaRefuses: ['Bundle-dataelements.json'], xmlChanged: [] });
    expect(result.validated).toBeGreaterThan(100);
  });
});
