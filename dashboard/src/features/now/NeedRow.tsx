/** One thing that waits for a person, with what can be done about it. */
import { Link } from 'wouter';
import { useLive } from '@/live/hooks';
import { Command } from '@/parts/Command';
import type { NowRow } from '@/parts/now';
import { useTitle } from '@/parts/talks';
import { ago } from '@/parts/time';
import { useNow } from '@/parts/useNow';
import { words } from '@/words';

interface Props {
  row: NowRow;
  act(path: string, body?: unknown): Promise<void>;
  onOpen(conversation: string): void;
  onHide(): void;
}

const GLYPHS: Record<string, string> = {
  question: '?',
  paused: '‖',
  failed: '!',
  broken: '!',
  left: '!',
  away: '✕',
  worktree: '⎇',
  quarantine: '!',
  unread: '✉',
};

function startOf(agent: string): string {
  return `/api/agents/${encodeURIComponent(agent)}/start`;
}

function Button({ text, onClick }: { text: string; onClick: () => void }) {
  return (
    <button type="button" className="plain-button plain-button--line" onClick={onClick}>
      {text}
    </button>
  );
}

export function NeedRow({ row, act, onOpen, onHide }: Props) {
  const now = useNow(30_000);
  const title = useTitle(row.conversation_id || row.conversation);
  const direct = useLive((live) => live.conversations[row.conversation_id]?.kind === 'direct');
  const where = row.conversation_id ? encodeURIComponent(row.conversation_id) : '';
  const startable = row.fix.includes(`POST ${startOf(row.agent)}`);
  const choices = (row.decision?.choices ?? []) as (string | { value?: string; label?: string })[];
  return (
    <div className="now-row" data-what={row.what}>
      <span className={`now-row__glyph now-row__glyph--${row.what}`} aria-hidden="true">
        {GLYPHS[row.what] ?? '·'}
      </span>
      <span className="grow">
        {words.now.need({ ...row, direct }, title)} <span className="muted small">{ago(row.since || row.at, now)}</span>
        {row.error && <span className="muted small now-row__more">{row.error}</span>}
        {(row.what === 'worktree' || row.what === 'quarantine') &&
          row.fix.map((command) => <Command key={String(command)} text={String(command)} />)}
      </span>
      {row.what === 'question' &&
        choices.map((choice) => {
          const value = typeof choice === 'string' ? choice : (choice.value ?? choice.label ?? '');
          return (
            <Button
              key={value}
              text={value}
              onClick={() => act(`/api/decisions/${encodeURIComponent(row.decision?.id ?? '')}`, { answer: value })}
            />
          );
        })}
      {row.what === 'paused' && (
        <Button text={words.now.resume} onClick={() => act(`/api/conversations/${where}/continue`)} />
      )}
      {row.what === 'paused' && <Button text={words.now.keepOff} onClick={onHide} />}
      {row.what === 'failed' && row.turn && (
        <Button text={words.now.retry} onClick={() => act(`/api/turns/${encodeURIComponent(row.turn)}/redeliver`)} />
      )}
      {row.what === 'away' && startable && <Button text={words.now.start} onClick={() => act(startOf(row.agent))} />}
      {row.agent && (row.what === 'broken' || row.what === 'left' || row.what === 'away') && (
        <Link className="plain-button plain-button--line" href={`/agents/${encodeURIComponent(row.agent)}`}>
          {row.what === 'away' && !startable ? words.now.howToWake : words.now.openAgent}
        </Link>
      )}
      {row.conversation_id && <Button text={words.now.open} onClick={() => onOpen(row.conversation_id)} />}
    </div>
  );
}
