/**
 * HTML in a message is shown as it was written. Dropping it would show `Vec<String>` as `Vec`, and a message of tags
 * alone as an empty bubble.
 */
interface Node {
  type: string;
  value?: string;
  children?: Node[];
}

/** Where whole blocks stand; everywhere else a text may stand as it is. */
const HOLDS_BLOCKS = new Set(['root', 'blockquote', 'listItem', 'footnoteDefinition']);

function written(node: Node, parent: Node): Node {
  if (node.type !== 'html') {
    if (node.children) node.children = node.children.map((child) => written(child, node));
    return node;
  }
  const text: Node = { type: 'text', value: node.value ?? '' };
  return HOLDS_BLOCKS.has(parent.type) ? { type: 'paragraph', children: [text] } : text;
}

/** A plugin of remark. */
export const htmlAsText = () => (tree: Node) => void written(tree, tree);
