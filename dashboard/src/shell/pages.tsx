/** Which address shows which page. Each page is a part of its own, loaded when it is first opened. */
import { type ComponentType, lazy } from 'react';
import { words } from '@/words';

interface Entry {
  path: string;
  page: ComponentType<{ params: Record<string, string | undefined> }>;
}

export const PAGES: Entry[] = [
  { path: '/now', page: lazy(() => import('@/features/now/NowPage')) },
  { path: '/c/:id/m/:seq', page: lazy(() => import('@/features/conversations/ConversationsPage')) },
  { path: '/c/:id', page: lazy(() => import('@/features/conversations/ConversationsPage')) },
  { path: '/c', page: lazy(() => import('@/features/conversations/ConversationsPage')) },
  { path: '/topology', page: lazy(() => import('@/features/topology/TopologyPage')) },
  { path: '/agents/:name', page: lazy(() => import('@/features/agents/AgentPage')) },
  { path: '/agents', page: lazy(() => import('@/features/agents/AgentsPage')) },
  { path: '/links/:id', page: lazy(() => import('@/features/links/LinkPage')) },
  { path: '/tasks', page: lazy(() => import('@/features/tasks/TasksPage')) },
  { path: '/decisions', page: lazy(() => import('@/features/decisions/DecisionsPage')) },
  { path: '/notes/:name', page: lazy(() => import('@/features/notes/NotesPage')) },
  { path: '/notes', page: lazy(() => import('@/features/notes/NotesPage')) },
  { path: '/search', page: lazy(() => import('@/features/search/SearchPage')) },
  { path: '/timeline', page: lazy(() => import('@/features/timeline/TimelinePage')) },
  { path: '/limits', page: lazy(() => import('@/features/limits/LimitsPage')) },
  { path: '/settings/:tab', page: lazy(() => import('@/features/settings/SettingsPage')) },
  { path: '/settings', page: lazy(() => import('@/features/settings/SettingsPage')) },
];

export interface Place {
  path: string;
  name: string;
  glyph: string;
}

export const PLACES: Place[] = [
  { path: '/now', name: words.nav.now, glyph: '◉' },
  { path: '/c', name: words.nav.chats, glyph: '✉' },
  { path: '/topology', name: words.nav.topology, glyph: '⌬' },
  { path: '/agents', name: words.nav.agents, glyph: '☰' },
  { path: '/tasks', name: words.nav.tasks, glyph: '☑' },
  { path: '/notes', name: words.nav.notes, glyph: '✎' },
  { path: '/search', name: words.nav.search, glyph: '⌕' },
  { path: '/timeline', name: words.nav.timeline, glyph: '≋' },
  { path: '/limits', name: words.nav.limits, glyph: '◔' },
  { path: '/settings', name: words.nav.settings, glyph: '⚙' },
];
