import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { tables } from '../../generated/tables.js';
import type { JsonObject, Resource } from '../../runtime/fhir/resource.js';
import { createApp } from '../../runtime/http/app.js';
import { listen } from '../../runtime/http/listen.js';
import { openSqliteStore } from '../../runtime/store/sqlite/sqlite-store.js';
import { extract, load } from './data/load-clinic.js';
import { inTurn } from './measuring/in-turn.js';
import type { Bench, Measured } from './measuring/row.js';

const PATIENTS = 100;
const OBSERVATIONS = 5;
const ENCOUNTERS = 2;
/** Requests of a round on each side. */
const REQUESTS = 20;

/** All that the search gives, by the elements that these resources have. */
const QUERY = `{ PatientList(_count: ${PATIENTS}) {
  id birthDate gender name { family given }
  ObservationList(_reference: subject) { id status code { coding { system code } text } valueQuantity { value unit system code } effectiveDateTime }
  EncounterList(_reference: subject) { id status class { coding { system code } } actualPeriod { start end } }
} }`;

/** A hundred Patients with their Observations and Encounters: one GraphQL query, against one search with `_revinclude`. */
export const bench: Bench = async () => {
  const folder = mkdtempSync(join(tmpdir(), 'kiln-bench-'));
  const store = openSqliteStore(`sqlite:${join(folder, 'kiln.db')}`);
  const server = await listen(createApp({ tables, store, extract }), '127.0.0.1', 0);
  try {
    await load(store, resources());
    const headers = { 'content-type': 'application/json' };
    const byQuery = async (): Promise<void> => {
      const answer = await fetch(`${server.url}/fhir/$graphql`, { method: 'POST', headers, body: JSON.stringify({ query: QUERY }) }); // prettier-ignore
      const { data } = (await answer.json()) as { data: { PatientList: JsonObject[] } };
      check(data.PatientList.reduce((sum, { ObservationList, EncounterList }) => sum + 1 + lengthOf(ObservationList) + lengthOf(EncounterList), 0)); // prettier-ignore
    };
    const search = `Patient?_count=${PATIENTS}&_revinclude=Observation:subject&_revinclude=Encounter:subject`;
    const bySearch = async (): Promise<void> => {
      const { entry } = (await (await fetch(`${server.url}/fhir/${search}`)).json()) as { entry: unknown[] };
      check(entry.length);
    };
    const { measured, floor } = await inTurn(Array(REQUESTS).fill(byQuery), Array(REQUESTS).fill(bySearch));
    return [
      {
        ...{
          name: 'Patients, Observations and Encounters in one GraphQL query',
          unit: 'resources',
          measured: inResources(measured),
        },
        floor: { name: 'a search with _revinclude', measured: inResources(floor) },
        goal: { ratio: 0.8 },
      },
    ];
  } finally {
    await server.close(0);
    await store.close();
    rmSync(folder, { recursive: true });
  }
};

const RESOURCES = PATIENTS * (1 + OBSERVATIONS + ENCOUNTERS);

function check(count: number): void {
  if (count !== RESOURCES) throw new Error(`${count} resources, not ${RESOURCES}`);
}

/** Of requests, what they gave. */
function inResources({ count, wallMs, cpuMs }: Measured): Measured {
  return { count: count * RESOURCES, wallMs, cpuMs };
}

function lengthOf(list: unknown): number {
  return Array.isArray(list) ? list.length : 0;
}

function* resources(): Iterable<Resource> {
  for (let i = 0; i < PATIENTS; i++) {
    yield made({ resourceType: 'Patient', id: `p${i}`, birthDate: '1980-01-01', gender: 'male', name: [{ family: `Family ${i}`, given: ['Given'] }] }); // prettier-ignore
    const subject = { reference: `Patient/p${i}` };
    for (let k = 0; k < OBSERVATIONS; k++) {
      const valueQuantity = { value: k, unit: 'mg', system: 'http://unitsofmeasure.org', code: 'mg' };
      yield made({ resourceType: 'Observation', id: `o${i}-${k}`, status: 'final', subject, code: { coding: [{ system: 'http://loinc.org', code: `${k}-0` }], text: 'What was seen' }, valueQuantity, effectiveDateTime: '2026-01-01T10:00:00Z' }); // prettier-ignore
    }
    for (let k = 0; k < ENCOUNTERS; k++) {
      yield made({ resourceType: 'Encounter', id: `e${i}-${k}`, status: 'completed', subject, class: [{ coding: [{ system: 'http://terminology.hl7.org/CodeSystem/v3-ActCode', code: 'AMB' }] }], actualPeriod: { start: '2026-01-01', end: '2026-01-02' } }); // prettier-ignore
    }
  }
}

function made(resource: JsonObject): Resource {
  return resource as unknown as Resource;
}
