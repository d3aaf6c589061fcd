import type { Subject } from './subject.js';

/** Stores that end with their process. */
export const inMemory: Subject = { name: 'sqlite::memory:', url: () => 'sqlite::memory:', isShared: false };
