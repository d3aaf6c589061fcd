/** Quotes text of a client for a message: its first 100 characters as JSON. */
export function quote(text: string): string {
  return JSON.stringify(clip(text, 100));
}

/** Returns the first characters of a text, for a message. */
export function clip(text: string, most = 64): string {
  return text.length > most ? `${text.slice(0, most)}…` : text;
}
