import type { Block } from './pages.js';
import type { Request, Run } from './run-commands.js';

/**
 * What is wrong with a run of the blocks of a page: commands that failed or were not reached, answers with another status than the page announces
 * (`# 412: …` in a line of the command; otherwise below 400), and searches without matches where the page does not say "finds nothing".
 */
export function faultsOf(blocks: readonly Block[], run: Run): string[] {
  const answers = run.requests.flatMap((request) => faultOf(request, textOfCommand(request.line, blocks, run)));
  return [...run.failures, ...missingRequests(blocks, run), ...answers];
}

function missingRequests(blocks: readonly Block[], { requests }: Run): string[] {
  const called = new Set(requests.map(({ line }) => line));
  return blocks
    .filter(({ reason }) => reason === undefined)
    .flatMap(({ line, lines }) => lines.flatMap((text, at) => (text.startsWith('curl ') ? [line + at] : [])))
    .filter((line) => !called.has(line))
    .map((line) => `line ${line}: curl was not called`);
}

/** The lines of a command: from where it begins to where the next one begins, or to the end of its block. */
function textOfCommand(line: number, blocks: readonly Block[], { lines }: Run): string {
  const block = blocks.find((each) => each.line <= line && line < each.line + each.lines.length);
  if (block === undefined) throw new Error(`line ${line} is in no block`);
  const next = Math.min(...lines.filter((each) => each > line), block.line + block.lines.length);
  return block.lines.slice(line - block.line, next - block.line).join('\n');
}

function faultOf({ line, status, body }: Request, text: string): string[] {
  const announced = /#\s*([1-5]\d\d)\b/.exec(text)?.[1];
  if (announced === undefined ? status >= 400 : status !== Number(announced)) {
    return [`line ${line}: ${status}, not ${announced ?? 'a success'}: ${body.slice(0, 500)}`];
  }
  return isEmptySearchset(body) && !text.includes('finds nothing') ? [`line ${line}: the search finds nothing`] : [];
}

function isEmptySearchset(body: string): boolean {
  if (!body.startsWith('{')) return false;
  const bundle = JSON.parse(body) as { type?: string; total?: number; entry?: { search?: { mode?: string } }[] };
  if (bundle.type !== 'searchset') return false;
  const { total = 0, entry = [] } = bundle;
  return total === 0 && !entry.some(({ search }) => search?.mode === 'match');
}
