/** What a person likes, kept in this browser. Mantine keeps the theme itself. */
const MOTION = 'moot.motion';
const LETTERS = 'moot.letters';
const DENSITY = 'moot.density';
const SIZE = 'moot.size';
const NOTICES = 'moot.notices';

export const MOTIONS = ['system', 'off'] as const;
export const DENSITIES = ['normal', 'compact'] as const;
export const SIZES = ['small', 'normal', 'large'] as const;
export type Motion = (typeof MOTIONS)[number];
export type Density = (typeof DENSITIES)[number];
export type Size = (typeof SIZES)[number];

const kept = <T extends string>(key: string, choices: readonly T[], usual: T): T => {
  const found = localStorage.getItem(key) as T | null;
  return found !== null && choices.includes(found) ? found : usual;
};

export const motion = (): Motion => kept(MOTION, MOTIONS, 'system');
export const density = (): Density => kept(DENSITY, DENSITIES, 'normal');
export const size = (): Size => kept(SIZE, SIZES, 'normal');

/** The style sheets read them off the root. */
export function applyPreferences(): void {
  Object.assign(document.documentElement.dataset, { motion: motion(), density: density(), size: size() });
}

function keep(key: string, choice: string): void {
  localStorage.setItem(key, choice);
  applyPreferences();
}

export const setMotion = (choice: Motion): void => keep(MOTION, choice);
export const setDensity = (choice: Density): void => keep(DENSITY, choice);
export const setSize = (choice: Size): void => keep(SIZE, choice);

export const stillness = (): boolean =>
  motion() === 'off' || window.matchMedia('(prefers-reduced-motion: reduce)').matches;

export const lettersOn = (): boolean => localStorage.getItem(LETTERS) !== 'off';

export const setLetters = (on: boolean): void => localStorage.setItem(LETTERS, on ? 'on' : 'off');

/** What the browser may notify of while the page is hidden: nothing, until somebody chooses. */
export const NOTICE_KINDS = ['needs', 'errors', 'mentions'] as const;
export type NoticeKind = (typeof NOTICE_KINDS)[number];

export function noticeKinds(): NoticeKind[] {
  const chosen = (localStorage.getItem(NOTICES) ?? '').split(' ');
  return NOTICE_KINDS.filter((kind) => chosen.includes(kind));
}

export const setNoticeKinds = (kinds: readonly NoticeKind[]): void => localStorage.setItem(NOTICES, kinds.join(' '));
