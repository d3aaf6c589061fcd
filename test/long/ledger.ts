/** A write that a server answered with success. */
export interface Acknowledged {
  /** `Type/id/version`. */
  readonly version: string;
  /** What it wrote; undefined: it deleted. */
  readonly token?: string;
}

/** One version of a history, as a server shows it. */
export interface Shown {
  readonly type: string;
  readonly id: string;
  readonly version: number;
  /** What `tokenOf` found in it; undefined: a deletion. */
  readonly token?: string;
  readonly lastUpdated: string;
}

/**
 * Holds a whole history against the writes that were acknowledged: none may be lost, none applied twice, no version id
 * given twice, none left out, and time may not go back within a resource.
 *
 * @returns what is wrong, in sentences; empty: nothing
 */
export function faultsOf(acknowledged: readonly Acknowledged[], history: readonly Shown[]): string[] {
  const faults: string[] = [];
  const byVersion = new Map<string, Shown>();
  const byToken = new Map<string, string>();
  const byResource = new Map<string, Shown[]>();
  for (const shown of history) {
    const resource = `${shown.type}/${shown.id}`;
    const key = `${resource}/${shown.version}`;
    if (byVersion.has(key)) faults.push(`${key} is there twice`);
    byVersion.set(key, shown);
    byResource.set(resource, [...(byResource.get(resource) ?? []), shown]);
    if (shown.token === undefined) continue;
    const other = byToken.get(shown.token);
    if (other !== undefined) faults.push(`${shown.token} was applied twice, as ${other} and as ${key}`);
    byToken.set(shown.token, key);
  }
  for (const [resource, versions] of byResource) {
    versions.sort((a, b) => a.version - b.version);
    for (const [i, { version, lastUpdated }] of versions.entries()) {
      if (version !== i + 1) faults.push(`${resource} has a version ${version} where ${i + 1} should be`);
      const before = versions[i - 1];
      if (before !== undefined && !(Date.parse(before.lastUpdated) < Date.parse(lastUpdated))) {
        faults.push(`${resource}/${version} of ${lastUpdated} is no later than the one before`);
      }
    }
  }
  for (const { version, token } of acknowledged) {
    const shown = byVersion.get(version);
    if (shown === undefined) faults.push(`${version} was acknowledged, and is lost`);
    else if (shown.token !== token) faults.push(`${version} was acknowledged with ${token}, and holds ${shown.token}`);
  }
  return faults;
}
