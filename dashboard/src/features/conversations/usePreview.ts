/** Who would answer what is being written: asked of the hub, which decides it the same way when it is sent. */
import { useEffect, useState } from 'react';
import { call } from '@/api/client';
import type { Preview } from '@/api/shapes';
import { isCommand } from './completion';

const PAUSE_MS = 200;

export function usePreview(id: string, text: string): Preview | null {
  const [preview, setPreview] = useState<{ text: string; answer: Preview } | null>(null);
  const asked = text.trim();
  useEffect(() => {
    if (!asked || isCommand(asked)) {
      setPreview(null);
      return;
    }
    let current = true;
    const timer = setTimeout(async () => {
      try {
        const answer = await call<Preview>('POST', `/api/conversations/${encodeURIComponent(id)}/preview`, {
          text: asked,
        });
        if (current) setPreview({ text: asked, answer });
      } catch {
        if (current) setPreview(null);
      }
    }, PAUSE_MS);
    return () => {
      current = false;
      clearTimeout(timer);
    };
  }, [id, asked]);
  return asked && preview ? preview.answer : null;
}
