/**
 * Who is signed in, in this tab. A one-time code comes in the fragment and is gone from the address before anything
 * else happens; the token lives in sessionStorage; a new tab asks its siblings. Nothing else is ever read from an address.
 */
import { call, Refused, setBearer, whenUnauthenticated } from '@/api/client';

const TOKEN = 'moot.token';
const CHANNEL = 'moot-session';
const SIBLINGS_MS = 400;

type Word = { kind: 'ask' } | { kind: 'token'; token: string } | { kind: 'out' };

export type SignIn = { state: 'in' } | { state: 'out'; why: 'none' | 'code' | 'ended'; detail?: string };

/** Takes the code out of the address. The rest of the address stays. */
export function takeCode(): string | null {
  const found = /^#code=([A-Za-z0-9._~-]+)$/.exec(window.location.hash);
  if (window.location.hash) window.history.replaceState(null, '', window.location.pathname + window.location.search);
  return found?.[1] ?? null;
}

export class Session {
  private channel = new BroadcastChannel(CHANNEL);
  /** Takes the token of a sibling, for as long as this tab wants one. */
  private take: ((token: string) => void) | null = null;
  onEnd: (why: 'ended') => void = () => {};
  /** A sibling answered after this tab had given up on it: tabs that are not looked at may be slow. */
  onLate: () => void = () => {};

  constructor(private readonly shelf: Storage) {
    this.channel.onmessage = ({ data }: MessageEvent<Word>) => {
      const token = this.shelf.getItem(TOKEN);
      if (data.kind === 'ask' && token) this.channel.postMessage({ kind: 'token', token } satisfies Word);
      if (data.kind === 'token') this.take?.(data.token);
      if (data.kind === 'out' && token) this.end();
    };
    whenUnauthenticated(() => this.end());
  }

  async start(code: string | null): Promise<SignIn> {
    if (code) {
      try {
        const answer = await call<{ token: string }>('POST', '/api/sign-in', { code });
        this.keep(answer.token);
        return { state: 'in' };
      } catch (error) {
        if (!this.shelf.getItem(TOKEN) && !(await this.siblings())) {
          const detail = error instanceof Refused ? error.problem.title : undefined;
          return { state: 'out', why: 'code', ...(detail ? { detail } : {}) };
        }
      }
    }
    const token = this.shelf.getItem(TOKEN) ?? (await this.siblings());
    if (!token) return { state: 'out', why: 'none' };
    this.keep(token);
    return { state: 'in' };
  }

  async signOut(): Promise<void> {
    await call('POST', '/api/sign-out').catch(() => {});
    this.channel.postMessage({ kind: 'out' } satisfies Word);
    this.end();
  }

  private keep(token: string): void {
    this.shelf.setItem(TOKEN, token);
    setBearer(token);
  }

  private end(): void {
    this.take = null;
    setBearer(null);
    this.shelf.clear();
    this.onEnd('ended');
  }

  private siblings(): Promise<string | null> {
    return new Promise((resolve) => {
      const timer = setTimeout(() => {
        this.take = (token) => {
          this.take = null;
          this.keep(token);
          this.onLate();
        };
        resolve(null);
      }, SIBLINGS_MS);
      this.take = (token) => {
        this.take = null;
        clearTimeout(timer);
        resolve(token);
      };
      this.channel.postMessage({ kind: 'ask' } satisfies Word);
    });
  }
}
