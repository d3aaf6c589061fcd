import { printable } from '../cli/terminal.js';

/** Fault of a package, for one line: where it is, what it is, and how to remedy it. */
export interface PackageFault {
  /** The file, with the path inside the archive; or the package. */
  readonly where: string;
  readonly what: string;
  readonly remedy?: string;
}

/** Everything that is wrong; nothing was stored. */
export class PackageRefused extends Error {
  constructor(readonly faults: readonly PackageFault[]) {
    super(faults.map(describeFault).join('\n'));
    this.name = 'PackageRefused';
  }
}

/** Returns a fault as one line. */
export function describeFault({ where, what, remedy }: PackageFault): string {
  const said = what.startsWith('(') ? ` ${what}` : `: ${what}`;
  return printable(`${where}${said}${remedy === undefined ? '' : `; ${remedy}`}`);
}
