/**
 * The records of comma-separated values, as they come. https://www.rfc-editor.org/rfc/rfc4180; lines end with LF.
 *
 * @throws Error where a quoted field does not end
 */
export async function* parseCsv(pieces: AsyncIterable<string>): AsyncGenerator<readonly string[]> {
  let rest = '';
  for await (const piece of pieces) {
    const { records, used, text } = readRecords(rest + piece);
    rest = text.slice(used);
    yield* records;
  }
  if (rest !== '') throw new Error('the answer ends within a row');
}

/** The records that a text has whole. */
function readRecords(text: string): { records: string[][]; used: number; text: string } {
  const field = /(?:"((?:[^"]|"")*)"|([^",\n]*))([,\n])/y;
  const records: string[][] = [];
  let fields: string[] = [];
  let used = 0;
  for (let found = field.exec(text); found !== null; found = field.exec(text)) {
    const [, quoted, plain = '', end] = found;
    fields.push(quoted === undefined ? plain : quoted.replaceAll('""', '"'));
    if (end !== '\n') continue;
    records.push(fields);
    fields = [];
    used = field.lastIndex;
  }
  return { records, used, text };
}
