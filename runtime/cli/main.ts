#!/usr/bin/env node
import { runProgram } from './program.js';

const { stdout, stderr } = process;

process.exitCode = await runProgram(process.argv.slice(2), {
  out: (line) => stdout.write(`${line}\n`),
  err: (line) => stderr.write(`${line}\n`),
  // Back to the start of the line, and away with what stands there.
  ...(stderr.isTTY ? { draw: (line: string) => stderr.write(`\r\u001b[K${line.slice(0, stderr.columns - 1)}`) } : {}),
  env: process.env,
});
// What a shutdown had to cut off must not keep the process; everything else is done by now, and output is out.
setTimeout(() => process.exit(), 1000).unref();
