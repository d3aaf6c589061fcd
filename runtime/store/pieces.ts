/** The bytes of a stream anew, in pieces of equal size but the last, each in memory of its own. */
export async function* cutPieces(content: AsyncIterable<Uint8Array>, size: number): AsyncGenerator<Uint8Array> {
  let piece: Uint8Array = Buffer.allocUnsafeSlow(size);
  let filled = 0;
  for await (const chunk of content) {
    for (let at = 0; at < chunk.length;) {
      const length = Math.min(size - filled, chunk.length - at);
      piece.set(chunk.subarray(at, at + length), filled);
      at += length;
      filled += length;
      if (filled < size) continue;
      yield piece;
      piece = Buffer.allocUnsafeSlow(size);
      filled = 0;
    }
  }
  if (filled > 0) yield Uint8Array.from(piece.subarray(0, filled));
}
