import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import type { RequestListener } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import express from 'express';

import { tables } from '../../../generated/tables.js';
import { createApp } from '../../../runtime/http/app.js';
import { listen } from '../../../runtime/http/listen.js';
import { openSqliteStore } from '../../../runtime/store/sqlite/sqlite-store.js';
import { openBareSqlite, type BareSearch } from '../bare/bare-search.js';
import { clinic, createRandom } from '../data/clinic.js';
import { extract, load } from '../data/load-clinic.js';
import { compare } from '../measuring/measure.js';
import type { Bench, Row } from '../measuring/row.js';
import { CASES, type SearchCase } from '../data/search-cases.js';

/** As many as the reference server was measured with. */
const RESOURCES = 61_000;
const PAGE = 20;
const REQUESTS = 200;
const PACE = { rounds: 3, roundMs: 1000 };

/** Searches over HTTP, against Express that puts the answers of queries written by hand into Bundles. */
export const bench: Bench = async () => {
  const folder = mkdtempSync(join(tmpdir(), 'kiln-bench-'));
  const records = clinic(RESOURCES);
  const store = openSqliteStore(`sqlite:${join(folder, 'kiln.db')}`);
  const child = fork(new URL('../servers/http-load.js', import.meta.url), [], { execArgv: [] });
  try {
    await load(store, records.resources);
    const bare = await openBareSqlite(join(folder, 'bare.db'), clinic(RESOURCES).resources);
    const kiln = await listen(createApp({ tables, store, extract }), '127.0.0.1', 0);
    let cases: readonly SearchCase[] = [];
    const floor = await listen(
      bareExpress(bare, (n) => cases[n]!),
      '127.0.0.1',
      0,
    );
    const rows: Row[] = [];
    try {
      for (const kind of CASES) {
        const random = createRandom(3);
        cases = Array.from({ length: REQUESTS }, () => kind.draw(random, records));
        const paths = cases.map(pathOf);
        await checkAnswers(kiln.url, floor.url, paths);
        const measured = await compare(
          requests(child, kiln.port, paths),
          requests(
            child,
            floor.port,
            paths.map((_, n) => `/bare/${n}`),
          ),
          PACE,
        );
        rows.push({
          name: `GET search: ${kind.name}`,
          unit: 'requests',
          measured: measured.measured,
          floor: { name: 'Express, by hand', measured: measured.floor },
        });
      }
      return rows;
    } finally {
      await kiln.close(0);
      await floor.close(0);
      await bare.close();
    }
  } finally {
    child.disconnect();
    await store.close();
    rmSync(folder, { recursive: true });
  }
};

function pathOf({ type, query, sort }: SearchCase): string {
  const params = new URLSearchParams(query.map(([name, value]): [string, string] => [name, value]));
  if (sort !== undefined) params.append('_sort', sort);
  params.append('_count', String(PAGE));
  return `/fhir/${type}?${params.toString()}`;
}

/** Both have to find the same, or their times mean nothing. */
async function checkAnswers(kiln: string, floor: string, paths: readonly string[]): Promise<void> {
  for (const [n, path] of paths.slice(0, 20).entries()) {
    const [ours, theirs] = await Promise.all([idsOf(kiln + path), idsOf(`${floor}/bare/${n}`)]);
    if (ours !== theirs) throw new Error(`${path}: ${ours} by Kiln, ${theirs} by hand`);
  }
}

async function idsOf(url: string): Promise<string> {
  const answer = (await (await fetch(url)).json()) as { entry?: { resource: { id: string } }[] };
  return (answer.entry ?? []).map(({ resource }) => resource.id).join();
}

function bareExpress(bare: BareSearch, caseOf: (n: number) => SearchCase): RequestListener {
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  app.get('/bare/:n', async (req, res) => {
    const { rows, total } = await bare.run(caseOf(Number(req.params.n)), PAGE);
    const entry = rows
      .slice(0, PAGE)
      .map(
        ({ id, body }) =>
          `{"fullUrl":"http://127.0.0.1/fhir/${id}","resource":${String(body)},"search":{"mode":"match"}}`,
      );
    res.setHeader('Content-Type', 'application/fhir+json; charset=utf-8');
    res.send(`{"resourceType":"Bundle","type":"searchset","total":${total},"entry":[${entry.join()}]}`);
  });
  return app;
}

/** Some hundred requests from another process. */
function requests(child: ChildProcess, port: number, paths: readonly string[]): () => Promise<number> {
  const texts = paths.map(
    (path) => `GET ${path} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nAccept: application/fhir+json\r\n\r\n`,
  );
  return async () => {
    child.send({ port, requests: texts, count: 600 });
    const [count] = (await once(child, 'message')) as [unknown];
    if (typeof count !== 'number') throw new Error(String(count));
    return count;
  };
}
