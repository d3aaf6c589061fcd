/** Labels of a sample. Values have to come from small fixed sets: each combination is kept for ever. */
export type Labels = Readonly<Record<string, string>>;

/** One family of metrics. https://prometheus.io/docs/instrumenting/exposition_formats/ */
export interface Family {
  readonly name: string;
  readonly help: string;
  readonly type: 'counter' | 'gauge' | 'histogram';
  /** Sample lines, without the name of the family: suffix, labels, value. */
  samples(): Iterable<readonly [suffix: string, labels: Labels, value: number]>;
}

/** A gauge that is read when it is asked for. */
export function gauge(
  name: string,
  help: string,
  read: () => Iterable<readonly [Labels, number]>,
  type: 'gauge' | 'counter' = 'gauge',
): Family {
  return {
    name,
    help,
    type,
    *samples() {
      for (const [labels, value] of read()) yield ['', labels, value];
    },
  };
}

/** A histogram, and the function that adds an observation to it. */
export interface Histogram extends Family {
  observe(labels: Labels, value: number): void;
}

interface Series {
  readonly labels: Labels;
  /** Observations in each bucket, the last one for what is above all bounds. */
  readonly counts: number[];
  sum: number;
}

/** @param bounds upper bounds of the buckets, ascending */
export function histogram(name: string, help: string, bounds: readonly number[]): Histogram {
  const all = new Map<string, Series>();
  return {
    name,
    help,
    type: 'histogram',
    observe(labels, value) {
      const key = Object.values(labels).join('\n');
      let series = all.get(key);
      if (series === undefined) {
        series = { labels, counts: new Array<number>(bounds.length + 1).fill(0), sum: 0 };
        all.set(key, series);
      }
      let bucket = 0;
      while (bucket < bounds.length && value > bounds[bucket]!) bucket++;
      series.counts[bucket]!++;
      series.sum += value;
    },
    *samples() {
      for (const { labels, counts, sum } of all.values()) {
        let total = 0;
        for (const [i, count] of counts.entries()) {
          total += count;
          yield ['_bucket', { ...labels, le: i < bounds.length ? String(bounds[i]) : '+Inf' }, total];
        }
        yield ['_sum', labels, sum];
        yield ['_count', labels, total];
      }
    },
  };
}

/** Media type of the exposition format. */
export const EXPOSITION_TYPE = 'text/plain; version=0.0.4; charset=utf-8';

/** The families as Prometheus reads them. */
export function expose(families: readonly Family[]): string {
  const lines: string[] = [];
  for (const { name, help, type, samples } of families) {
    lines.push(`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`);
    for (const [suffix, labels, value] of samples()) {
      const pairs = Object.entries(labels).map(([label, text]) => `${label}="${escape(text)}"`);
      lines.push(`${name}${suffix}${pairs.length > 0 ? `{${pairs.join(',')}}` : ''} ${value}`);
    }
  }
  return `${lines.join('\n')}\n`;
}

function escape(text: string): string {
  return text.replace(/[\\"\n]/g, (character) => (character === '\n' ? '\\n' : `\\${character}`));
}
