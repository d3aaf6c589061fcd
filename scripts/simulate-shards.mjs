// Predicts throughput and latency of 1 to 64 shards from what requests were measured to cost on one replica set, and from the table
// of docs/scaling.md that says how many shards each kind asks. A model, not a measurement: docs/scaling.md says what it cannot prove.
//
//   node scripts/simulate-shards.mjs [--cores 4] [--load 0.6]
import { argv, stdout } from 'node:process';
import { pathToFileURL } from 'node:url';

/**
 * What a request asks of MongoDB: commands in turn, and microseconds of processor time of mongod in all. Measured once with one client on
 * MongoDB 6 (5,000 Observations, 1,000 Patients, a machine of two cores that others used: costs are high, their proportions count).
 * `shards`: as docs/scaling.md has it. `split` is assumed: the part of the time that is spent on what is found, which shards divide among them.
 */
export const KINDS = {
  read: { row: 'read, vread', commands: 1, time: 573, shards: 'one', split: 0 },
  create: { row: 'create', commands: 1, time: 1400, shards: 'one', split: 0 },
  update: { row: 'update, patch, delete', commands: 3, time: 3225, shards: 'few', split: 0 },
  transaction: { row: 'transaction of updates', commands: 8, time: 8833, shards: 'few', split: 0.8 },
  identifier: { row: 'search by another parameter', commands: 1, time: 567, shards: 'all', split: 0 },
  page: { row: 'search by another parameter', commands: 2, time: 4075, shards: 'all', split: 0.8 },
  include: { row: 'chains, `_has`, includes', commands: 2, time: 1267, shards: 'all', split: 0.3 },
  chain: { row: 'chains, `_has`, includes', commands: 5, time: 3100, shards: 'all', split: 0.3 },
  history: { row: 'history of a resource', commands: 2, time: 1067, shards: 'all', split: 0 },
};

/** Requests of a hundred. */
export const MIXES = {
  'by id': { read: 90, update: 10 },
  clinic: { read: 50, update: 15, create: 5, identifier: 15, page: 10, include: 5 },
  search: { identifier: 40, page: 30, include: 20, chain: 10 },
  intake: { create: 60, update: 30, transaction: 10 },
};

export const SHARDS = [1, 2, 4, 8, 16, 32, 64];

/** Assumptions that are not measured. */
const FEW = 3; // shards that a command asks at most where it names several keys
const NETWORK = 500; // µs for a message from a router to a shard, and back
const COMMIT = 2; // a transaction over several shards prepares and commits on each: messages for each shard

/** Shards that a kind of request asks of so many. */
export function asked({ shards }, count) {
  return shards === 'one' ? 1 : Math.min(count, shards === 'few' ? FEW : count);
}

/** Messages from routers to shards. */
export function messages(kind, count) {
  const to = asked(kind, count);
  const commits = kind === KINDS.transaction && to > 1 ? COMMIT * to : 0;
  // Of the commands of a kind that asks few, each but one has one key.
  const inTurn = kind.shards === 'few' && kind !== KINDS.transaction ? kind.commands - 1 + to : kind.commands * to;
  return inTurn + commits;
}

/** Microseconds of processor time on all shards together: what each begins anew, and what they divide among them. */
export function work(kind, count) {
  const begun = (kind.time * (1 - kind.split)) / kind.commands;
  return kind.time * kind.split + begun * messages(kind, count);
}

/** The chance to wait in a queue of c servers at this load (Erlang C). */
export function erlang(c, load) {
  let term = 1;
  let sum = 1;
  for (let k = 1; k < c; k++) sum += term *= (c * load) / k;
  term *= (c * load) / c;
  const last = term / (1 - load);
  return last / (sum + last);
}

/** The expected longest of n times that are exponential with the mean 1. */
const longest = (n) => Array.from({ length: n }, (_, i) => 1 / (i + 1)).reduce((sum, each) => sum + each, 0);

/** @returns requests a second when all shards are busy, and µs of a request at a load */
export function predict(mix, count, { cores, load }) {
  const kinds = Object.entries(mix).map(([name, share]) => ({ kind: KINDS[name], share: share / 100 }));
  const demand = kinds.reduce((sum, { kind, share }) => sum + share * work(kind, count), 0);
  const sent = kinds.reduce((sum, { kind, share }) => sum + share * messages(kind, count), 0);
  const most = (count * cores * 1e6) / demand;
  // Every message is a customer of one queue of `cores` servers; their mean service is what is done in all, by all messages.
  const service = demand / sent;
  const wait = (erlang(cores, load) * service) / (cores * (1 - load));
  const latency = kinds.reduce((sum, { kind, share }) => {
    const own = work(kind, count) / messages(kind, count);
    return sum + share * kind.commands * ((own + wait) * longest(asked(kind, count)) + NETWORK);
  }, 0);
  return { most, latency, messages: sent };
}

function option(name, otherwise) {
  const at = argv.indexOf(`--${name}`);
  return at < 0 ? otherwise : Number(argv[at + 1]);
}

/** The rows of docs/scaling.md. */
export function table(options = { cores: 4, load: 0.6 }) {
  const rows = Object.entries(MIXES).flatMap(([name, mix]) => {
    const [one] = SHARDS.map((count) => predict(mix, count, options));
    return [
      [name, ...SHARDS.map((count) => `${(predict(mix, count, options).most / one.most).toFixed(1)} ×`)],
      ['', ...SHARDS.map((count) => `${(predict(mix, count, options).latency / 1000).toFixed(1)} ms`)],
      ['', ...SHARDS.map((count) => `${predict(mix, count, options).messages.toFixed(1)}`)],
    ];
  });
  const head = ['mix: throughput, latency, messages', ...SHARDS.map(String)];
  const all = [head, ...rows];
  const widths = head.map((_, i) => Math.max(...all.map((row) => row[i].length)));
  const line = (row) =>
    `| ${row.map((cell, i) => (i === 0 ? cell.padEnd(widths[i]) : cell.padStart(widths[i]))).join(' | ')} |`;
  const rule = `| ${widths.map((width, i) => (i === 0 ? '-'.repeat(width) : `${'-'.repeat(width - 1)}:`)).join(' | ')} |`;
  return [line(head), rule, ...rows.map(line)].join('\n');
}

if (import.meta.url === pathToFileURL(argv[1] ?? '').href)
  stdout.write(`${table({ cores: option('cores', 4), load: option('load', 0.6) })}\n`);
