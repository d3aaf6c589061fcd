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
