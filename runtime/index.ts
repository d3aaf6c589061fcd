/** Kiln in another application: `import { kiln } from 'kiln'`. docs/mounting.md */
export { ConfigError } from './config/config-error.js';
export type { KilnSettings } from './config/read-options.js';
export type { ReadContext } from './core/read-hook.js';
export type { WriteContext } from './core/write/write-hooks.js';
export {
  WriteRefused,
  type AfterWriteHook,
  type BeforeWriteHook,
  type HookResource,
  type HookType,
  type KilnHooks,
  type ReadHook,
  type ReadVersion,
  type WrittenVersion,
} from './hooks.js';
export { kiln, type Kiln, type KilnOptions } from './mount.js';
