/** What the page knows of the hub, as one plain value. Pure data: React, network and storage are elsewhere. */
import type { Agent, Conversation, Decision, Link, Message, Point, Task, Turn } from '@/api/shapes';

/** A run of messages without gaps, up to the newest. */
export interface Thread {
  messages: Message[];
  /** Nothing older exists. */
  whole: boolean;
  /** Something is missing: the thread is read again. */
  stale: boolean;
}

/** Somebody was offered a turn and said nothing; seen since the page was opened. */
export interface Pass {
  turn: string;
  agent: string;
  /** The newest message it had seen. */
  seq: number;
}

export interface Live {
  position: number;
  self: string;
  /** May do all that the owner may; the page hides what others may not do. */
  owner: boolean;
  agents: Record<string, Agent>;
  conversations: Record<string, Conversation>;
  threads: Record<string, Thread>;
  /** Turns that are not over. */
  turns: Record<string, Turn>;
  links: Record<string, Link>;
  positions: Record<string, Point>;
  tasks: Record<string, Task>;
  decisions: Record<string, Decision>;
  /** Conversations in which a brake stopped the agents, with its reason. */
  brakes: Record<string, { reason: string; at: string }>;
  /** Messages per link channel since the page was opened, for counters and pulses. */
  traffic: Record<string, number>;
  passes: Record<string, Pass[]>;
  /** Counts changes of things that are pulled: notes, audit, settings. */
  versions: Record<'notes' | 'audit' | 'settings' | 'limits', number>;
}

export const EMPTY: Live = {
  position: 0,
  self: '',
  owner: false,
  agents: {},
  conversations: {},
  threads: {},
  turns: {},
  links: {},
  positions: {},
  tasks: {},
  decisions: {},
  brakes: {},
  traffic: {},
  passes: {},
  versions: { notes: 0, audit: 0, settings: 0, limits: 0 },
};

/** The newest of a conversation, as far as the page knows. */
export function headOf(live: Live, id: string): number {
  const known = live.conversations[id]?.head ?? 0;
  const thread = live.threads[id];
  return Math.max(known, thread?.messages.at(-1)?.seq ?? 0);
}

/** Why agents were stopped, from the hub's line about it, without the command that the page has a button for. */
export const brakeReason = (line: string): string =>
  line
    .replace(/^\[?(paused|stopped): /, '')
    .replace(/\]$/, '')
    .replace(/\.? \/continue resumes (it|them)$/, '');

export const isAgent = (kind: string): boolean => kind === 'agent' || kind === 'external';
