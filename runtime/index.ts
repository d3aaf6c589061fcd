/** Kiln in another application: `import { kiln } from 'kiln'`. docs/mounting.md */
export { ConfigError } from './config/config-error.js';
export type { KilnSettings } from './config/read-options.js';
export { kiln, type Kiln, type KilnOptions } from './mount.js';
