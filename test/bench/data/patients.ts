import { readExample } from '../../conformance/formats/examples.js';

const us = 'http://hl7.org/fhir/us/core/StructureDefinition';
const v2 = 'http://terminology.hl7.org/CodeSystem/v2-0203';

/**
 * Patients to measure with, parsed from JSON one by one as a server would have them: half of them the official
 * `Patient/example`, half of the shape that Synthea makes (four typed identifiers, US Core extensions), each with an
 * id and names of its own.
 */
export function patients(count: number): Record<string, unknown>[] {
  const official = JSON.stringify(readExample('Patient-example.json').resource);
  return Array.from({ length: count }, (_, n) => {
    const text = n % 2 === 0 ? official.replace('"id":"example"', `"id":"p-${n}"`) : JSON.stringify(syntheaLike(n));
    return JSON.parse(text) as Record<string, unknown>;
  });
}

function syntheaLike(n: number): object {
  const id = `7f4e8a52-3c1d-4b6e-9a0f-${String(n).padStart(12, '0')}`;
  const typed = (code: string, display: string, system: string, value: string): object => ({
    type: { coding: [{ system: v2, code, display }], text: display },
    system,
    value,
  });
  return {
    resourceType: 'Patient',
    id,
    meta: {
      versionId: '1',
      lastUpdated: '2023-05-02T11:19:54.671+00:00',
      profile: ['http://hl7.org/fhir/us/core/StructureDefinition/us-core-patient'],
    },
    text: { status: 'generated', div: '<div xmlns="http://www.w3.org/1999/xhtml">Generated</div>' },
    extension: [
      {
        url: `${us}/us-core-race`,
        extension: [
          {
            url: 'ombCategory',
            valueCoding: { system: 'urn:oid:2.16.840.1.113883.6.238', code: '2106-3', display: 'White' },
          },
          { url: 'text', valueString: 'White' },
        ],
      },
      { url: `${us}/us-core-birthsex`, valueCode: 'F' },
      {
        url: 'http://hl7.org/fhir/StructureDefinition/patient-mothersMaidenName',
        valueString: `Hermila${n} Crooks${n}`,
      },
      { url: 'http://synthetichealth.github.io/synthea/quality-adjusted-life-years', valueDecimal: 34.9 },
    ],
    identifier: [
      { system: 'https://github.com/synthetichealth/synthea', value: id },
      typed('MR', 'Medical Record Number', 'http://hospital.smarthealthit.org', id),
      typed('SS', 'Social Security Number', 'http://hl7.org/fhir/sid/us-ssn', `999-${n}`),
      typed('DL', "Driver's license number", 'urn:oid:2.16.840.1.113883.4.3.25', `S${n}`),
    ],
    name: [
      { use: 'official', family: `Runolfsson${n}`, given: [`Ágatha${n}`, 'María'], prefix: ['Mrs.'] },
      { use: 'maiden', family: `Crooks${n}`, given: [`Ágatha${n}`, 'María'], prefix: ['Mrs.'] },
    ],
    telecom: [{ system: 'phone', value: `555-${n}-1234`, use: 'home' }],
    gender: 'female',
    birthDate: '1983-05-24',
    address: [
      {
        extension: [
          {
            url: 'http://hl7.org/fhir/StructureDefinition/geolocation',
            extension: [
              { url: 'latitude', valueDecimal: 42.25 },
              { url: 'longitude', valueDecimal: -71.8 },
            ],
          },
        ],
        line: [`${n} Kessler Trailer Unit 43`],
        city: 'Worcester',
        state: 'MA',
        postalCode: '01545',
        country: 'US',
      },
    ],
    maritalStatus: {
      coding: [{ system: 'http://terminology.hl7.org/CodeSystem/v3-MaritalStatus', code: 'M', display: 'Married' }],
      text: 'Married',
    },
    multipleBirthBoolean: false,
    communication: [
      { language: { coding: [{ system: 'urn:ietf:bcp:47', code: 'en-US', display: 'English' }], text: 'English' } },
    ],
    generalPractitioner: [{ reference: 'Practitioner/0000016d-3a85-4cca-0000-00000000c5b2' }],
    managingOrganization: { reference: 'Organization/ef58ea08-d883-3957-8300-150554edc8fb' },
  };
}
