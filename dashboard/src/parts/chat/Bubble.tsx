/** The three bubbles: a person's, the only agent's of a conversation of two, and an agent's among others. */
import { memo, type ReactNode, useState } from 'react';
import type { Message } from '@/api/shapes';
import { agentStyle } from '@/theme/agents';
import { words } from '@/words';
import { Markdown } from '../Markdown';
import { clockTime, fullTime } from '../time';
import './bubble.css';

export type Look = 'user' | 'assistant' | 'agent';

const LONG = 40;

interface FrameProps {
  look: Look;
  own: boolean;
  name: string;
  mark?: string | undefined;
  colour?: number | null | undefined;
  badges?: ReactNode;
  time?: string | null | undefined;
  foot?: ReactNode;
  children: ReactNode;
}

function Dot({ mark }: { mark: string }) {
  if (mark === '●') return <span className="message-bubble__agent-dot" aria-hidden="true" />;
  return (
    <span className="message-bubble__agent-mark" aria-hidden="true">
      {mark}
    </span>
  );
}

export function Frame({ look, own, name, mark = '●', colour, badges, time, foot, children }: FrameProps) {
  const side = own ? ' message-bubble--own' : '';
  return (
    <div
      className={`message-bubble message-bubble--${look}${side}`}
      style={look === 'agent' ? agentStyle(name, colour) : undefined}
    >
      {look === 'user' && !own && <div className="message-bubble__who">{name}</div>}
      <div className="message-bubble__content">
        {look === 'agent' && (
          <div className="message-bubble__agent-header">
            <Dot mark={mark} />
            <span className="message-bubble__agent-name">{name}</span>
            {badges}
            <time className="message-bubble__time" dateTime={time ?? undefined} title={fullTime(time)}>
              {clockTime(time)}
            </time>
          </div>
        )}
        <div className={look === 'agent' ? 'message-bubble__agent-body' : 'message-bubble__body'}>{children}</div>
      </div>
      {(look !== 'agent' || foot) && (
        <div className="message-bubble__foot">
          {look !== 'agent' && (
            <>
              {look === 'assistant' && badges}
              <time dateTime={time ?? undefined} title={fullTime(time)}>
                {clockTime(time)}
              </time>
            </>
          )}
          {foot}
        </div>
      )}
    </div>
  );
}

function Body({ message }: { message: Message }) {
  const [open, setOpen] = useState(false);
  if (message.metadata?.deleted) return <em className="muted">{words.chat.deleted}</em>;
  const lines = message.text.split('\n');
  const long = lines.length > LONG + 5;
  const shown = long && !open ? lines.slice(0, LONG).join('\n') : message.text;
  return (
    <>
      <Markdown text={shown} />
      {long && (
        <button type="button" className="plain-button" onClick={() => setOpen(!open)} aria-expanded={open}>
          {open ? words.chat.less : words.chat.showAll(lines.length)}
        </button>
      )}
    </>
  );
}

/** `demo`: its author's brain is the scripted one, which every message of it says. */
export function badgesOf(message: Message, demo: boolean): ReactNode {
  const { door } = (message.metadata ?? {}) as { door?: string };
  return (
    <>
      {demo && <span className="chip">demo</span>}
      {door && !['http', 'sdk', 'cli', 'page', 'web'].includes(door) && (
        <span className="chip">{words.chat.via(door)}</span>
      )}
      {message.version > 1 && !message.metadata?.deleted && <span className="chip">{words.chat.edited}</span>}
    </>
  );
}

interface BubbleProps {
  message: Message;
  look: Look;
  own: boolean;
  mark?: string | undefined;
  colour?: number | null | undefined;
  demo?: boolean;
  foot?: ReactNode;
}

export const Bubble = memo(function Bubble({ message, look, own, mark, colour, demo = false, foot }: BubbleProps) {
  return (
    <Frame
      look={look}
      own={own}
      name={message.from}
      mark={mark}
      colour={colour}
      badges={badgesOf(message, demo)}
      time={message.at}
      foot={foot}
    >
      <Body message={message} />
    </Frame>
  );
});

export function ThinLine({ children, bad = false }: { children: ReactNode; bad?: boolean }) {
  return (
    <div className={bad ? 'thin-line thin-line--bad' : 'thin-line'}>
      <span>{children}</span>
    </div>
  );
}
