import { spawn } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { ENVIRONMENT } from '../service/environment.js';
import { ROOT, type Block } from './pages.js';

/** An HTTP request that a block made by curl. */
export interface Request {
  /** Number of the line in the page where its command begins. */
  readonly line: number;
  readonly status: number;
  /** What curl printed, without headers. */
  readonly body: string;
}

/** What the blocks of a page did. */
export interface Run {
  readonly requests: readonly Request[];
  /** Lines of all commands that ran. */
  readonly lines: readonly number[];
  /** Commands that ended with another exit code than 0. */
  readonly failures: readonly string[];
  readonly output: string;
}

/** Where the commands run. */
export interface Place {
  /** Of the server: its store is `data/kiln.db` in it. */
  readonly folder: string;
  /** Of the server that the pages have at 8080. */
  readonly port: number;
  /** The words that run `kiln`. */
  readonly kiln: readonly string[];
}

/** Notes each request: its status, its body and the line of the page. `DOCS_LINE` is the line of the command that runs. */
const CURL = `#!/usr/bin/env bash
name="$DOCS_LOG/$DOCS_LINE-$$"
PATH="\${PATH#*:}" curl --silent --write-out '%{stderr}%{http_code}' "$@" 2> "$name.status" | tee "$name.body"
exit "\${PIPESTATUS[0]}"
`;

/**
 * Runs the blocks of a page in one shell, in order, but for those that are exempt. `npx kiln` and `npm run demo` are those of this
 * checkout, and port 8080 is that of the server in `place`.
 */
export async function runCommands(blocks: readonly Block[], place: Place): Promise<Run> {
  const log = mkdtempSync(join(place.folder, 'log-'));
  const work = mkdtempSync(join(place.folder, 'work-')); // one for each page, where its commands find the store and leave files
  symlinkSync(join(place.folder, 'data'), join(work, 'data'));
  const path = `${writeCommands(place, join(log, 'bin'))}:${process.env['PATH']}`;
  const env = { ...ENVIRONMENT, KILN_AUTH: undefined, KILN_PORT: String(place.port), DOCS_LOG: log, PATH: path };
  const shell = spawn('bash', ['-c', script(blocks, place)], {
    cwd: work,
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [shell.stdout, shell.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => (output += text));
  await new Promise((resolve, reject) => shell.once('close', resolve).once('error', reject));

  const textOf = (name: string): string => readFileSync(join(log, name), 'utf8');
  const linesOf = (name: string): string[] => textOf(name).split('\n').filter(Boolean);
  const requests = readdirSync(log)
    .filter((name) => name.endsWith('.status'))
    .map((name) => ({
      line: Number.parseInt(name, 10),
      status: Number.parseInt(textOf(name).slice(-3), 10),
      body: withoutHeaders(textOf(name.replace('.status', '.body'))),
    }))
    .sort((a, b) => a.line - b.line);
  return { requests, lines: linesOf('lines').map(Number), failures: linesOf('failures'), output };
}

/** Each line of a block has the number that it has in the page, so that `$LINENO` is that. */
function script(blocks: readonly Block[], { port }: Place): string {
  const lines = [
    `: > "$DOCS_LOG/lines"; : > "$DOCS_LOG/failures"; ` +
      `trap 'export DOCS_LINE=$LINENO; echo "$LINENO" >> "$DOCS_LOG/lines"' DEBUG; ` +
      `trap 'echo "line $LINENO: exit code $?: $BASH_COMMAND" >> "$DOCS_LOG/failures"' ERR`,
  ];
  for (const { line, lines: own, reason } of blocks) {
    if (reason !== undefined) continue;
    while (lines.length < line - 1) lines.push('');
    lines.push(...own);
  }
  return lines.join('\n').replaceAll('127.0.0.1:8080', `127.0.0.1:${port}`);
}

function writeCommands({ kiln }: Place, folder: string): string {
  const { scripts } = JSON.parse(readFileSync(`${ROOT}package.json`, 'utf8')) as { scripts: Record<string, string> };
  const demo = scripts['demo']!.replace('node scripts/kiln.mjs', 'npx kiln').replace(' scripts/', ` ${ROOT}scripts/`);
  const run = kiln.map((word) => `'${word}'`).join(' ');
  const commands = {
    curl: CURL,
    npx: `#!/bin/sh\n[ "$1" = kiln ] || exit 127\nshift\nexec ${run} "$@"\n`,
    npm: `#!/bin/sh\n[ "$*" = 'run demo' ] || exit 127\nexec ${demo}\n`,
  };
  mkdirSync(folder);
  for (const [name, text] of Object.entries(commands)) {
    writeFileSync(join(folder, name), text);
    chmodSync(join(folder, name), 0o755);
  }
  return folder;
}

function withoutHeaders(text: string): string {
  return text.startsWith('HTTP/') ? text.slice(text.indexOf('\r\n\r\n') + 4) : text;
}
