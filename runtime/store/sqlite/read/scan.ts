import type { Database } from 'better-sqlite3';

import { FhirError } from '../../../fhir/errors.js';
import type { ScannedVersion, VersionScan } from '../../store.js';
import type { QueryInterrupt } from '../file/query-interrupt.js';
import { MAX_PAGE } from './history.js';

interface ScanRow {
  readonly seq: number;
  readonly type: string;
  readonly id: string;
  readonly version: number;
  readonly updated: number;
  readonly body: string | null;
  readonly isCurrent: number;
}

/** Walks through all versions in the order they were written: by `seq`, which is the cursor. Inside a transaction. */
export function openScan(
  db: Database,
  interrupt: QueryInterrupt,
): (after: string | undefined, limit: number) => VersionScan {
  const select = db.prepare<[number], ScanRow>(
    `SELECT v.seq, t.text AS type, r.id, v.version, v.updated, v.body, v.seq = r.seq AS isCurrent
     FROM version v NOT INDEXED CROSS JOIN resource r ON r.key = v.resource CROSS JOIN term t ON t.id = v.type
     WHERE v.seq > ? AND ${interrupt.sql('v.seq')} ORDER BY v.seq`,
  );
  return (after, limit) => {
    const versions: ScannedVersion[] = [];
    let last = after === undefined ? 0 : readCursor(after);
    let size = 0;
    for (const row of select.iterate(last)) {
      const { type, id, version, updated: lastUpdated, body } = row;
      const stored = { type, id, version, lastUpdated, isCurrent: row.isCurrent === 1 };
      versions.push(body === null ? stored : { ...stored, json: body });
      last = row.seq;
      size += body?.length ?? 0;
      if (versions.length >= limit || size >= MAX_PAGE) break;
    }
    return versions.length === 0 ? { versions } : { versions, next: last.toString(36) };
  };
}

function readCursor(text: string): number {
  if (!/^[0-9a-z]{1,11}$/.test(text)) throw new FhirError('parameter-invalid', 'This is no place in a scan');
  return parseInt(text, 36);
}
