/** What a person likes, kept in this browser. Mantine keeps the theme itself. */
const MOTION = 'moot.motion';
const LETTERS = 'moot.letters';

export type Motion = 'system' | 'off';

export const motion = (): Motion => (localStorage.getItem(MOTION) === 'off' ? 'off' : 'system');

export function setMotion(choice: Motion): void {
  localStorage.setItem(MOTION, choice);
  applyMotion();
}

export function applyMotion(): void {
  document.documentElement.dataset.motion = motion();
}

export const stillness = (): boolean =>
  motion() === 'off' || window.matchMedia('(prefers-reduced-motion: reduce)').matches;

export const lettersOn = (): boolean => localStorage.getItem(LETTERS) !== 'off';

export const setLetters = (on: boolean): void => localStorage.setItem(LETTERS, on ? 'on' : 'off');
