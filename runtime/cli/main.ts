#!/usr/bin/env node
import { runProgram } from './program.js';
import { EXIT } from './terminal.js';

const { stdout, stderr } = process;

// As for any tool in a pipe: the reader has gone, so that it ends, without a word.
let closed: (error: NodeJS.ErrnoException) => void = ({ code }) =>
  process.exit(code === 'EPIPE' ? EXIT.closed : EXIT.failed);
for (const stream of [stdout, stderr]) stream.on('error', (error) => closed(error));

process.exitCode = await runProgram(process.argv.slice(2), {
  out: (line) => stdout.write(`${line}\n`),
  err: (line) => stderr.write(`${line}\n`),
  // Back to the start of the line, and remove what is there.
  ...(stderr.isTTY ? { draw: (line: string) => stderr.write(`\r\u001b[K${line.slice(0, stderr.columns - 1)}`) } : {}),
  onClosed: (action) => (closed = action),
  env: process.env,
});
// What a shutdown had to cut off must not keep the process; everything else is done by now, and output is out.
setTimeout(() => process.exit(), 1000).unref();
