/** What a screen reader is told: one polite voice, bursts merged, and one that interrupts for errors and brakes. */
import { createContext, type ReactNode, useCallback, useContext, useRef, useState } from 'react';

type Say = (text: string, urgent?: boolean) => void;

const EVERY_MS = 2_000;
const AnnouncerContext = createContext<Say>(() => {});

export const useAnnounce = (): Say => useContext(AnnouncerContext);

export function Announcer({ children }: { children: ReactNode }) {
  const [polite, setPolite] = useState('');
  const [urgent, setUrgent] = useState('');
  const waiting = useRef<string[]>([]);
  const timer = useRef<ReturnType<typeof setTimeout> | null>(null);
  const say = useCallback<Say>((text, isUrgent = false) => {
    if (isUrgent) {
      setUrgent(text);
      return;
    }
    waiting.current.push(text);
    if (timer.current) return;
    const flush = () => {
      setPolite(waiting.current.join('. '));
      waiting.current = [];
      timer.current = null;
    };
    timer.current = setTimeout(flush, EVERY_MS);
  }, []);
  return (
    <AnnouncerContext value={say}>
      {children}
      <div className="visually-hidden" role="status" aria-live="polite" data-testid="announcer">
        {polite}
      </div>
      <div className="visually-hidden" role="alert">
        {urgent}
      </div>
    </AnnouncerContext>
  );
}
