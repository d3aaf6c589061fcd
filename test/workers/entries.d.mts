export function bundlesOf(root: string, folder: string): URL;
export function commandOf(root: string): URL;
export function withBundledEntries(path: string, text: string): string;
export function withPooledThreads(path: string, text: string): string;
export const IN_ONE_SCRIPT: string;
