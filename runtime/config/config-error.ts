/** A setting that cannot be: one line, naming the key, the value, where it came from and what would be right. */
export class ConfigError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'ConfigError';
  }
}
