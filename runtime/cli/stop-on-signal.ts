import { failed, type Terminal } from './terminal.js';

/** Exit codes of what a signal stopped, as shells have them. */
export const STOPPED = { SIGINT: 130, SIGTERM: 143 } as const;

/** A signal that ends a command. */
export type StopSignal = keyof typeof STOPPED;

/** The first signal aborts, its name being the reason; a second ends the process at once. */
export function stopOnSignal(): { readonly signal: AbortSignal; forget(): void } {
  const controller = new AbortController();
  const onSignal = (name: NodeJS.Signals): void => {
    if (controller.signal.aborted) process.exit(STOPPED[name as StopSignal]);
    controller.abort(name);
  };
  const names = Object.keys(STOPPED) as StopSignal[];
  for (const name of names) process.on(name, onSignal);
  return {
    signal: controller.signal,
    forget: () => names.forEach((name) => void process.off(name, onSignal)),
  };
}

/**
 * Says that a signal stopped a command.
 *
 * @param what what becomes of its work
 * @returns its exit code
 */
export function stoppedBy(name: StopSignal, what: string, terminal: Pick<Terminal, 'err'>): number {
  terminal.err(`kiln: stopped by ${name}; ${what}`);
  return STOPPED[name];
}

/** Says that a signal stopped a command that goes on when it is run again, or why it failed. @returns its exit code */
export function stoppedOrFailed(error: unknown, signal: AbortSignal, terminal: Terminal): number {
  if (!signal.aborted || error !== signal.reason) return failed(error, terminal);
  return stoppedBy(error as StopSignal, 'the same command goes on from here', terminal);
}
