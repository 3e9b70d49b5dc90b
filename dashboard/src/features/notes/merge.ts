/** Two people changed the same text: what only one of them changed is taken, what both changed is left to a person. Pure. */
import { diff } from './diff';

interface Piece {
  /** Lines of the old text that it stands for: [from, to). */
  from: number;
  to: number;
  lines: string[];
}

/** What became of the old text, as pieces that were changed. */
function pieces(before: string, after: string): Piece[] {
  const found: Piece[] = [];
  let place = 0;
  let open: Piece | null = null;
  for (const line of diff(before, after)) {
    if (line.kind === 'same') {
      open = null;
      place += 1;
      continue;
    }
    if (!open) {
      open = { from: place, to: place, lines: [] };
      found.push(open);
    }
    if (line.kind === 'new') open.lines.push(line.text);
    else {
      place += 1;
      open.to = place;
    }
  }
  return found;
}

export interface Merged {
  text: string;
  /** Places that both changed, and that show both texts between marks. */
  conflicts: number;
}

const touches = (a: Piece, b: Piece): boolean => a.from <= b.to && b.from <= a.to;
const same = (a: string[], b: string[]): boolean =>
  a.length === b.length && a.every((line, index) => line === b[index]);

/** `from` to `to` of the old text with these changes in it. */
function applied(old: string[], from: number, to: number, changes: readonly Piece[]): string[] {
  const lines: string[] = [];
  let place = from;
  for (const piece of changes) {
    lines.push(...old.slice(place, piece.from), ...piece.lines);
    place = piece.to;
  }
  return [...lines, ...old.slice(place, to)];
}

export function merge(base: string, mine: string, theirs: string, names: { mine: string; theirs: string }): Merged {
  const old = base.split('\n');
  const left = { mine: pieces(base, mine), theirs: pieces(base, theirs) };
  const lines: string[] = [];
  let place = 0;
  let conflicts = 0;
  while (left.mine.length || left.theirs.length) {
    const first = Math.min(left.mine[0]?.from ?? Infinity, left.theirs[0]?.from ?? Infinity);
    const group = { mine: [] as Piece[], theirs: [] as Piece[] };
    let span: Piece = { from: first, to: first, lines: [] };
    for (let grown = true; grown; ) {
      grown = false;
      for (const side of ['mine', 'theirs'] as const) {
        const next = left[side][0];
        const isFirst = !group.mine.length && !group.theirs.length && next?.from === first;
        if (!next || !(isFirst || touches(next, span))) continue;
        group[side].push(left[side].shift() as Piece);
        span = { ...span, to: Math.max(span.to, next.to) };
        grown = true;
      }
    }
    lines.push(...old.slice(place, span.from));
    const one = applied(old, span.from, span.to, group.mine);
    const other = applied(old, span.from, span.to, group.theirs);
    if (!group.theirs.length || same(one, other)) lines.push(...one);
    else if (!group.mine.length) lines.push(...other);
    else {
      conflicts += 1;
      lines.push(`<<<<<<< ${names.mine}`, ...one, '=======', ...other, `>>>>>>> ${names.theirs}`);
    }
    place = span.to;
  }
  return { text: [...lines, ...old.slice(place)].join('\n'), conflicts };
}
