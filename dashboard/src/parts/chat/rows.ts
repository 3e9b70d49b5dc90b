/** A transcript as rows: messages with the days between them, who passed, what is being written and what is on its way. */
import type { Message } from '@/api/shapes';
import type { Piece } from '@/live/deltas';
import type { Pending } from '@/live/outbox';
import type { Pass, Thread } from '@/live/state';
import { dayOf, sameDay } from '../time';

/** A thin line that is no message: a refused attempt, a brake, a note of the page. */
export interface Thin {
  key: string;
  at: string;
  text: string;
  bad: boolean;
}

export type Row =
  | { kind: 'beginning'; key: string }
  | { kind: 'day'; key: string; text: string }
  | { kind: 'message'; key: string; message: Message }
  | { kind: 'passed'; key: string; agents: string[] }
  | { kind: 'thin'; key: string; thin: Thin }
  | { kind: 'piece'; key: string; piece: Piece }
  | { kind: 'pending'; key: string; pending: Pending };

interface Parts {
  thread: Thread | undefined;
  passes?: readonly Pass[];
  thins?: readonly Thin[];
  pieces?: readonly Piece[];
  pending?: readonly Pending[];
}

export function rowsOf({ thread, passes = [], thins = [], pieces = [], pending = [] }: Parts): Row[] {
  const rows: Row[] = [];
  if (!thread) return rows;
  if (thread.whole) rows.push({ kind: 'beginning', key: 'beginning' });
  const passed = new Map<number, string[]>();
  for (const pass of passes) passed.set(pass.seq, [...(passed.get(pass.seq) ?? []), pass.agent]);
  const left = thins.toSorted((a, b) => a.at.localeCompare(b.at));
  let before: string | null = null;
  for (const message of thread.messages) {
    const at = message.at ?? '';
    while (left[0] && left[0].at < at) {
      const thin = left.shift() as Thin;
      if (before !== null || thread.whole) rows.push({ kind: 'thin', key: thin.key, thin });
    }
    if (at && (before === null || !sameDay(before, at)))
      rows.push({ kind: 'day', key: `day ${message.seq}`, text: dayOf(at) });
    before = at || before;
    rows.push({ kind: 'message', key: `m${message.seq}`, message });
    const silent = passed.get(message.seq);
    if (silent) rows.push({ kind: 'passed', key: `p${message.seq}`, agents: silent });
  }
  for (const thin of left) rows.push({ kind: 'thin', key: thin.key, thin });
  for (const one of pending) rows.push({ kind: 'pending', key: `o${one.key}`, pending: one });
  for (const piece of pieces) if (piece.text) rows.push({ kind: 'piece', key: `t${piece.turn}`, piece });
  return rows;
}

/** The row of a message, for permalinks. */
export const indexOfSeq = (rows: readonly Row[], seq: number): number =>
  rows.findIndex((row) => row.kind === 'message' && row.message.seq === seq);
