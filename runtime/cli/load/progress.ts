import type { Terminal } from '../terminal.js';

/** Shows how far a load or a copy is. */
export interface Progress {
  /** A line for good, above the bar. */
  line(text: string): void;
  /** Takes the bar away. */
  end(): void;
}

/** Milliseconds between two looks: at a bar, and at lines in a file. */
const BAR_INTERVAL = 200;
const LINE_INTERVAL = 10_000;
const BAR_WIDTH = 24;

/** How far it is: bytes (or another measure) read of all (0: unknown), and resources done. */
export interface Position {
  readonly read: number;
  readonly total: number;
  readonly resources: number;
  /** What is counted; absent: resources. */
  readonly unit?: string;
}

/** A bar on a terminal, a plain line from time to time elsewhere. */
export function showProgress(terminal: Terminal, position: () => Position, now = () => performance.now()): Progress {
  const start = now();
  const { draw } = terminal;
  const look = (): void => {
    const text = describeProgress(position(), (now() - start) / 1000);
    if (draw === undefined) terminal.err(text);
    else draw(text);
  };
  const timer = setInterval(look, draw === undefined ? LINE_INTERVAL : BAR_INTERVAL).unref();
  return {
    line(text) {
      draw?.('');
      terminal.err(text);
    },
    end() {
      clearInterval(timer);
      draw?.('');
    },
  };
}

/** `[======>     ]  42 %  1234 resources, 410 a second, 12 s left` */
export function describeProgress({ read, total, resources, unit = 'resources' }: Position, seconds: number): string {
  const rate = `${resources} ${unit}, ${Math.round(resources / Math.max(seconds, 0.001))} a second`;
  if (total === 0) return rate;
  const part = Math.min(read / total, 1);
  const filled = Math.round(part * BAR_WIDTH);
  const bar = `${'='.repeat(filled)}>`.slice(0, BAR_WIDTH).padEnd(BAR_WIDTH);
  const left = part > 0 ? `, ${formatSeconds((seconds * (1 - part)) / part)} left` : '';
  return `[${bar}] ${String(Math.floor(part * 100)).padStart(3)} %  ${rate}${left}`;
}

function formatSeconds(seconds: number): string {
  return seconds < 90 ? `${Math.ceil(seconds)} s` : `${Math.ceil(seconds / 60)} min`;
}
