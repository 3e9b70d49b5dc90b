/** Mantine, told to use our tokens. Colours are in tokens.css, and nowhere else. */
import { createTheme, type MantineColorsTuple } from '@mantine/core';

const blue: MantineColorsTuple = [
  '#e8effd',
  '#d0dffb',
  '#a8c3f7',
  '#7ba4f2',
  '#5b9dff',
  '#3b82f6',
  '#2563eb',
  '#2563eb',
  '#1d4ed8',
  '#1e40af',
];

export const theme = createTheme({
  primaryColor: 'moot',
  colors: { moot: blue },
  primaryShade: { light: 6, dark: 6 },
  defaultRadius: 'md',
  fontFamily: 'system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, "Noto Sans", sans-serif',
  fontFamilyMonospace: 'ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace',
  cursorType: 'pointer',
  respectReducedMotion: true,
});
