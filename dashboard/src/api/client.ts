/** Requests to the hub: the bearer is added here, refusals become `Refused`, a lost connection becomes `Unreachable`. */
import createClient from 'openapi-fetch';
import type { paths } from './schema';
import type { Problem } from './shapes';

export class Refused extends Error {
  readonly problem: Problem;
  constructor(problem: Problem) {
    super(problem.title);
    this.problem = problem;
  }
}

export class Unreachable extends Error {}

let bearer: string | null = null;
let onUnauthenticated: () => void = () => {};

export function setBearer(token: string | null): void {
  bearer = token;
}

export function whenUnauthenticated(act: () => void): void {
  onUnauthenticated = act;
}

const WAITS = 3;

/** `fetch` with the bearer. 429 is waited out as the hub says; 401 ends the session. */
export async function request(input: Request | string, init?: RequestInit): Promise<Response> {
  const made = new Request(input, init);
  for (let attempt = 0; ; attempt += 1) {
    const sent = made.clone();
    if (bearer) sent.headers.set('Authorization', `Bearer ${bearer}`);
    let answer: Response;
    try {
      answer = await fetch(sent);
    } catch (error) {
      if (sent.signal.aborted) throw error;
      throw new Unreachable(String(error));
    }
    if (answer.status === 401 && bearer) onUnauthenticated();
    if (answer.status !== 429 || attempt >= WAITS) return answer;
    const seconds = Number(answer.headers.get('Retry-After') ?? '1');
    await new Promise((resolve) => setTimeout(resolve, Math.min(10, seconds || 1) * 1000));
  }
}

export const typed = createClient<paths>({ baseUrl: '', fetch: (made) => request(made) });

async function problemOf(answer: Response): Promise<Problem> {
  try {
    return { status: answer.status, ...(await answer.json()) } as Problem;
  } catch {
    return { status: answer.status, title: `HTTP ${answer.status}` };
  }
}

/** For paths that are put together at run time; `typed` is for all others. */
export async function call<T>(
  method: string,
  path: string,
  body?: unknown,
  headers: Record<string, string> = {},
  more: Pick<RequestInit, 'keepalive'> = {},
): Promise<T> {
  const answer = await request(path, {
    ...more,
    method,
    headers: { ...(body === undefined ? {} : { 'Content-Type': 'application/json' }), ...headers },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  if (!answer.ok) throw new Refused(await problemOf(answer));
  if (answer.status === 204) return undefined as T;
  return (await answer.json()) as T;
}

export const get = <T>(path: string): Promise<T> => call<T>('GET', path);
export const at = (path: string, query: Record<string, string | number | boolean | undefined | null>): string => {
  const given = Object.entries(query).filter(([, value]) => value !== undefined && value !== null && value !== '');
  const text = new URLSearchParams(given.map(([name, value]) => [name, String(value)])).toString();
  return text ? `${path}?${text}` : path;
};
export const path = (...parts: string[]): string => `/api/${parts.map(encodeURIComponent).join('/')}`;

/** What to tell a person when something went wrong. */
export function errorText(error: unknown): string {
  if (error instanceof Refused) {
    const { title, detail } = error.problem;
    return detail ? `${title}. ${detail}` : title;
  }
  if (error instanceof Unreachable) return 'The hub cannot be reached. Nothing was changed.';
  return error instanceof Error ? error.message : String(error);
}
