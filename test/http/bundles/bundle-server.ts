import { randomUUID } from 'node:crypto';

import { OWN } from '../../toy/own.js';
import { tables } from '../../../generated/tables.js';
import type { Resource } from '../../../runtime/fhir/resource.js';
import { readXml } from '../../../runtime/format/xml/read-xml.js';
import { writeXml } from '../../../runtime/format/xml/write-xml.js';
import { summarize } from '../../../runtime/format/summary.js';
import type { AppOptions } from '../../../runtime/http/app.js';
import { createPatchers } from '../../../runtime/patch/apply/patchers.js';
import { createExtractor } from '../../../runtime/indexing/extract.js';
import type { Store } from '../../../runtime/store/store.js';
import { createValidator } from '../../../runtime/validate/create-validator.js';
import { useToyServer, type Answer, type ToyServer } from '../server.js';

/** A server with all types, validation and searches, on any store. */
export function useBundleServer(store: Store, options: Partial<AppOptions> = {}): ToyServer {
  return useToyServer({
    tables,
    store,
    extract: createExtractor(tables, { own: OWN }),
    validate: createValidator(tables),
    patchers: createPatchers(tables),
    codecs: {
      xml: {
        read: (bytes) => readXml(bytes, tables),
        write: (resource) => writeXml(resource as Resource, tables),
      },
    },
    subset: (resource, { summary = 'true' }) => summarize(resource, summary, tables),
    ...options,
  });
}

/** An entry of a Bundle. */
export interface TestEntry {
  readonly fullUrl?: string;
  readonly resource?: object;
  readonly request?: Readonly<Record<string, string>>;
}

/** An entry that makes this request. */
export function entry(method: string, url: string, resource?: object, more: Partial<TestEntry> = {}): TestEntry {
  return {
    ...(more.fullUrl === undefined ? {} : { fullUrl: more.fullUrl }),
    ...(resource === undefined ? {} : { resource }),
    request: { method, url, ...more.request },
  };
}

export function transaction(...entries: readonly TestEntry[]): object {
  return { resourceType: 'Bundle', type: 'transaction', entry: entries };
}

export function batch(...entries: readonly TestEntry[]): object {
  return { resourceType: 'Bundle', type: 'batch', entry: entries };
}

/** A placeholder that nobody else uses. */
export function urn(): string {
  return `urn:uuid:${randomUUID()}`;
}

/** Words that stand for nothing else, so that tests on one store do not find each other's resources. */
export function word(): string {
  return randomUUID().slice(0, 13);
}

export function patient(value: string, more: object = {}): { resourceType: string; identifier: object[] } {
  return { resourceType: 'Patient', identifier: [{ system: 'urn:test', value }], ...more };
}

export function observation(subject: string, more: object = {}): object {
  return {
    resourceType: 'Observation',
    status: 'final',
    code: { text: 'pulse' },
    subject: { reference: subject },
    ...more,
  };
}

/** The answers to the entries. */
// eslint-disable-next-line @typescript-eslint/no-explicit-any
export function responsesOf(answer: Answer): any[] {
  return (answer.json().entry ?? []).map((each: { response: object }) => each.response);
}

/** `Type/id` of what an entry made. */
export function nameOf(response: { location: string }): string {
  return response.location.replace(/\/_history\/.*$/, '');
}

/** Status codes of the answers to the entries. */
export function statusesOf(answer: Answer): string[] {
  return responsesOf(answer).map(({ status }) => status);
}

/** What an OperationOutcome complains about: our code, and where. */
export function faultsOf(answer: Answer): [string, string][] {
  const issues: { details: { coding: [{ code: string }] }; expression?: string[] }[] = answer.json().issue;
  return issues.map(({ details, expression }) => [details.coding[0].code, expression?.join() ?? '']);
}
