// Checks the pages that people write: relative links and their anchors lead somewhere, and README stays short (12 kB, 35 words a sentence).
import { existsSync, readFileSync, statSync } from 'node:fs';
import { spawnSync } from 'node:child_process';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const README = { bytes: 12_000, words: 35 };

const faults = [...pages().flatMap(linkFaults), ...readmeFaults()];
for (const fault of faults) process.stderr.write(`${fault}\n`);
if (faults.length > 0) process.exitCode = 1;

/** All pages in Git, or to be added to it, but those that are generated or input of tests. */
function pages() {
  const git = ['ls-files', '--cached', '--others', '--exclude-standard', '*.md'];
  const { stdout } = spawnSync('git', git, { cwd: root, encoding: 'utf8' });
  const names = stdout.split('\n').filter((name) => name !== '' && existsSync(join(root, name)));
  return names.filter((name) => !/^(?:generated|test\/golden|test\/packages)\//.test(name));
}

function linkFaults(page) {
  const text = withoutCode(readFileSync(join(root, page), 'utf8'));
  return [...text.matchAll(/\]\(([^)\s]+)\)/g)].flatMap(([, target]) => {
    if (/^[a-z]+:/.test(target)) return [];
    const [path, anchor] = target.split('#');
    const file = path === '' ? join(root, page) : join(root, dirname(page), decodeURIComponent(path));
    if (!existsSync(file)) return [`${page}: ${target} leads to no file`];
    if (anchor === undefined || anchorsOf(file).has(anchor)) return [];
    return [`${page}: ${relative(root, file)} has no heading "${anchor}"`];
  });
}

/** The anchors of a page, as GitHub makes them of headings, and those that are written out. */
function anchorsOf(file) {
  if (statSync(file).isDirectory()) return new Set();
  const text = readFileSync(file, 'utf8');
  const written = [...text.matchAll(/<a id="([^"]+)">/g)].map(([, id]) => id);
  const seen = new Map();
  const headings = [...text.replace(/^```[^]*?^```$/gm, '').matchAll(/^#{1,6} (.+)$/gm)].map(([, heading]) => {
    const words = heading.replace(/\[([^\]]*)\]\([^)]*\)/g, '$1').replace(/[`*]/g, '');
    const slug = words
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\s_-]/gu, '')
      .replace(/\s/g, '-');
    const count = seen.get(slug) ?? 0;
    seen.set(slug, count + 1);
    return count === 0 ? slug : `${slug}-${count}`;
  });
  return new Set([...written, ...headings]);
}

function readmeFaults() {
  const text = readFileSync(join(root, 'README.md'), 'utf8');
  const size = statSync(join(root, 'README.md')).size;
  const tooLong = sentencesOf(text).filter((sentence) => sentence.split(/\s+/).length > README.words);
  return [
    ...(size > README.bytes ? [`README.md has ${size} bytes, at most ${README.bytes} are wanted`] : []),
    ...tooLong.map((sentence) => `README.md: more than ${README.words} words: ${sentence.slice(0, 80)}…`),
  ];
}

/** Sentences of paragraphs, list items and cells of tables. */
function sentencesOf(markdown) {
  const text = markdown.replace(/^```[^]*?^```$/gm, '\n').replace(/<!--[^]*?-->/g, '');
  const parts = text.split(/\n\s*\n|\n(?=[-*\d|#])|\|/);
  return parts.flatMap((part) => part.trim().split(/(?<=[.!?:])\s+/)).filter(Boolean);
}

function withoutCode(text) {
  return text.replace(/^```[^]*?^```$/gm, '').replace(/`[^`\n]*`/g, '');
}
