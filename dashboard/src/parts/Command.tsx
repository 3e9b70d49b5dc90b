/** A command for the terminal, to be copied. */
import { useState } from 'react';
import { words } from '@/words';
import './command.css';

export function Command({ text }: { text: string }) {
  const [copied, setCopied] = useState(false);
  const copy = async () => {
    await navigator.clipboard?.writeText(text);
    setCopied(true);
    setTimeout(() => setCopied(false), 1500);
  };
  return (
    <span className="command">
      <code>{text}</code>
      <button type="button" className="plain-button" onClick={copy} aria-label={`${words.copy}: ${text}`}>
        {copied ? words.copied : words.copy}
      </button>
    </span>
  );
}
