import { pino } from 'pino';

import { formatInstant } from '../fhir/instant.js';
import type { Log, RequestRecord } from './log.js';

/** Least level that is written. */
export type LogLevel = 'debug' | 'info' | 'warn' | 'error' | 'silent';

/** What a name of a query parameter looks like; anything else may be a value that lost its name. */
const PARAMETER = /^[A-Za-z_][A-Za-z0-9_.:-]{0,99}$/;
const MAX_PARAMETERS = 20;

/** Longest id of a client, and longest list of scopes. */
const MAX_TEXT = 500;

/** Enough of a stack to find the place. */
const MAX_STACK = 4000;

/** Properties of every line: the process, where there are several. */
export interface LogBase {
  readonly pid: number;
}

/** The log as one JSON object on each line: `{"time":"…","level":"info","event":"request",…}`. */
export function createLog(
  stream: { write(text: string): unknown },
  level: LogLevel = 'info',
  base: LogBase | null = null,
): Log {
  const log = pino(
    {
      level,
      base,
      messageKey: 'message',
      timestamp: () => `,"time":"${formatInstant(Date.now())}"`,
      formatters: { level: (label) => ({ level: label }) },
    },
    stream as { write(text: string): void },
  );
  return {
    request(record) {
      log[record.status >= 500 ? 'error' : 'info'](loggable(record));
    },
    defect: (requestId, error) => log.error({ event: 'defect', requestId, error: describe(error) }),
    info: (message) => log.info({ event: 'note' }, message),
    warn: (message) => log.warn({ event: 'note' }, message),
  };
}

/** Member by member, so that nothing that is added to a record gets into the log by itself. */
function loggable(record: RequestRecord): object {
  const { requestId, method, route, interaction, status, duration, failure, client, missing, params } = record;
  const names = params?.slice(0, MAX_PARAMETERS).map((name) => (PARAMETER.test(name) ? name : '?'));
  return {
    event: 'request',
    requestId,
    method,
    route,
    interaction,
    status,
    duration: Math.round(duration * 10) / 10,
    failure,
    client: client?.slice(0, MAX_TEXT),
    missing: missing?.slice(0, MAX_TEXT),
    params: names,
  };
}

function describe(error: unknown): string {
  if (!(error instanceof Error)) return typeof error;
  const stack = (error.stack ?? error.message).slice(0, MAX_STACK);
  return error.cause instanceof Error ? `${stack}\ncaused by ${describe(error.cause)}` : stack;
}
