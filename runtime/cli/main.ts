#!/usr/bin/env node
import { runProgram } from './program.js';

process.exitCode = await runProgram(process.argv.slice(2), {
  out: (line) => process.stdout.write(`${line}\n`),
  err: (line) => process.stderr.write(`${line}\n`),
  env: process.env,
});
