/** A finding of one check of `kiln doctor`. */
export interface Finding {
  /** The subject that was looked at: `disk`, `tls`, `jobs`. */
  readonly check: string;
  /** `unknown`: it could not be looked at, and the text says why. */
  readonly level: 'fine' | 'warning' | 'fault' | 'unknown';
  /** The finding, in some words. */
  readonly text: string;
  /** The remedy; absent: none is needed. */
  readonly remedy?: string;
}

/** Makes the findings of one check, which is named once. */
export interface Report {
  fine(text: string): Finding;
  warning(text: string, remedy: string): Finding;
  fault(text: string, remedy: string): Finding;
  unknown(text: string, remedy?: string): Finding;
}

/** Returns the maker of the findings of a check. */
export function reportOf(check: string): Report {
  return {
    fine: (text) => ({ check, level: 'fine', text }),
    warning: (text, remedy) => ({ check, level: 'warning', text, remedy }),
    fault: (text, remedy) => ({ check, level: 'fault', text, remedy }),
    unknown: (text, remedy) => ({ check, level: 'unknown', text, ...(remedy !== undefined && { remedy }) }),
  };
}
