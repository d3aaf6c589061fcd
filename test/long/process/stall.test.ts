import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

import { tables } from '../../../generated/tables.js';
import type { RouteRow } from '../../../runtime/contract/index.js';
import { createRouter } from '../../../runtime/http/router.js';
import { isWired } from '../../../runtime/interactions/registry.js';
import { OPERATIONS } from '../../../runtime/operations/registry.js';
import { STALL_CASES } from '../../bench/stall/cases.js';
import { describeStall, faultsOf, isChosen, SETTINGS } from '../../bench/stall/judge-stall.js';
import type { HostileRequest } from '../../bench/stall/stall-case.js';
import { runStalls, type StallServer } from '../../bench/stall/run-stall.js';
import { startKiln } from '../../service/kiln-process.js';

/** How many times as much as promised is let pass: when garbage is collected, or a busy processor, is no fault of the server. The bench lets none. */
const ALLOWANCE = 5;

async function start(store: string): Promise<StallServer> {
  const kiln = startKiln([...SETTINGS, '--store', store]);
  return {
    pid: kiln.child.pid!,
    base: await kiln.started,
    async stop() {
      kiln.child.kill('SIGTERM');
      await kiln.ended;
      if (kiln.output.err.includes('"event":"defect"')) throw new Error(kiln.output.err.slice(0, 2000));
    },
  };
}

describe.skipIf(process.platform !== 'linux')('no request holds the others', () => {
  it('whatever is sent at its limits', { timeout: 60 * 60_000 }, async () => {
    const folder = mkdtempSync(join(tmpdir(), 'kiln-stall-'));
    const faults: string[] = [];
    try {
      for await (const stall of runStalls(STALL_CASES.filter(isChosen), () =>
        start(`sqlite:${join(folder, 'kiln.db')}`),
      )) {
        console.log(describeStall(stall));
        faults.push(...faultsOf(stall, ALLOWANCE));
      }
    } finally {
      rmSync(folder, { recursive: true });
    }
    expect(faults).toEqual([]);
  });

  it('of each interaction and operation there is a row', { timeout: 10 * 60_000 }, () => {
    const router = createRouter(tables.routes, tables.resourceTypes, isOffered);
    const rows = STALL_CASES.flatMap(({ requests }) => requests().slice(0, 1)).filter(isOfFhir);
    const tried = new Set(
      rows.map(({ method, path }) => nameOf(router.find(method, path.slice(1).split('?')[0]!).row)),
    );
    expect(
      tables.routes
        .filter(isOffered)
        .map(nameOf)
        .filter((name) => !tried.has(name)),
    ).toEqual([]);
  });
});

/** What the server has a handler for. */
function isOffered(row: RouteRow): boolean {
  return isWired(row, OPERATIONS);
}

/** Whether the router of FHIR knows a request: it knows neither what is beside FHIR nor what a browser asks before a request. */
function isOfFhir({ method, path }: HostileRequest): boolean {
  return method !== 'OPTIONS' && !path.startsWith('/../');
}

function nameOf({ interaction, operation }: RouteRow): string {
  return operation ?? interaction;
}
