import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** Root of the repository. */
export const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** A fenced block of shell commands in a page. */
export interface Block {
  /** Number of its first line of commands in the page, from 1. */
  readonly line: number;
  readonly lines: readonly string[];
  /** Why it is not run; absent: it is run. */
  readonly reason?: string;
}

/** The pages whose commands are run, as paths from the root. */
export function pagesWithCommands(): string[] {
  const docs = readdirSync(`${ROOT}docs`).filter((name) => name.endsWith('.md'));
  return ['README.md', 'CONTRIBUTING.md', 'SECURITY.md', ...docs.sort().map((name) => `docs/${name}`)];
}

/** The `sh` blocks of a page. `<!-- not run: REASON -->` before a block exempts it. */
export function readBlocks(page: string): Block[] {
  return blocksOf(readFileSync(`${ROOT}${page}`, 'utf8'));
}

/** The `sh` blocks of a text in Markdown. */
export function blocksOf(text: string): Block[] {
  const lines = text.split('\n');
  const blocks: Block[] = [];
  let before = ''; // the last line with text outside of blocks
  for (let at = 0; at < lines.length; at++) {
    const line = lines[at]!.trim();
    if (!line.startsWith('```')) {
      if (line !== '') before = line;
      continue;
    }
    const end = lines.findIndex((each, index) => index > at && each.trim() === '```');
    if (end < 0) throw new Error(`the block that begins in line ${at + 1} has no end`);
    if (line === '```sh') {
      const reason = /^<!-- not run: (.+) -->$/.exec(before)?.[1];
      blocks.push({ line: at + 2, lines: lines.slice(at + 1, end), ...(reason === undefined ? {} : { reason }) });
    }
    before = '';
    at = end;
  }
  return blocks;
}
