/** Where one writes: drafts that stay, mentions and commands offered, who will answer, and sending exactly once. */
import { type KeyboardEvent, useEffect, useLayoutEffect, useMemo, useRef, useState } from 'react';
import { useLocation } from 'wouter';
import { call, errorText } from '@/api/client';
import type { Message } from '@/api/shapes';
import { useLive, useRefusal, useStore } from '@/live/hooks';
import { newKey } from '@/live/outbox';
import { isAgent } from '@/live/state';
import { Drop, DropItem } from '@/parts/Drop';
import { Offers } from '@/parts/Offers';
import { useTitle } from '@/parts/talks';
import { words } from '@/words';
import { runCommand, useCommands } from './commands';
import { isCommand, menuFor, type Offer } from './completion';
import { draftOf, keepDraft, onDraft } from './drafts';
import { usePreview } from './usePreview';
import { WakeLine } from './WakeLine';

interface Props {
  id: string;
  replyTo: Message | null;
  onReplied(): void;
  onWhy(message: string): void;
}

interface CommandOutput {
  lines: string[];
  bad: boolean;
  confirm?: string;
}

function useDraft(id: string) {
  const [text, setText] = useState(() => draftOf(id));
  useEffect(() => onDraft((changed) => changed === id && setText(draftOf(id))), [id]);
  const change = (next: string) => {
    setText(next);
    keepDraft(id, next);
  };
  return [text, change] as const;
}

export function Composer({ id, replyTo, onReplied, onWhy }: Props) {
  const store = useStore();
  const [, go] = useLocation();
  const box = useRef<HTMLTextAreaElement>(null);
  const [text, setText] = useDraft(id);
  const [caret, setCaret] = useState(text.length);
  const [chosen, setChosen] = useState(0);
  const [closed, setClosed] = useState(false);
  // A draft that was kept opens no menu before somebody writes on.
  const [focused, setFocused] = useState(false);
  const [output, setOutput] = useState<CommandOutput | null>(null);
  const refusal = useRefusal(id);
  const conversation = useLive((live) => live.conversations[id]);
  const agents = useLive((live) => live.agents);
  const self = useLive((live) => live.self);
  const title = useTitle(id);
  const commands = useCommands();
  const preview = usePreview(id, text);
  const menu = useMemo(
    () => (closed || !focused ? null : menuFor(text, caret, conversation?.participants ?? [], agents, commands, self)),
    [closed, focused, text, caret, conversation, agents, commands, self],
  );

  // biome-ignore lint/correctness/useExhaustiveDependencies: the height follows the text
  useLayoutEffect(() => {
    const area = box.current;
    if (!area) return;
    area.style.height = 'auto';
    area.style.height = `${Math.min(area.scrollHeight + 2, window.innerHeight * 0.4)}px`;
  }, [text]);

  useEffect(() => {
    if (!refusal) return;
    if (!draftOf(id)) setText(refusal.text);
  });

  const typed = (next: string) => {
    setText(next);
    setCaret(box.current?.selectionStart ?? next.length);
    setChosen(0);
    setClosed(false);
    setOutput(null);
    store.outbox.forgive(id);
  };

  const accept = (offer: Offer) => {
    if (!menu) return;
    const next = `${text.slice(0, menu.start)}${offer.value} ${text.slice(menu.end)}`;
    const place = menu.start + offer.value.length + 1;
    typed(next);
    setCaret(place);
    requestAnimationFrame(() => {
      box.current?.focus();
      box.current?.setSelectionRange(place, place);
    });
  };

  const command = async (line: string, confirmed = false) => {
    setClosed(true);
    try {
      const answer = await runCommand(id, line, confirmed);
      if (answer.asks) return setOutput({ lines: [answer.asks], bad: false, confirm: line });
      if (answer.say !== null) return post(answer.say);
      typed('');
      setOutput(answer.lines.length ? { lines: answer.lines, bad: false } : null);
      if (answer.moved) go(`/c/${encodeURIComponent(answer.moved)}`);
      if (answer.left) go('/c');
      if (/^\/why/.test(line)) {
        const number = Number(line.split(/\s+/)[1] ?? 0);
        const thread = store.state.threads[id]?.messages ?? [];
        const found = number ? thread.find((one) => one.seq === number) : thread.at(-1);
        if (found) onWhy(found.id);
      }
    } catch (error) {
      setOutput({ lines: [errorText(error)], bad: true });
    }
  };

  const post = (words: string, more: { interrupt?: boolean; force?: string[] } = {}) => {
    // Cleared before anything else happens: a second Enter finds nothing to send.
    setText('');
    store.outbox.forgive(id);
    setOutput(null);
    store.outbox.post({
      key: newKey(),
      conversation: id,
      text: words,
      at: new Date().toISOString(),
      ...(replyTo ? { reply_to: replyTo.id } : {}),
      ...more,
    });
    onReplied();
  };

  const send = (more: { interrupt?: boolean; force?: string[] } = {}) => {
    const line = draftOf(id).trim();
    if (!line) return;
    if (isCommand(line) && !more.force && !more.interrupt) void command(line);
    else post(line.startsWith('//') ? line.slice(1) : line, more);
  };

  const stop = () => void call('POST', `/api/conversations/${encodeURIComponent(id)}/stop`, {}).catch(() => {});

  const pressed = (event: KeyboardEvent) => {
    if (menu) {
      if (event.key === 'ArrowDown') setChosen((chosen + 1) % menu.offers.length);
      else if (event.key === 'ArrowUp') setChosen((chosen - 1 + menu.offers.length) % menu.offers.length);
      else if (event.key === 'Tab' || (event.key === 'Enter' && !event.shiftKey)) {
        const offer = menu.offers[chosen];
        const done = offer && text.slice(menu.start, menu.end) === offer.value;
        if (event.key === 'Enter' && done) send();
        else if (offer) accept(offer);
      } else if (event.key === 'Escape') setClosed(true);
      else return;
      event.preventDefault();
      return;
    }
    if (event.key === 'Enter' && !event.shiftKey && !event.nativeEvent.isComposing) {
      send();
      event.preventDefault();
    } else if (event.key === 'Escape') stop();
  };

  const here = (conversation?.participants ?? []).filter((seat) => isAgent(seat.kind)).map((seat) => seat.name);
  return (
    <div className="composer" data-region="composer">
      {replyTo && (
        <div className="composer__reply">
          <span className="cut grow">
            {words.chat.replyingTo(replyTo.from)}: {replyTo.text.slice(0, 80)}
          </span>
          <button type="button" className="plain-button" onClick={onReplied} aria-label={words.chat.stopReply}>
            ✕
          </button>
        </div>
      )}
      {refusal && (
        <div className="notice notice--bad" role="alert" data-testid="refusal">
          {words.chat.refused} {refusal.problem.title}
          {refusal.problem.detail ? `. ${refusal.problem.detail}` : ''}
        </div>
      )}
      {output && (
        <div
          className={output.bad ? 'notice notice--bad composer__output' : 'composer__output'}
          role={output.bad ? 'alert' : 'status'}
          data-testid="command-output"
        >
          <pre className="grow">{output.lines.join('\n')}</pre>
          {output.confirm && (
            <button
              type="button"
              className="plain-button plain-button--line plain-button--bad"
              onClick={() => command(output.confirm ?? '', true)}
            >
              {words.chat.confirm}
            </button>
          )}
          <button type="button" className="plain-button" onClick={() => setOutput(null)} aria-label={words.close}>
            ✕
          </button>
        </div>
      )}
      <div className="composer__row">
        {menu && (
          <Offers
            id="composer-offers"
            label={menu.kind === 'mention' ? words.chat.mention : words.chat.commands}
            offers={menu.offers}
            chosen={chosen}
            onChoose={accept}
          />
        )}
        <textarea
          ref={box}
          data-composer=""
          data-region-focus=""
          className="composer__box"
          rows={1}
          value={text}
          placeholder={words.chat.placeholder(title)}
          aria-label={words.chat.composer}
          aria-autocomplete="list"
          aria-controls={menu ? 'composer-offers' : undefined}
          aria-activedescendant={menu ? `composer-offers-${chosen}` : undefined}
          onChange={(event) => typed(event.target.value)}
          onSelect={(event) => setCaret(event.currentTarget.selectionStart)}
          onKeyDown={pressed}
          onFocus={() => setFocused(true)}
          onBlur={() => setFocused(false)}
        />
        <div className="composer__send">
          <button
            type="button"
            className="plain-button plain-button--main"
            onClick={() => send()}
            disabled={!text.trim()}
          >
            {words.chat.send}
          </button>
          <Drop
            menu
            above
            text="▾"
            label={words.chat.sendMore}
            className="plain-button plain-button--main"
            disabled={!text.trim()}
          >
            <DropItem text={words.chat.interrupt} onClick={() => send({ interrupt: true })} />
            <DropItem text={words.chat.askAll} onClick={() => send({ force: here })} />
          </Drop>
        </div>
      </div>
      <div className="composer__under">{preview && <WakeLine preview={preview} />}</div>
    </div>
  );
}
