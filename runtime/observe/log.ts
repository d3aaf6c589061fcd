import type { Writable } from 'node:stream';

import { formatInstant } from '../fhir/instant.js';

/** What is logged of a request: never a query string, a value, a body, or an id of a resource. */
export interface RequestRecord {
  readonly requestId: string;
  readonly method: string;
  /** Template of the route: `Patient/[id]`; absent: none matched. */
  readonly route?: string;
  readonly interaction?: string;
  readonly status: number;
  /** Milliseconds. */
  readonly duration: number;
  /** Names of the query parameters. */
  readonly params?: readonly string[];
}

/** The application log: one JSON object on each line. */
export interface Log {
  request(record: RequestRecord): void;
  /** An unexpected error, with its stack: the only place where one shows. */
  defect(requestId: string, error: unknown): void;
  /** What an operator should know. */
  info(message: string): void;
}

/** A log onto a stream. */
export function createLog(stream: Writable, now: () => number = Date.now): Log {
  const write = (level: string, record: object): void => {
    stream.write(`${JSON.stringify({ time: formatInstant(now()), level, ...record })}\n`);
  };
  return {
    request: (record) =>
      write('info', { event: 'request', ...record, duration: Math.round(record.duration * 10) / 10 }),
    defect: (requestId, error) =>
      write('error', { event: 'defect', requestId, error: error instanceof Error ? error.stack : String(error) }),
    info: (message) => write('info', { event: 'note', message }),
  };
}

/** A log that keeps silent. */
export const SILENT: Log = { request: () => {}, defect: () => {}, info: () => {} };
