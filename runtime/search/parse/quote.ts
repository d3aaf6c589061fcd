/** What a client sent, shown in a message: as JSON, its first 64 characters. */
export function quote(text: string): string {
  return JSON.stringify(clip(text));
}

/** The first 64 characters. */
export function clip(text: string): string {
  return text.length > 64 ? `${text.slice(0, 64)}…` : text;
}
