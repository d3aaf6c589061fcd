/** What a number of pieces of work took. */
export interface Measured {
  readonly count: number;
  readonly wallMs: number;
  /** User and system time of the whole process, so work moved to another thread is not free. */
  readonly cpuMs: number;
  /** How long one piece took, in milliseconds, where they were done one at a time. */
  readonly times?: { readonly p50: number; readonly p99: number; readonly longest?: number };
}

/** One line of `npm run bench`. The floor is measured in the same run, so the ratio holds on any machine. */
export interface Row {
  /** What is measured: `extract Patient`. */
  readonly name: string;
  /** What is counted, in the plural: `Patients`. */
  readonly unit: string;
  readonly measured: Measured;
  readonly floor?: { readonly name: string; readonly measured: Measured };
  /**
   * The bench fails below these, of pieces per CPU-second; or where one piece takes more than so many `times` as long as
   * that of the floor, or than `longest` milliseconds; or where half of them take more than `p50` milliseconds.
   */
  readonly goal?: {
    readonly rate?: number;
    readonly ratio?: number;
    readonly times?: number;
    readonly longest?: number;
    readonly p50?: number;
  };
}

/** What a file of `test/bench` exports under the name `bench`. It runs in a process of its own, in the repository's root. */
export type Bench = () => Promise<readonly Row[]>;
