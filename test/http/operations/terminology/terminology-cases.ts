import { beforeAll, describe, expect, it } from 'vitest';

import type { Store } from '../../../../runtime/store/store.js';
import { scopedServer } from '../../auth/scoped.js';
import type { Answer } from '../../server.js';
import { CODE_SYSTEM_CASES } from './terminology-cases-code-system.js';
import { CONCEPT_MAP_CASES } from './terminology-cases-concept-map.js';
import { TERMINOLOGY_FIXTURES } from './terminology-cases-data.js';
import { ODD_CASES } from './terminology-cases-odd.js';
import { ODD_FIXTURES } from './terminology-cases-odd-data.js';
import { EXPAND_CASES, VALIDATE_CASES } from './terminology-cases-value-set.js';

/** A request to a terminology operation, and what matters of its answer. */
export interface TerminologyCase {
  /** The sentence of the specification, in short. */
  readonly title: string;
  readonly path: string;
  /** Parameters of a POST; absent: it is a GET. */
  readonly post?: readonly object[];
  /** A part of what `summaryOf` gives; undefined: it is not there. */
  readonly gives: Readonly<Record<string, unknown>>;
}

const GROUPS: Readonly<Record<string, readonly TerminologyCase[]>> = {
  'ValueSet/$expand (valueset-operation-expand.html)': EXPAND_CASES,
  'ValueSet/$validate-code (valueset-operation-validate-code.html)': VALIDATE_CASES,
  'operations of CodeSystem (codesystem-operations.html)': CODE_SYSTEM_CASES,
  'ConceptMap/$translate (conceptmap-operation-translate.html)': CONCEPT_MAP_CASES,
  ...ODD_CASES,
};

/** A case for each sentence of the pages of the terminology operations that says what a server does. */
export function terminologyCases(store: Store): void {
  const server = scopedServer(store);

  beforeAll(async () => {
    for (const each of [...TERMINOLOGY_FIXTURES, ...ODD_FIXTURES]) {
      const answer = await server.all.send('PUT', `/${each.resourceType}/${each.id}`, each);
      expect(answer.status, answer.text).toBeLessThan(300);
    }
  });

  for (const [name, cases] of Object.entries(GROUPS)) {
    describe(name, () => {
      it.each(cases.map((each) => [each.title, each] as const))('%s', async (_title, { path, post, gives }) => {
        const body = post === undefined ? undefined : { resourceType: 'Parameters', parameter: post };
        const answer = await server.all.send(post === undefined ? 'GET' : 'POST', path, body);
        expect(partOf(summaryOf(answer), gives), answer.text).toEqual(gives);
      });
    });
  }

  it('TerminologyCapabilities lists the code systems that every client may know (terminologycapabilities.html)', async () => {
    const statement = (await server.send('GET', '/metadata?mode=terminology')).json();
    const of = (uri: string) => statement.codeSystem.find((each: { uri: string }) => each.uri === uri);
    expect(of('http://hl7.org/fhir/administrative-gender')).toEqual({
      uri: 'http://hl7.org/fhir/administrative-gender',
      version: [{ code: '5.0.0', isDefault: true }],
      ...{ content: 'complete', subsumption: false },
    });
    expect(of('http://unitsofmeasure.org')).toMatchObject({ content: 'complete' });
    expect(of('http://hl7.org/fhir/issue-type')).toMatchObject({ subsumption: true });
    expect(of(TERMINOLOGY_FIXTURES[0]!['url'] as string)).toBeUndefined();
    expect(statement.closure).toEqual({ translation: false });
    const checked = await server.all.send('POST', '/TerminologyCapabilities/$validate', statement);
    const issues = checked.json().issue as { severity: string }[];
    expect(issues.filter(({ severity }) => severity === 'error')).toEqual([]);
  });

  it('leaves no defects', () => expect(server.defects).toEqual([]));
}

/** What an expected value says something about. Lists are compared to their end. */
function partOf(actual: unknown, expected: unknown): unknown {
  if (Array.isArray(expected) && Array.isArray(actual)) return actual.map((each, i) => partOf(each, expected[i]));
  if (typeof expected !== 'object' || expected === null || 'asymmetricMatch' in expected) return actual;
  if (typeof actual !== 'object' || actual === null) return actual;
  return Object.fromEntries(Object.entries(expected).map(([key, value]) => [key, partOf((actual as Record<string, unknown>)[key], value)])); // prettier-ignore
}

interface Contained {
  readonly code?: string;
  readonly abstract?: boolean;
  readonly inactive?: boolean;
  readonly display?: string;
  readonly contains?: readonly Contained[];
}

/** What a client decides by: codes with `*` where they are abstract, and `~` where they are inactive. */
function summaryOf(answer: Answer): Record<string, unknown> {
  const { status } = answer;
  const body = answer.json();
  if (body.resourceType === 'OperationOutcome') return { status, issue: body.issue[0].code };
  if (body.resourceType === 'ValueSet') {
    const { contains = [], total, offset, parameter, property } = body.expansion;
    const all = flat(contains);
    return {
      ...{ status, total, offset, parameter, property, valueSet: body },
      isNested: contains.some((each: Contained) => each.contains !== undefined),
      codes: all.map(({ code, abstract, inactive }) => `${code}${abstract ? '*' : ''}${inactive ? '~' : ''}`),
      displays: all.map(({ display }) => display),
      first: contains[0],
    };
  }
  const found: Record<string, unknown> = { status };
  for (const row of (body.parameter ?? []) as Record<string, unknown>[]) {
    const { name, part } = row as { name: string; part?: readonly Record<string, unknown>[] };
    const value = part === undefined ? valueIn(row) : partsIn(part);
    if (['property', 'designation', 'match'].includes(name)) ((found[name] ??= []) as unknown[]).push(value);
    else
      found[name] = name === 'issues' ? (value as { issue: { code: string }[] }).issue.map(({ code }) => code) : value;
  }
  return found;
}

function flat(contains: readonly Contained[]): readonly Contained[] {
  return contains.flatMap((each) => [each, ...flat(each.contains ?? [])]);
}

function valueIn(row: Record<string, unknown>): unknown {
  return row[Object.keys(row).find((key) => key !== 'name') ?? ''];
}

function partsIn(parts: readonly Record<string, unknown>[]): Record<string, unknown> {
  return Object.fromEntries(
    parts.map((each) => [each['name'], each['part'] === undefined ? valueIn(each) : each['part']]),
  );
}
