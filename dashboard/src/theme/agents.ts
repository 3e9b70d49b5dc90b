/** An agent's colour and mark: the colour is a pure function of the name, the mark tells namesakes in colour apart. */
import type { CSSProperties } from 'react';

const COLOURS = 6;

/** 32-bit `h * 31 + c` over code points, by the first code unit of each. The same in Python and in every surface. */
export function agentColour(name: string): number {
  let hash = 0;
  for (const character of name) hash = ((hash << 5) - hash + character.charCodeAt(0)) | 0;
  return Math.abs(hash) % COLOURS;
}

export function agentStyle(name: string, colour?: number | null): CSSProperties {
  const index = typeof colour === 'number' && colour >= 0 ? colour % COLOURS : agentColour(name);
  return {
    '--agent-border': `var(--agent-${index}-border)`,
    '--agent-bg': `var(--agent-${index}-bg)`,
    '--agent-text': `var(--agent-${index}-text)`,
  } as CSSProperties;
}

const HOLLOW: Record<string, string> = { '●': '○', '▲': '△', '■': '□', '◆': '◇', '★': '☆', '✚': '✚' };

const BUSY = new Set(['thinking', 'tool', 'streaming']);

/** Shape is identity, fill is activity: filled while it works, hollow while it does not, a cross when it is away. */
export function markFor(mark: string, state: string | undefined): string {
  if (state === 'offline') return '✕';
  return state && BUSY.has(state) ? mark : (HOLLOW[mark] ?? mark);
}

export const isBusy = (state: string | undefined): boolean => state !== undefined && BUSY.has(state);
