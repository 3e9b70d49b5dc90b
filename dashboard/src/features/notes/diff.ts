/** Two texts, line by line: what stayed, what went, what came. */
export interface DiffLine {
  kind: 'same' | 'gone' | 'new';
  text: string;
}

const MOST = 2000;

/** The longest common subsequence of lines; texts that are too long for that are shown whole, old then new. */
export function diff(before: string, after: string): DiffLine[] {
  const a = before.split('\n');
  const b = after.split('\n');
  if (a.length * b.length > MOST * MOST)
    return [
      ...a.map((text): DiffLine => ({ kind: 'gone', text })),
      ...b.map((text): DiffLine => ({ kind: 'new', text })),
    ];
  const width = b.length + 1;
  const lengths = new Uint32Array((a.length + 1) * width);
  for (let i = a.length - 1; i >= 0; i -= 1)
    for (let j = b.length - 1; j >= 0; j -= 1)
      lengths[i * width + j] =
        a[i] === b[j]
          ? (lengths[(i + 1) * width + j + 1] ?? 0) + 1
          : Math.max(lengths[(i + 1) * width + j] ?? 0, lengths[i * width + j + 1] ?? 0);
  const lines: DiffLine[] = [];
  let i = 0;
  let j = 0;
  while (i < a.length || j < b.length) {
    if (i < a.length && j < b.length && a[i] === b[j]) {
      lines.push({ kind: 'same', text: a[i] ?? '' });
      i += 1;
      j += 1;
    } else if (
      i < a.length &&
      (j >= b.length || (lengths[(i + 1) * width + j] ?? 0) >= (lengths[i * width + j + 1] ?? 0))
    ) {
      lines.push({ kind: 'gone', text: a[i] ?? '' });
      i += 1;
    } else {
      lines.push({ kind: 'new', text: b[j] ?? '' });
      j += 1;
    }
  }
  return lines;
}
