/** Types of terminology resources. */
export type TerminologyType = 'CodeSystem' | 'ValueSet' | 'ConceptMap';

/** `1` and `1.x` mean any version that begins so; everything else is compared as it is. */
export function isVersion(actual: unknown, asked: string): boolean {
  if (actual === asked) return true;
  const head = asked.endsWith('.x') ? asked.slice(0, -1) : undefined;
  return head !== undefined && String(actual ?? '').startsWith(head);
}
