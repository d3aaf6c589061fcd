/** What this server is, for `/metadata` and `kiln --version`. A test holds the version against package.json. */
export const PRODUCT = { name: 'Kiln', version: '0.1.0' } as const;
