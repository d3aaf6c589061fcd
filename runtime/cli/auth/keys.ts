import { createServerKeys } from '../../auth/keys/server-keys.js';
import { readConfig, type Flags } from '../../config/read-config.js';
import { withAuthStore } from './auth-store.js';
import type { Terminal } from '../terminal.js';

/**
 * `kiln keys rotate`: the next key that tokens are signed with. It is published at once and signs an hour later.
 *
 * @param isCompromised it signs at once, and all others are dropped with the tokens that they signed
 * @returns the exit code
 * @throws ConfigError
 */
export async function rotateKeys(isCompromised: boolean, flags: Flags, terminal: Terminal): Promise<number> {
  const { config } = readConfig(flags, terminal.env);
  return await withAuthStore(config, false, terminal, async ({ maps }) => {
    const { kid, from, isNew } = await createServerKeys(maps).rotate(isCompromised);
    if (isCompromised) terminal.out(`${kid} signs from now on; all tokens of other keys are good for nothing`);
    else
      terminal.out(
        `${kid} ${isNew ? 'is published; it' : 'was waiting already, and'} signs from ${new Date(from).toISOString()}`,
      );
  });
}
