/** Name and version of this server, for `/metadata` and `kiln --version`. A test compares the version with package.json. */
export const PRODUCT = { name: 'Kiln', version: '0.1.0' } as const;
