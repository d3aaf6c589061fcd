// Counts the lines of each room of runtime/. A room above its limit is split, or one of its mechanisms goes.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const LIMIT = 6500;
/** Rooms with a limit of their own. The limit of a room that got smaller is lowered with it. */
const OWN_LIMITS = { store: 23_600 };

const root = fileURLToPath(new URL('../runtime', import.meta.url));
const lines = new Map();
for (const name of readdirSync(root, { recursive: true }).filter((each) => each.endsWith('.ts'))) {
  const [room] = name.split('/');
  lines.set(room, (lines.get(room) ?? 0) + readFileSync(join(root, name), 'utf8').split('\n').length - 1);
}
if (process.argv.includes('--list')) {
  const sorted = [...lines].sort(([, a], [, b]) => b - a);
  process.stdout.write(`${sorted.map(([room, count]) => `${String(count).padStart(7)} ${room}`).join('\n')}\n`);
}
for (const [room, count] of lines) {
  const limit = OWN_LIMITS[room] ?? LIMIT;
  if (count <= limit) continue;
  process.stderr.write(`runtime/${room} has ${count} lines, and the limit is ${limit}\n`);
  process.exitCode = 1;
}
