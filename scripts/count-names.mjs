// Counts in runtime/ what takes a reader longer: doc comments of exports without a subject ("What …", "Of …", "The same …", "Those …"),
// and exported types with a name that says nothing alone ("Found"). Neither count may rise above its limit, which is lowered with the count.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const LIMITS = { comments: 0, types: 0 };

const HEADLESS = /\/\*\*[\s*]+(?:What|Of|The same|Those)\b(?:(?!\*\/)[^])*\*\/\s*export /g;
const GENERIC =
  /^export (?:abstract )?(?:class|interface|type) (?:Place|Asked|Known|Found|Walk|Run|Named|Given|Item|Part)\b/gm;

const root = fileURLToPath(new URL('../runtime', import.meta.url));
const found = { comments: [], types: [] };
for (const name of readdirSync(root, { recursive: true }).filter((each) => each.endsWith('.ts'))) {
  const text = readFileSync(join(root, name), 'utf8');
  for (const [kind, pattern] of [
    ['comments', HEADLESS],
    ['types', GENERIC],
  ])
    for (const { index } of text.matchAll(pattern))
      found[kind].push(`${name}:${text.slice(0, index).split('\n').length}`);
}
if (process.argv.includes('--list')) process.stdout.write(`${[...found.comments, ...found.types].join('\n')}\n`);
for (const [kind, limit] of Object.entries(LIMITS)) {
  const { length } = found[kind];
  if (length <= limit) continue;
  const what = kind === 'comments' ? 'doc comments of exports have no subject' : 'exported types have a generic name';
  process.stderr.write(`${length} ${what}, and the limit is ${limit}: list them with --list, and mend the new one\n`);
  process.exitCode = 1;
}
