/**
 * Version of the row types in this folder. It is in the header of every generated file and in the
 * manifest; the runtime refuses tables of another version. Raise it when a row changes its meaning.
 */
export const CONTRACT_VERSION = 1;
