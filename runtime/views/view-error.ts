/** A fault of a view, and where in it: `select[0].column[1].path`. */
export interface ViewFault {
  readonly place: string;
  readonly text: string;
}

/** Refuses a view, which has no rows then. The message names all faults with their places. */
export class ViewError extends Error {
  constructor(readonly faults: readonly ViewFault[]) {
    super(faults.map(({ place, text }) => `${place}: ${text}`).join('; '));
  }
}

/** A resource whose rows a view cannot make: a column with several values, a condition that is no boolean. */
export class RowError extends Error {
  /** @param value that a cell cannot have: for the client that may read it, never for a log, which may have the message */
  constructor(
    message: string,
    readonly value?: unknown,
  ) {
    super(message);
  }
}
