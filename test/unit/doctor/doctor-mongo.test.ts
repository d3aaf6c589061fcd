import { expect, it } from 'vitest';

import { runProgram } from '../../../runtime/cli/program.js';
import { onMongo } from '../../contract/on-mongo.js';
import { useStore } from '../../contract/subject.js';
import { describeOnMongod } from '../../mongod/for-tests.js';

describeOnMongod('kiln doctor on MongoDB', () => {
  const subject = useStore(onMongo);

  it('asks the servers how they are', async () => {
    const out: string[] = [];
    const terminal = { out: (line: string) => out.push(line), err: () => {}, env: {} };
    const code = await runProgram(['doctor', '--store', subject.url], terminal);
    expect({ code, faults: out.filter((line) => line.startsWith('FAULT')) }).toEqual({ code: 0, faults: [] });
    // The set of tests has one member.
    expect(out.join('\n')).toMatch(/^WARN +mongodb +one server alone has the data/m);
    expect(out.join('\n')).toMatch(/^ok +clock /m);
  });

  it('says what is wrong where there is none', async () => {
    const out: string[] = [];
    const terminal = { out: (line: string) => out.push(line), err: () => {}, env: {} };
    const store = 'mongodb://user:secret@127.0.0.1:1/kiln?replicaSet=rs&serverSelectionTimeoutMS=100';
    expect(await runProgram(['doctor', '--store', store], terminal)).toBe(1);
    expect(out.join('\n')).toMatch(/^FAULT +store +no MongoDB server .* at 127\.0\.0\.1:1/m);
    expect(out.join('\n')).not.toContain('secret');
  });
});
