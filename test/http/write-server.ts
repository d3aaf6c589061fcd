import { randomUUID } from 'node:crypto';
import { expect } from 'vitest';

import { OWN } from '../toy/own.js';
import { tables } from '../../generated/tables.js';
import { readXml } from '../../runtime/format/xml/read-xml.js';
import { writeXml } from '../../runtime/format/xml/write-xml.js';
import type { Resource } from '../../runtime/fhir/resource.js';
import type { KilnOptions } from '../../runtime/http/kiln.js';
import { createPatchers } from '../../runtime/patch/apply/patchers.js';
import { createExtractor } from '../../runtime/indexing/extract.js';
import type { Store } from '../../runtime/store/store.js';
import { createValidator } from '../../runtime/validate/create-validator.js';
import { codeOf, useToyServer, type Answer, type ToyServer } from './server.js';

/** A server with all types, validation, searches, patches and XML, on any store. */
export function useWriteServer(store: Store, options: Partial<KilnOptions> = {}): ToyServer {
  return useToyServer({
    tables,
    store,
    extract: createExtractor(tables, { own: OWN }),
    validate: createValidator(tables),
    patchers: createPatchers(tables),
    codecs: {
      xml: {
        read: (bytes) => readXml(bytes, tables),
        write: (resource, pretty) => writeXml(resource as Resource, tables, { pretty }),
      },
    },
    ...options,
  });
}

/** A word that stands nowhere else, so that tests on one store do not find each other's resources. */
export const word = (): string => randomUUID().slice(0, 13);

/** A Patient that `identifier=urn:test|VALUE` finds. */
export const patient = (value: string, more: object = {}) => ({
  resourceType: 'Patient',
  identifier: [{ system: 'urn:test', value }],
  ...more,
});

export const familyName = (family: string) => ({ name: [{ family }] });

/** Status, our code and the words of a refusal. */
export function refusal(answer: Answer): [number, string, string] {
  return [answer.status, codeOf(answer), answer.json().issue[0].details.text];
}

/** Expects a refusal with this status and code, whose words have all of these in them. */
export function expectRefusal(answer: Answer, status: number, code: string, ...words: readonly string[]): void {
  const [gotStatus, gotCode, text] = refusal(answer);
  expect([gotStatus, gotCode], answer.text).toEqual([status, code]);
  for (const each of words) expect(text).toContain(each);
}
