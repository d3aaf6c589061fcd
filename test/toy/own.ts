import { OwnBases } from '../../runtime/path/own-bases.js';

/** The URLs of the servers that the tests of one file start, as each is known once it listens. */
export const OWN = new OwnBases();

/** Counts a server among them. @param url of its FHIR base */
export function addOwn(url: string): void {
  OWN.keys = [...OWN.keys, ...OwnBases.onThisMachine(url).keys];
}
