import { describe, expect, it } from 'vitest';

import type { JsonObject } from '../../../../runtime/fhir/resource.js';
import type { Store } from '../../../../runtime/store/store.js';
import { scopedServer } from '../../auth/scoped.js';
import { ASYNC } from '../../jobs/jobs-server.js';
import type { Answer } from '../../server.js';

/** What a cell may be: the type that its column declares, and that of its tag, hold it in all forms alike. */
export function sqlCells(store: Store): void {
  const { all } = scopedServer(store);
  const OBSERVATION: JsonObject = {
    ...{ resourceType: 'Observation', id: 'sc-o', status: 'final', code: { text: 'x' } },
    ...{ effectiveDateTime: '2024-03-05T10:00:00+02:00', issued: '2024-06-30T23:30:00.5-02:00' },
  };
  const view = (column: JsonObject): JsonObject => ({
    ...{ resourceType: 'ViewDefinition', status: 'active', resource: 'Observation' },
    select: [{ column: [{ name: 'v', ...column }] }],
  });
  const tagged = (path: string, value: string): JsonObject => ({ path, tag: [{ name: 'ansi/type', value }] });
  const run = (column: JsonObject, format: string, headers: Record<string, string> = {}): Promise<Answer> =>
    all.send(
      'POST',
      '/$sql-run',
      {
        resourceType: 'Parameters',
        parameter: [
          { name: '_format', valueCode: format },
          { name: 'subjectResource', resource: view(column) },
          { name: 'resource', resource: OBSERVATION },
        ],
      },
      headers,
    );
  const issueOf = (answer: Answer) =>
    (answer.json() as { issue: { expression?: string[]; details: { text: string } }[] }).issue[0]!;
  const FORMS = ['csv', 'json', 'ndjson', 'parquet', 'fhir'];
  const AT = 'effective.ofType(dateTime)';

  describe('a declared type', () => {
    it.each([
      ['status', 'date'],
      ['status', 'instant'],
      ["'a b  c'", 'code'],
      ["'a b'", 'id'],
      ["'a b'", 'uri'],
      ["'2024'", 'instant'],
      ["'2024-02-30'", 'date'],
      [AT, 'date'],
      [AT, 'time'],
      ['-5', 'positiveInt'],
      ['0 - 1', 'unsignedInt'],
      ['3000000000', 'integer'],
      ["'9999999999999999999'", 'integer64'],
      ["'a'", 'base64Binary'],
      ["'true'", 'boolean'],
    ])('does not hold %s as %s, in no form', async (path, type) => {
      const answers = await Promise.all(FORMS.map((form) => run({ path, type }, form)));
      expect(answers.map(({ status }) => status)).toEqual(FORMS.map(() => 422));
    });

    it.each([
      [AT, 'dateTime'],
      ['issued', 'dateTime'],
      ['status', 'string'],
      ["''", 'string'],
      ['status', 'code'],
      ['5', 'positiveInt'],
      ["'2024-03'", 'date'],
      ["'9007199254740993'", 'integer64'],
      ['1.0 / 3.0', 'decimal'],
    ])('holds %s as %s, in each form', async (path, type) => {
      const answers = await Promise.all(FORMS.map((form) => run({ path, type }, form)));
      expect(answers.map(({ status }) => status)).toEqual(FORMS.map(() => 200));
    });

    it.each([
      ["'2021-13-01'", 'DATE'],
      ["'2021-02-30'", 'DATE'],
      ["'2021-02-30T24:00:00Z'", 'TIMESTAMP'],
      ["'24:00:00'", 'TIME'],
    ])('of SQL has no %s as %s in Parquet', async (path, type) => {
      expect((await run(tagged(path, type), 'parquet')).status).toBe(422);
    });

    it('is named with the resource, the column, its place and the value', async () => {
      const { expression, details } = issueOf(await run({ path: 'status', type: 'date' }, 'csv'));
      expect(expression).toEqual(['subjectResource']);
      expect(details.text).toBe(
        'Observation/sc-o: the column v has a value that is no date (select[0].column[0].path); it is "final"',
      );
    });
  });

  describe('a type in SQL', () => {
    it('names what it does not hold', async () => {
      const { expression, details } = issueOf(await run(tagged(AT, 'DATE'), 'parquet'));
      expect(expression).toEqual(['subjectResource']);
      expect(details.text).toMatch(
        /^Observation\/sc-o: the column v has a value that its type in SQL, DATE, .* \(select\[0\]\.column\[0\]\.path\); it is "2024-03-05T10/,
      );
    });

    it.each(['DECIMAL(22,6)', 'DECIMAL(5,6)', 'DECIMAL(0)', 'decimal', 'NONSENSE'])(
      '%s is refused in Parquet, and $validate warns',
      async (type) => {
        const answer = await run(tagged('1.5', type), 'parquet');
        expect(answer.status).toBe(422);
        expect(issueOf(answer).details.text).toMatch(/^select\[0\]\.column\[0\]\.tag\[0\]\.value: .* 1 to 18 digits/);
        expect((await run(tagged('1.5', type), 'csv')).status).toBe(200);
        const checked = await all.send('POST', '/ViewDefinition/$validate', view(tagged('1.5', type)));
        expect(checked.text).toContain('is not understood');
      },
    );
  });

  describe('a value[x]', () => {
    const partOf = (answer: Answer): unknown => {
      expect(answer.status, answer.text).toBe(200);
      const { parameter } = answer.json() as { parameter: { part: JsonObject[] }[] };
      const { name: _name, ...value } = parameter[0]!.part[0]!;
      return value;
    };

    it.each<[string, JsonObject, JsonObject]>([
      ['positiveInt', { path: '5', type: 'positiveInt' }, { valueInteger: 5 }],
      ['System.Boolean', { path: 'true', type: 'System.Boolean' }, { valueBoolean: true }],
      ['Integer', { path: '5', type: 'http://hl7.org/fhirpath/System.Integer' }, { valueInteger: 5 }],
      ['Long', { path: "'5'", type: 'Long' }, { valueInteger64: '5' }],
      ['Decimal', { path: '1.5', type: 'Decimal' }, { valueDecimal: 1.5 }],
      ['System.Date', { path: "'2024-03'", type: 'System.Date' }, { valueDate: '2024-03' }],
      ['no type', { path: 'iif(status.exists(), 7, id)' }, { valueInteger: 7 }],
      ['BOOLEAN', tagged('true', 'BOOLEAN'), { valueBoolean: true }],
      ['INTEGER', tagged("'5'", 'INTEGER'), { valueInteger: 5 }],
      ['BIGINT', tagged('5', 'BIGINT'), { valueInteger64: '5' }],
      ['DECIMAL', tagged("'1.5'", 'DECIMAL(3,1)'), { valueDecimal: 1.5 }],
      ['VARCHAR', tagged('5', 'CHARACTER VARYING'), { valueString: '5' }],
      ['DATE', tagged("'2024-03-05'", 'DATE'), { valueDate: '2024-03-05' }],
      ['TIMESTAMP', tagged('issued', 'TIMESTAMP'), { valueDateTime: OBSERVATION['issued']! }],
      ['TIMESTAMP WITH TIME ZONE', tagged(AT, 'TIMESTAMP WITH TIME ZONE'), { valueInstant: OBSERVATION['effectiveDateTime']! }],
    ])('of %s', async (_title, column, value) => expect(partOf(await run(column, 'fhir'))).toEqual(value)); // prettier-ignore

    it.each(['fhir', 'parquet'])(
      'in %s is none of a type in SQL that does not hold it, and nothing complex',
      async (format) => {
        expect((await run(tagged("'2020'", 'DATE'), format)).status).toBe(422);
        expect((await run(tagged("'2020'", 'NONSENSE'), format)).status).toBe(422);
        const complex = await run({ path: 'code', type: 'CodeableConcept' }, format);
        expect(complex.status).toBe(422);
        expect(issueOf(complex).details.text).toMatch(/^select\[0\]\.column\[0\]\.path: gives CodeableConcept/);
      },
    );

    it('is missed by an export before it starts', async () => {
      const resource = view({ path: 'code', type: 'CodeableConcept' });
      const parameter = [{ name: '_format', valueCode: 'parquet' }, { name: 'subject', part: [{ name: 'subjectResource', resource }] }]; // prettier-ignore
      const answer = await all.send('POST', '/$sql-export', { resourceType: 'Parameters', parameter }, ASYNC);
      expect([answer.status, issueOf(answer).expression]).toEqual([422, ['subject[0].subjectResource']]);
    });
  });

  it('a form that is not known names those that there are', async () => {
    const other = await all.send('GET', '/$sql-run?subjectReference=ViewDefinition/x', undefined, {
      accept: 'application/vnd.ms-excel',
    });
    expect(other.status).toBe(406);
    expect(other.text).toMatch(/application\/x-ndjson.*text\/csv.*application\/vnd\.apache\.parquet/);
    const parameter = [{ name: '_format', valueCode: 'fhir' }];
    const exported = await all.send('POST', '/$sql-export', { resourceType: 'Parameters', parameter }, ASYNC);
    expect(exported.text).toContain('is one of ndjson, json, csv, parquet, not');
  });
}
