import type * as Api from '@opentelemetry/api';
import type { Attributes, Span, Tracer } from '@opentelemetry/api';
import type { IncomingHttpHeaders } from 'node:http';

import { FhirError } from '../../fhir/errors.js';

/**
 * Names of spans. They and `SpanFacts` are all that a trace has of this server: no id, name, search value or token is among them, and no
 * message of an error.
 */
export type SpanName = 'authorize' | 'validate' | 'index' | 'store' | 'mongodb' | 'job' | 'delivery';

/** Facts of a span. Each is of a small set of values that no client chooses. */
export interface SpanFacts {
  /** Type of a resource; one that the server has no definition of is left out. */
  readonly type?: string | undefined;
  readonly interaction?: string | undefined;
  /** Method of the store, or command of MongoDB. */
  readonly command?: string;
  /** Kind of a job. */
  readonly job?: string;
  /** Kind of a notification. */
  readonly notification?: string;
}

/** Facts of a request that was answered. */
export interface RequestFacts extends Pick<SpanFacts, 'type' | 'interaction'> {
  /** One of `knownMethod`. */
  readonly method: string;
  /** Template of the route; absent: none matched. */
  readonly route?: string | undefined;
  readonly status: number;
}

interface Tracing {
  readonly api: typeof Api;
  readonly tracer: Tracer;
  readonly types: ReadonlySet<string>;
}

/** Where every copy of the API, of any version 1.x, finds what an SDK has registered. */
const REGISTERED = Symbol.for('opentelemetry.js.api.1');

/** Tracer of the process, which an SDK registers for it; undefined: nothing is traced. */
let tracing: Tracing | undefined;

/**
 * Has this process make spans where an SDK of OpenTelemetry is registered (`node --import`); otherwise the API is not even loaded.
 *
 * @param types that resources can have
 */
export async function startSpans(types: readonly string[]): Promise<void> {
  tracing = undefined;
  if (!(REGISTERED in globalThis)) return;
  const api = await import('@opentelemetry/api');
  const provider = api.trace.getTracerProvider();
  // One without a delegate makes spans that do nothing.
  if ('getDelegateTracer' in provider && (provider as Delegating).getDelegateTracer('kiln') === undefined) return;
  tracing = { api, tracer: api.trace.getTracer('kiln'), types: new Set(types) };
}

interface Delegating {
  getDelegateTracer(name: string): Tracer | undefined;
}

/** Whether this process makes spans. */
export function hasSpans(): boolean {
  return tracing !== undefined;
}

/**
 * Does something in a span of its own. Where nothing is traced that is a call. All but jobs and deliveries are parts of something: where that
 * is not recorded, because the sampler of the SDK passed it over, they are not either.
 */
export function span<T>(name: SpanName, facts: SpanFacts, run: () => T): T {
  if (tracing === undefined) return run();
  const { api, tracer } = tracing;
  if (!ROOTS.has(name) && !isRecording(api)) return run();
  const made = tracer.startSpan(nameOf(name, facts), { attributes: attributesOf(facts, tracing) });
  // What has no spans in it needs no context: that saves a third of the cost.
  const within = LEAVES.has(name) ? run : () => api.context.with(api.trace.setSpan(api.context.active(), made), run);
  try {
    const result = within();
    if (!(result instanceof Promise)) {
      made.end();
      return result;
    }
    return result.then(
      (value: unknown) => {
        made.end();
        return value;
      },
      (error: unknown) => {
        endFailed(made, error, api);
        throw error;
      },
    ) as T;
  } catch (error) {
    endFailed(made, error, api);
    throw error;
  }
}

/** Whether what goes on is recorded. */
function isRecording({ trace, context }: typeof Api): boolean {
  return trace.getSpan(context.active())?.isRecording() === true;
}

const ROOTS: ReadonlySet<SpanName> = new Set(['job', 'delivery']);
const LEAVES: ReadonlySet<SpanName> = new Set(['index']);

/** Adds a span for what has just ended. @param milliseconds how long it took */
export function endedSpan(name: SpanName, facts: SpanFacts, milliseconds: number, failed: boolean): void {
  if (tracing === undefined || !isRecording(tracing.api)) return;
  const { api, tracer } = tracing;
  const made = tracer.startSpan(nameOf(name, facts), {
    kind: api.SpanKind.CLIENT,
    attributes: attributesOf(facts, tracing),
    startTime: Date.now() - milliseconds,
  });
  if (failed) made.setStatus({ code: api.SpanStatusCode.ERROR });
  made.end();
}

/**
 * Answers a request in a span of its own: a child of the one that a framework around it has made, or else of the caller's
 * (`traceparent`), where the propagator of the SDK reads it.
 *
 * @param factsOf called at the end
 */
export async function requestSpan(
  headers: IncomingHttpHeaders,
  run: () => Promise<void>,
  factsOf: () => RequestFacts,
): Promise<void> {
  if (tracing === undefined) return run();
  const { api, tracer } = tracing;
  const active = api.context.active();
  const parent = api.trace.getSpan(active) === undefined ? api.propagation.extract(active, headers) : active;
  const made = tracer.startSpan('request', { kind: api.SpanKind.SERVER }, parent);
  // Without a context nothing in it is recorded, and nothing is paid for that.
  if (!made.isRecording()) return run();
  try {
    await api.context.with(api.trace.setSpan(parent, made), run);
  } finally {
    const { method, route, status, ...facts } = factsOf();
    made.updateName(route === undefined ? method : `${method} ${route}`);
    made.setAttributes({
      'http.request.method': method,
      ...(route !== undefined && { 'http.route': route }),
      'kiln.status': `${Math.floor(status / 100)}xx`,
      ...attributesOf(facts, tracing),
    });
    if (status >= 500) made.setStatus({ code: api.SpanStatusCode.ERROR });
    made.end();
  }
}

function nameOf(name: SpanName, { command, job, notification }: SpanFacts): string {
  const what = command ?? job ?? notification;
  return what === undefined ? name : `${name} ${what}`;
}

function attributesOf(facts: SpanFacts, { types }: Tracing): Attributes {
  const { type, interaction, command, job, notification } = facts;
  const attributes: Attributes = {};
  if (type !== undefined && types.has(type)) attributes['kiln.type'] = type;
  if (interaction !== undefined) attributes['kiln.interaction'] = interaction;
  if (command !== undefined) attributes['db.operation.name'] = command;
  if (job !== undefined) attributes['kiln.job'] = job;
  if (notification !== undefined) attributes['kiln.notification'] = notification;
  return attributes;
}

/** Refusals are no failures of the server. The error itself may tell of data. */
function endFailed(made: Span, error: unknown, api: typeof Api): void {
  if (!(error instanceof FhirError) || error.status >= 500) made.setStatus({ code: api.SpanStatusCode.ERROR });
  made.end();
}
