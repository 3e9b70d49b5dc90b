/**
 * Markdown of messages and notes: no raw HTML, sanitised, links that tell nobody, images only on request.
 * Split into blocks that are drawn once: while a reply streams in, only its last block is parsed again.
 */
import { memo, type ReactNode, useMemo, useState } from 'react';
import ReactMarkdown, { type Components } from 'react-markdown';
import rehypeSanitize, { defaultSchema } from 'rehype-sanitize';
import remarkGfm from 'remark-gfm';
import { words } from '@/words';
import { blocksOf } from './blocks';
import { htmlAsText } from './html';
import './markdown.css';

const REMARK = [remarkGfm, htmlAsText];
const SCHEMA = {
  ...defaultSchema,
  protocols: { ...defaultSchema.protocols, href: ['http', 'https', 'mailto'], src: ['http', 'https', 'data'] },
};
const REHYPE: [[typeof rehypeSanitize, typeof SCHEMA]] = [[rehypeSanitize, SCHEMA]];

function textOf(node: ReactNode): string {
  if (typeof node === 'string' || typeof node === 'number') return String(node);
  if (Array.isArray(node)) return node.map(textOf).join('');
  if (node && typeof node === 'object' && 'props' in node)
    return textOf((node.props as { children?: ReactNode }).children);
  return '';
}

function Code({ children }: { children?: ReactNode }) {
  const [copied, setCopied] = useState(false);
  const copy = async () => {
    await navigator.clipboard?.writeText(textOf(children));
    setCopied(true);
    setTimeout(() => setCopied(false), 1500);
  };
  return (
    <div className="markdown__code">
      <pre>{children}</pre>
      <button type="button" className="plain-button markdown__copy" onClick={copy} aria-label={words.chat.copyCode}>
        {copied ? words.copied : words.copy}
      </button>
    </div>
  );
}

/** A picture from elsewhere would tell its server who reads; a person decides, and the policy of the page has the last word. */
function Picture({ src, alt }: { src?: string | undefined; alt?: string | undefined }) {
  if (src?.startsWith('data:image/')) return <img src={src} alt={alt ?? ''} />;
  const host = src ? (URL.parse?.(src)?.host ?? src) : '';
  return (
    <a href={src} target="_blank" rel="noopener noreferrer nofollow" className="chip">
      {words.chat.image(host)} {alt ? `(${alt})` : ''}
    </a>
  );
}

const COMPONENTS: Components = {
  a: ({ href, children }) =>
    href ? (
      <a href={href} target="_blank" rel="noopener noreferrer nofollow">
        {children}
      </a>
    ) : (
      <span>{children}</span>
    ),
  img: ({ src, alt }) => <Picture src={typeof src === 'string' ? src : undefined} alt={alt} />,
  pre: ({ children }) => <Code>{children}</Code>,
  table: ({ children }) => (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keys
    <div className="table-scroll" tabIndex={0}>
      <table className="grid">{children}</table>
    </div>
  ),
  h1: ({ children }) => <p className="markdown__heading">{children}</p>,
  h2: ({ children }) => <p className="markdown__heading">{children}</p>,
  h3: ({ children }) => <p className="markdown__heading">{children}</p>,
  h4: ({ children }) => <p className="markdown__heading">{children}</p>,
  h5: ({ children }) => <p className="markdown__heading">{children}</p>,
  h6: ({ children }) => <p className="markdown__heading">{children}</p>,
  input: ({ checked }) => <span aria-hidden="true">{checked ? '☑' : '☐'} </span>,
};

const Block = memo(function Block({ text }: { text: string }) {
  return (
    <ReactMarkdown remarkPlugins={REMARK} rehypePlugins={REHYPE} components={COMPONENTS}>
      {text}
    </ReactMarkdown>
  );
});

export const Markdown = memo(function Markdown({ text }: { text: string }) {
  const blocks = useMemo(() => blocksOf(text), [text]);
  return (
    <div className="markdown">
      {blocks.map((block, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: blocks have no identity but their place
        <Block key={index} text={block} />
      ))}
    </div>
  );
});
