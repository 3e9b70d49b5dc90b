/** Short answers at the edge of the page, with an undo where there is one. They go by themselves. */
import { createContext, type ReactNode, useCallback, useContext, useRef, useState } from 'react';
import { words } from '@/words';
import './toasts.css';

interface Toast {
  id: number;
  text: string;
  bad: boolean;
  undo?: (() => void) | undefined;
}

type Show = (text: string, options?: { bad?: boolean; undo?: () => void }) => void;

const STAYS_MS = 5_000;
export const UNDO_MS = 10_000;
const ToastContext = createContext<Show>(() => {});

export const useToast = (): Show => useContext(ToastContext);

export function Toasts({ children }: { children: ReactNode }) {
  const [toasts, setToasts] = useState<Toast[]>([]);
  const next = useRef(1);
  const close = useCallback((id: number) => setToasts((all) => all.filter((toast) => toast.id !== id)), []);
  const show = useCallback<Show>(
    (text, { bad = false, undo } = {}) => {
      const id = next.current++;
      setToasts((all) => [...all.slice(-2), { id, text, bad, undo }]);
      setTimeout(() => close(id), undo ? UNDO_MS : STAYS_MS);
    },
    [close],
  );
  return (
    <ToastContext value={show}>
      {children}
      <div className="toasts" role="status">
        {toasts.map((toast) => (
          <div key={toast.id} className={toast.bad ? 'toast toast--bad' : 'toast'}>
            <span>{toast.text}</span>
            {toast.undo && (
              <button
                type="button"
                className="plain-button plain-button--line"
                onClick={() => {
                  toast.undo?.();
                  close(toast.id);
                }}
              >
                {words.undo}
              </button>
            )}
            <button type="button" className="plain-button" aria-label={words.close} onClick={() => close(toast.id)}>
              ✕
            </button>
          </div>
        ))}
      </div>
    </ToastContext>
  );
}
