/** The API's shapes, under the names the page uses. Generated: `npm run api` reads /openapi.json. */
import type { components } from './schema';

type Schemas = components['schemas'];

export type Agent = Schemas['Agent'];
export type Conversation = Schemas['Conversation'] & {
  /** Not every hub answers with these three: the page then counts for itself. */
  unread?: number;
  head?: number;
  last?: LastWords | null;
};
/** The newest message of a conversation, shortened. */
export type LastWords = Pick<Message, 'id' | 'seq' | 'from' | 'kind' | 'text' | 'at'>;
export type Seat = Schemas['Seat'];
export type Message = Schemas['Message'];
export type Turn = Schemas['Turn'] & { text?: string | null };
export type Link = Schemas['Link'];
export type Task = Schemas['Task'];
export type Decision = Schemas['PersonsDecision'];
export type Note = Schemas['Note'];
export type NoteChange = Schemas['NoteChange'];
export type Status = Schemas['Status'];
export type Preview = Schemas['Preview'];
export type Receipt = Schemas['Receipt'];
export type Why = Schemas['Why'];
export type DeliveryProgress = Schemas['DeliveryProgress'];
export type BrakeReport = Schemas['BrakeReport'];
export type AuditEntry = Schemas['AuditEntry'];
export type AuditReport = Schemas['AuditReport'];
export type Hits = Schemas['Hits'];
export type LinkPrompts = Schemas['LinkPrompts'];
export type LastHour = Schemas['LastHour'];
export type ModelProvider = Schemas['ModelProvider'];
export type TriedProvider = Schemas['TriedProvider'];
export type ListedBackup = Schemas['ListedBackup'];
export type Imported = Schemas['Imported'];
export type Point = { x: number; y: number };
export type Relationship = Schemas['Relationship'];
export type Direction = Schemas['Direction'];

/** What the hub refuses with: what happened, what was expected, what to do. */
export interface Problem {
  status: number;
  code?: string;
  name?: string;
  title: string;
  detail?: string | null;
  fix?: string[];
  retry_after_ms?: number | null;
  [field: string]: unknown;
}

/** One event of the stream. Those without an id are told live only. */
export interface HubEvent {
  id: string | null;
  type: string;
  at: string;
  conversation: string | null;
  by: string | null;
  body: Record<string, unknown> | null;
}
