/**
 * A transcript of any length: only what is near the screen exists. It stays at the end while new things come in there,
 * and where the reader is otherwise. One stop per message for keys; the one with focus is never taken away.
 */
import { defaultRangeExtractor, type Range, useVirtualizer } from '@tanstack/react-virtual';
import {
  type KeyboardEvent,
  type ReactNode,
  useCallback,
  useEffect,
  useLayoutEffect,
  useMemo,
  useRef,
  useState,
} from 'react';
import type { Message } from '@/api/shapes';
import { words } from '@/words';
import { clockTime } from '../time';
import { ThinLine } from './Bubble';
import { indexOfSeq, type Row } from './rows';
import './transcript.css';

const NEAR_TOP = 900;
const AT_END = 60;

export interface Acts {
  key(event: KeyboardEvent, message: Message): boolean;
  bar(message: Message, current: boolean): ReactNode;
}

interface Props {
  id: string;
  rows: Row[];
  head: number;
  whole: boolean;
  focusSeq?: number | null;
  draw(row: Row): ReactNode;
  acts: Acts;
  onOlder(): void;
  onEnd?(): void;
}

export function Transcript({ id, rows, head, whole, focusSeq, draw, acts, onOlder, onEnd }: Props) {
  const scroller = useRef<HTMLDivElement>(null);
  const [current, setCurrent] = useState<string | null>(null);
  const [atEnd, setAtEnd] = useState(true);
  const [seen, setSeen] = useState(head);
  const currentIndex = useMemo(() => (current ? rows.findIndex((row) => row.key === current) : -1), [rows, current]);
  const extract = useCallback(
    (range: Range) => {
      const near = defaultRangeExtractor(range);
      if (currentIndex < 0 || near.includes(currentIndex)) return near;
      return [...near, currentIndex].sort((a, b) => a - b);
    },
    [currentIndex],
  );
  const list = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => 96,
    getItemKey: (index) => rows[index]?.key ?? index,
    overscan: 6,
    anchorTo: 'end',
    followOnAppend: true,
    scrollEndThreshold: AT_END,
    rangeExtractor: extract,
  });

  const placed = useRef<string | null>(null);
  const mark = `${id} ${focusSeq ?? ''}`;
  useLayoutEffect(() => {
    if (placed.current === mark || rows.length === 0) return;
    const index = focusSeq ? indexOfSeq(rows, focusSeq) : -1;
    if (focusSeq && index < 0) return;
    placed.current = mark;
    if (index < 0) list.scrollToEnd();
    else {
      list.scrollToIndex(index, { align: 'center' });
      setCurrent(rows[index]?.key ?? null);
    }
  }, [mark, rows, focusSeq, list]);

  const looked = useCallback(() => {
    const box = scroller.current;
    if (!box) return;
    const end = box.scrollHeight - box.scrollTop - box.clientHeight <= AT_END;
    setAtEnd(end);
    if (box.scrollTop < NEAR_TOP && !whole && rows.length > 0) onOlder();
  }, [whole, rows.length, onOlder]);

  useEffect(() => {
    if (!atEnd) return;
    setSeen(head);
    onEnd?.();
  }, [atEnd, head, onEnd]);

  // Whoever is at the end stays there when a panel opens or the window changes.
  const ending = useRef(atEnd);
  ending.current = atEnd;
  useEffect(() => {
    const box = scroller.current;
    if (!box) return;
    const watch = new ResizeObserver(() => ending.current && list.scrollToEnd());
    watch.observe(box);
    return () => watch.disconnect();
  }, [list]);

  // A page that does not fill the screen has nothing to scroll: it asks for more by itself.
  useEffect(() => looked(), [looked]);

  const focusRow = (index: number) => {
    const row = rows[index];
    if (!row) return;
    setCurrent(row.key);
    list.scrollToIndex(index, { align: 'auto' });
    requestAnimationFrame(() =>
      scroller.current?.querySelector<HTMLElement>(`[data-key="${CSS.escape(row.key)}"]`)?.focus(),
    );
  };
  const step = (from: number, by: number) => {
    for (let index = from + by; index >= 0 && index < rows.length; index += by)
      if (rows[index]?.kind === 'message') return focusRow(index);
    if (by > 0) document.querySelector<HTMLElement>('[data-composer]')?.focus();
  };
  const pressed = (event: KeyboardEvent, index: number, message: Message) => {
    if (event.target !== event.currentTarget) return;
    if (event.key === 'ArrowUp') step(index, -1);
    else if (event.key === 'ArrowDown') step(index, 1);
    else if (event.key === 'Enter') event.currentTarget.querySelector<HTMLElement>('button')?.focus();
    else if (!acts.key(event, message)) return;
    event.preventDefault();
  };

  const lastMessage = rows.findLast((row) => row.kind === 'message');
  const stop = currentIndex >= 0 ? current : lastMessage?.key;
  return (
    <div className="transcript" data-conversation={id}>
      <div
        ref={scroller}
        className="transcript__scroll"
        onScroll={looked}
        role="log"
        aria-live="off"
        aria-label={words.chat.transcript}
        data-region="messages"
      >
        <div className="transcript__room" style={{ height: list.getTotalSize() }}>
          {list.getVirtualItems().map((item) => {
            const row = rows[item.index];
            if (!row) return null;
            const place = { transform: `translateY(${item.start}px)` };
            if (row.kind !== 'message')
              return (
                <div
                  key={item.key}
                  data-index={item.index}
                  ref={list.measureElement}
                  className="transcript__row"
                  style={place}
                >
                  {draw(row)}
                </div>
              );
            const { message } = row;
            return (
              <div
                key={item.key}
                data-index={item.index}
                ref={list.measureElement}
                className="transcript__row"
                style={place}
              >
                <article
                  data-key={row.key}
                  data-seq={message.seq}
                  data-region-focus={row.key === stop ? '' : undefined}
                  className="transcript__message"
                  tabIndex={row.key === stop ? 0 : -1}
                  aria-label={words.chat.messageLabel(message.from, clockTime(message.at), message.text.slice(0, 300))}
                  onFocus={() => setCurrent(row.key)}
                  onKeyDown={(event) => pressed(event, item.index, message)}
                >
                  {draw(row)}
                  {acts.bar(message, row.key === current)}
                </article>
              </div>
            );
          })}
        </div>
      </div>
      {!atEnd && (
        <button
          type="button"
          className="transcript__end"
          onClick={() => list.scrollToEnd()}
          aria-label={words.chat.toEnd}
        >
          {head > seen ? words.chat.newBelow(head - seen) : '↓'}
        </button>
      )}
    </div>
  );
}

/** Rows that look alike in every transcript. */
export function drawPlain(row: Row): ReactNode {
  if (row.kind === 'day') return <ThinLine>{row.text}</ThinLine>;
  if (row.kind === 'beginning') return <p className="transcript__beginning">{words.chat.beginning}</p>;
  if (row.kind === 'passed') return <ThinLine>{row.agents.map(words.chat.passed).join(' · ')}</ThinLine>;
  if (row.kind === 'thin')
    return (
      <ThinLine bad={row.thin.bad}>
        {clockTime(row.thin.at)} {row.thin.text}
      </ThinLine>
    );
  return null;
}
