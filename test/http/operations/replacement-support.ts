/** The Parameters of a replacement or its undo. @param more integers */
export function replacementParameters(source: string, target: string, more: Record<string, number> = {}): object {
  const parameter = [
    { name: 'source-reference-id', valueString: source },
    { name: 'target-reference-id', valueString: target },
    ...Object.entries(more).map(([name, value]) =>
      name === 'resource-limit' ? { name, valueUnsignedInt: value } : { name, valueInteger: value },
    ),
  ];
  return { resourceType: 'Parameters', parameter };
}

/** The Parameters of `Patient/$merge`. @param more further parameters */
export function mergeParameters(source: string, target: string, more: readonly object[] = []): object {
  const parameter = [
    { name: 'source-patient', valueReference: { reference: source } },
    { name: 'target-patient', valueReference: { reference: target } },
    ...more,
  ];
  return { resourceType: 'Parameters', parameter };
}

/** The Parameters of the undo of a merge. */
export const undoMergeParameters = (source: string, target: string): object => mergeParameters(source, target);
