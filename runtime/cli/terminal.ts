/** What a command may use of the process, so that tests can hand in something else. */
export interface Terminal {
  /** Results. */
  out(line: string): void;
  /** Failures and notes. */
  err(line: string): void;
  /** Shows one changing line in place of the one before; empty: takes it away. Absent: nobody is watching. */
  draw?(line: string): void;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** Exit codes of every command: 2 means that the command was called wrongly and did nothing. */
export const EXIT = { done: 0, failed: 1, usage: 2 } as const;
