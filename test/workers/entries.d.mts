export function bundlesOf(root: string): URL;
export function commandOf(root: string): URL;
export function withBundledEntries(path: string, text: string): string;
