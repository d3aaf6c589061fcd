import { ConfigError } from '../config/config-error.js';

/** Interface of the process to a command, so that tests can pass another one. */
export interface Terminal {
  /** Results. */
  out(line: string): void;
  /** Failures and notes. */
  err(line: string): void;
  /** Shows one changing line in place of the one before; empty: takes it away. Absent: the output is no terminal. */
  draw?(line: string): void;
  /** Says what happens where results or notes cannot be written any more; without that the program ends. Absent: they always can. */
  onClosed?(action: (error: Error) => void): void;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** Controls of terminals, ends of lines, and marks that turn the direction of writing. */
const CONTROLS = /[\p{Cc}\p{Zl}\p{Zp}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu;

/** A text for one line: what comes from files and servers can neither steer the terminal nor begin a line of its own. */
export function printable(text: string): string {
  return text.replace(CONTROLS, (sign) => `\\u{${sign.codePointAt(0)?.toString(16)}}`);
}

/** Returns the message of an error, for one line. */
export function messageOf(error: unknown): string {
  return printable(error instanceof Error ? error.message : String(error));
}

/**
 * Exit codes of every command: 2 means that the command was called wrongly and did nothing, 141 that the reader had gone before what it
 * printed (as shells have it for SIGPIPE).
 */
export const EXIT = { done: 0, failed: 1, usage: 2, closed: 141 } as const;

/**
 * Says why a command failed.
 *
 * @returns its exit code
 * @throws ConfigError as it is: the command was called wrongly
 */
export function failed(error: unknown, terminal: Pick<Terminal, 'err'>): number {
  if (error instanceof ConfigError) throw error;
  terminal.err(`kiln: ${messageOf(error)}`);
  return EXIT.failed;
}

/** Returns a number with its noun, which gets an s unless it is 1. */
export function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}
