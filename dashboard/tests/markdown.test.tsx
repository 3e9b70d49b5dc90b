import { renderToStaticMarkup } from 'react-dom/server';
import { expect, test } from 'vitest';
import { Markdown } from '@/parts/Markdown';

const drawn = (text: string): string => renderToStaticMarkup(<Markdown text={text} />);

test('what looks like HTML is shown as it was written', () => {
  expect(drawn('use Vec<String> here')).toContain('use Vec&lt;String&gt; here');
  expect(drawn('<img src=x onerror=alert(1)>')).toContain('&lt;img src=x onerror=alert(1)&gt;');
  expect(drawn('> <b>quoted</b>')).toContain('&lt;b&gt;quoted&lt;/b&gt;');
  expect(drawn('| a |\n|---|\n| <i>x</i> |')).toContain('&lt;i&gt;x&lt;/i&gt;');
});

test('no element of it exists', () => {
  for (const hostile of ['<script>x</script>', '<iframe src=x></iframe>', '<svg onload=x>', '<!-- a -->'])
    expect(drawn(hostile)).not.toMatch(/<(script|iframe|svg|!--)/);
});

test('links lead to the web and to mail alone', () => {
  expect(drawn('[a](javascript:x) [b](https://b.example) [c](data:text/html,x)')).toMatch(
    /href="https:\/\/b\.example"/,
  );
  expect(drawn('[a](javascript:x) [c](data:text/html,x) [d](vbscript:x)')).not.toContain('href');
});
