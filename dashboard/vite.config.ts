import { fileURLToPath } from 'node:url';
import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

// `MOOT_URL` is the hub that `npm run dev` shows; the hub accepts no other origin, so the proxy says it is the hub's own.
const hub = process.env.MOOT_URL ?? 'http://127.0.0.1:8420';

const proxy = { '/api': { target: hub, changeOrigin: true, headers: { origin: hub } } };

export default defineConfig({
  plugins: [react()],
  base: '/',
  html: { cspNonce: '__MOOT_NONCE__' },
  resolve: { alias: { '@': fileURLToPath(new URL('./src', import.meta.url)) } },
  build: {
    outDir: '../src/moot/_web',
    emptyOutDir: true,
    assetsDir: 'assets',
    target: 'es2022',
    cssCodeSplit: true,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    chunkSizeWarningLimit: 700,
  },
  server: { proxy },
  preview: { proxy },
  test: { environment: 'node', include: ['tests/**/*.test.ts', 'tests/**/*.test.tsx'] },
} as Parameters<typeof defineConfig>[0]);
