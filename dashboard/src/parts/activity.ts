/** What an agent is doing, in the words every surface uses. */
import type { Agent } from '@/api/shapes';
import { isBusy } from '@/theme/agents';
import { words } from '@/words';
import { ago, elapsed } from './time';

const GLYPHS: Record<string, string> = {
  thinking: '◔',
  tool: '⚙',
  passed: '–',
  cooldown: '◷',
  rate_limited: '⏳',
  paused: '‖',
  needs_you: '?',
  error: '!',
};
const RESTS_AFTER_MS = 10_000;

export function activityWords(agent: Agent | undefined, now: number): string {
  if (!agent) return '';
  const { label = '', since } = agent.activity;
  const state: string = agent.activity.state ?? 'idle';
  if (state === 'offline')
    return agent.kind === 'human' ? words.activity.away('') : words.activity.away(ago(agent.last_active, now));
  const glyph = GLYPHS[state] ? `${GLYPHS[state]} ` : '';
  if (isBusy(state)) return `${glyph}${label} ${elapsed(since, now)}`;
  if (state === 'queued') return words.activity.waiting(agent.queue);
  if (state === 'passed' && since && now - Date.parse(since) > RESTS_AFTER_MS) return 'idle';
  return `${glyph}${label}`;
}
