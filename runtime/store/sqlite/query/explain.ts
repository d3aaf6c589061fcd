import type { Database } from 'better-sqlite3';

import { printCondition, printSort } from '../../../search/query/print.js';
import { conjunctsOf } from '../../plan/conjuncts.js';
import { explainPlan } from '../../plan/explain.js';
import type { Explanation, FindQuery } from '../../store.js';
import type { QueryInterrupt } from '../file/query-interrupt.js';
import { restOf } from './compile/index-range.js';
import type { Finder } from './find.js';
import { keysOf, type Trace } from './run.js';
import type { Sql } from './compile/sql.js';

/** Does a search and tells how, with every row counted that is looked at. Inside a transaction. */
export function openExplain(db: Database, interrupt: QueryInterrupt, find: Finder): (query: FindQuery) => Explanation {
  return (query) => {
    const statements = new Map<string, Sql>();
    const probes = new Map<string, Explanation['probes'][number]>();
    let { where } = query;
    let plan: Parameters<Trace['planned']>[1] = { request: { ask: 'walk', by: 'type', rows: 0 } };
    let read = 0;
    const trace: Trace = {
      planned: (asked, used) => void ([where, plan] = [asked, used]),
      probed(condition, count, limit) {
        const text = printCondition(condition);
        probes.set(text, { condition: text, matches: Math.min(count, limit), isMore: count > limit });
      },
      ran: (statement) => void statements.set(statement.text, statement),
      read: (rows) => void (read += rows),
    };
    const before = interrupt.counts.looked;
    const { versions } = find(query, trace);
    const { request } = plan;
    const from = request.ask === 'walk' ? request.by : request.from;
    const rest = typeof from === 'object' ? restOf(where, from) : where;
    const examined = interrupt.counts.looked - before + read;
    return {
      compiled: [...statements.keys()].map(readable),
      ...explainPlan(plan, {
        type: query.type,
        order: printSort(keysOf(query.sort)),
        conditionOf: ({ condition }) => printCondition(condition),
        filters: conjunctsOf(rest).map(printCondition),
        wanted: query.count + 1,
      }),
      probes: [...probes.values()],
      indexes: indexesOf(db, [...statements.values()]),
      examined,
      returned: versions.length,
    };
  };
}

/** Without what only counts rows, on one line. */
function readable(statement: string): string {
  const counted = String.raw`(?:kiln_look\([\w.]*\)|\([\w.]+ % \d+ <> 0 OR kiln_go_on\([\w.]*\)\))`;
  return statement
    .replace(new RegExp(` AND ${counted}`, 'g'), '')
    .replace(new RegExp(`${counted} AND `, 'g'), '')
    .replace(/\s+/g, ' ')
    .trim();
}

/** What SQLite says it uses. https://www.sqlite.org/eqp.html */
function indexesOf(db: Database, statements: readonly Sql[]): string[] {
  const names = statements.flatMap(({ text, values }) => {
    const plan = db.prepare<unknown[], { readonly detail: string }>(`EXPLAIN QUERY PLAN ${text}`).all(...values);
    return plan.flatMap(({ detail }) => {
      if (/VIRTUAL TABLE INDEX \d+:.*M/.test(detail)) return ['words'];
      const index = /USING (?:COVERING )?INDEX (\w+)/.exec(detail)?.[1];
      if (index !== undefined) return [index];
      const table = /^(?:SEARCH|SCAN) (\w+) .*USING (?:INTEGER )?PRIMARY KEY/.exec(detail)?.[1];
      return table === undefined ? [] : [`primary key of ${tableOf(text, table)}`];
    });
  });
  return [...new Set(names)].sort();
}

/** The table that a statement calls so. */
function tableOf(text: string, alias: string): string {
  return new RegExp(`(?:FROM|JOIN)\\s+(\\w+)\\s+${alias}\\b`).exec(text)?.[1] ?? alias;
}
