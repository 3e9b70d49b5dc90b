/** Times, as people read them. */
const clock = new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' });
const exact = new Intl.DateTimeFormat(undefined, {
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
  hourCycle: 'h23',
});
const day = new Intl.DateTimeFormat(undefined, { weekday: 'long', day: 'numeric', month: 'long' });
const full = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium', hourCycle: 'h23' });

export const clockTime = (at: string | null | undefined): string => (at ? clock.format(new Date(at)) : '');
export const exactTime = (at: string | null | undefined): string => (at ? exact.format(new Date(at)) : '');
export const dayOf = (at: string): string => day.format(new Date(at));
export const fullTime = (at: string | null | undefined): string => (at ? full.format(new Date(at)) : '');
export const sameDay = (a: string, b: string): boolean => new Date(a).toDateString() === new Date(b).toDateString();

export function elapsed(since: string | null | undefined, now: number): string {
  if (!since) return '';
  const seconds = Math.max(0, Math.round((now - Date.parse(since)) / 1000));
  if (seconds < 60) return `${seconds}s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min`;
  if (seconds < 86400) return `${Math.floor(seconds / 3600)} h`;
  return `${Math.floor(seconds / 86400)} d`;
}

export const ago = (since: string | null | undefined, now: number): string =>
  since ? `${elapsed(since, now)} ago` : '';
