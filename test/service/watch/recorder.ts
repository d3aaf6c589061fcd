import {
  context,
  propagation,
  ROOT_CONTEXT,
  trace,
  TraceFlags,
  type Attributes,
  type Context,
  type ContextManager,
  type Span,
  type SpanContext,
  type SpanOptions,
  type SpanStatus,
  type TextMapPropagator,
  type Tracer,
} from '@opentelemetry/api';
import { AsyncLocalStorage } from 'node:async_hooks';
import { randomBytes } from 'node:crypto';

/** A span as an exporter would send it. */
export interface RecordedSpan {
  name: string;
  readonly kind: number | undefined;
  readonly traceId: string;
  readonly spanId: string;
  readonly parent: string | undefined;
  readonly attributes: Attributes;
  /** Whatever else was given: events, links, exceptions. */
  readonly others: unknown[];
  status: SpanStatus | undefined;
  isEnded: boolean;
}

/** An SDK of some lines, so that the test has no other dependency than the server: it keeps all that it is given. */
export function registerRecorder(): { readonly spans: RecordedSpan[]; unregister(): void } {
  const spans: RecordedSpan[] = [];
  const tracer: Tracer = {
    startSpan: (name, options, at) => start(name, options, at),
    startActiveSpan: () => {
      throw new Error('the server does not call this');
    },
  };
  function start(
    name: string,
    { kind, attributes, ...others }: SpanOptions = {},
    at: Context = context.active(),
  ): Span {
    const above = trace.getSpanContext(at);
    const spanContext: SpanContext = {
      traceId: above?.traceId ?? randomBytes(16).toString('hex'),
      spanId: randomBytes(8).toString('hex'),
      traceFlags: TraceFlags.SAMPLED,
    };
    const { startTime: _time, ...rest } = others;
    const made: RecordedSpan = {
      ...{ name, kind, parent: above?.spanId, attributes: { ...attributes }, others: [rest] },
      ...{ traceId: spanContext.traceId, spanId: spanContext.spanId, status: undefined, isEnded: false },
    };
    spans.push(made);
    const span: Span = {
      spanContext: () => spanContext,
      setAttribute: (key, value) => (Object.assign(made.attributes, { [key]: value }), span),
      setAttributes: (more) => (Object.assign(made.attributes, more), span),
      addEvent: (...event) => (made.others.push(event), span),
      addLink: (link) => (made.others.push(link), span),
      addLinks: (links) => (made.others.push(links), span),
      setStatus: (status) => ((made.status = status), span),
      updateName: (other) => ((made.name = other), span),
      end: () => void (made.isEnded = true),
      isRecording: () => !made.isEnded,
      recordException: (error) => void made.others.push(String(error)),
    };
    return span;
  }
  const storage = new AsyncLocalStorage<Context>();
  const contexts: ContextManager = {
    active: () => storage.getStore() ?? ROOT_CONTEXT,
    with: (at, run, self, ...args) => storage.run(at, () => run.apply(self as never, args)),
    bind: (_at, target) => target,
    enable: () => contexts,
    disable: () => contexts,
  };
  trace.setGlobalTracerProvider({ getTracer: () => tracer });
  context.setGlobalContextManager(contexts);
  propagation.setGlobalPropagator(W3C);
  return {
    spans,
    unregister() {
      trace.disable();
      context.disable();
      propagation.disable();
    },
  };
}

/** https://www.w3.org/TR/trace-context/#traceparent-header */
const W3C: TextMapPropagator = {
  fields: () => ['traceparent'],
  inject: () => {},
  extract(at, carrier, getter) {
    const found = /^00-([0-9a-f]{32})-([0-9a-f]{16})-01$/.exec(String(getter.get(carrier, 'traceparent')));
    if (found === null) return at;
    const [, traceId = '', spanId = ''] = found;
    return trace.setSpanContext(at, { traceId, spanId, traceFlags: TraceFlags.SAMPLED, isRemote: true });
  },
};
