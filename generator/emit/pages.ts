import type { Model } from '../model/model.js';
import type { Artefact } from './artefact.js';

/** Reference pages. */
export function emitPages(_model: Model): Artefact[] {
  return [];
}
