// Holds the sizes of the built page: what the first page loads, and all JavaScript together, compressed.
import { readdirSync, readFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';

const built = new URL('../../src/moot/_web/', import.meta.url);
const limits = { first: 180_000, all: 350_000 };
const size = (name) => gzipSync(readFileSync(new URL(name, built)), { level: 9 }).length;
const scripts = readdirSync(new URL('assets/', built)).filter((name) => name.endsWith('.js'));
const html = readFileSync(new URL('index.html', built), 'utf8');
const now = scripts.filter((name) => name.startsWith('NowPage'));
const first = [...html.matchAll(/assets\/[\w.-]+\.js/g)].map((found) => found[0]);
const sizes = {
  first: [...new Set([...first, ...now.map((name) => `assets/${name}`)])].reduce((sum, name) => sum + size(name), 0),
  all: scripts.reduce((sum, name) => sum + size(`assets/${name}`), 0),
};
console.log(JSON.stringify({ sizes, limits }));
process.exit(sizes.first > limits.first || sizes.all > limits.all ? 1 : 0);
