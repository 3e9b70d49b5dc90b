/** The frame of a page: its title, what can be done, and its content, which scrolls. */
import type { ReactNode } from 'react';
import './page.css';

interface Props {
  title: ReactNode;
  actions?: ReactNode;
  children: ReactNode;
  /** The content lays itself out and scrolls by itself. */
  bare?: boolean;
}

export function Page({ title, actions, children, bare = false }: Props) {
  return (
    <div className="page">
      <header className="page__head">
        <h1>{title}</h1>
        <div className="page__actions">{actions}</div>
      </header>
      <div className={bare ? 'page__bare' : 'page__body'}>{children}</div>
    </div>
  );
}

export function Empty({ title, children }: { title: string; children?: ReactNode }) {
  return (
    <div className="empty">
      <h2>{title}</h2>
      {children}
    </div>
  );
}

export function ErrorNotice({ text }: { text: string }) {
  return (
    <p className="notice notice--bad" role="alert">
      {text}
    </p>
  );
}
