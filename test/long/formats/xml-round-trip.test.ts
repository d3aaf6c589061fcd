import { expect, it } from 'vitest';

import { examplesBesideCore, openSchema, roundTrip } from '../../conformance/formats/xml-examples.js';

it('all official examples beside core: JSON to JSON, to XML that the schema takes, and back (xml.html, json.html)', () => {
  const result = roundTrip(examplesBesideCore(), openSchema());
  expect(result).toEqual({
    read: 1094,
    validated: 1090,
    jsonChanged: [],
    // Its types such as `Dosage.doseAndRate.dose[x]` are no URIs to the schema.
    schemaRefuses: ['Bundle-dataelements.json'],
    xmlChanged: [],
  });
});
