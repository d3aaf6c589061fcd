/** How much of a resource is checked before it is written. */
export type ValidationMode = 'off' | 'structure' | 'full';
