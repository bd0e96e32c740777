/** A document as a part of a page. */

import { type Block, readSpans, type Span } from '../../help/blocks.ts';
import { helpPath } from '../../help/chapters.ts';
import { ScrollArea } from '../../ui/components.tsx';
import { Command } from '../docs/topics.tsx';

interface Part {
  chapter: string;
}

export function Blocks({ blocks, chapter }: Part & { blocks: Block[] }) {
  return (
    <>
      {blocks.map((block, i) => (
        <OneBlock key={String(i)} block={block} chapter={chapter} />
      ))}
    </>
  );
}

function OneBlock({ block, chapter }: Part & { block: Block }) {
  if (block.kind === 'code') return <Command text={block.text} label="the example" />;
  if (block.kind === 'table') return <Table rows={block.rows} chapter={chapter} />;
  if (block.kind === 'list') {
    const List = block.isOrdered ? 'ol' : 'ul';
    return (
      <List>
        {block.items.map((item, i) => (
          <li key={String(i)}>
            <Blocks blocks={item} chapter={chapter} />
          </li>
        ))}
      </List>
    );
  }
  const text = <Text text={block.text} chapter={chapter} />;
  if (block.kind === 'paragraph') return <p>{text}</p>;
  const Heading = block.level === 2 ? 'h2' : 'h3';
  return <Heading id={block.id}>{text}</Heading>;
}

/** Some tables have no heads: the first row of their Markdown is empty. */
function Table({ rows: [head = [], ...rows], chapter }: Part & { rows: string[][] }) {
  return (
    <ScrollArea label="Table" class="table">
      <table>
        {head.some((cell) => cell !== '') && (
          <thead>
            <tr>
              {head.map((cell, i) => {
                const Cell = cell === '' ? 'td' : 'th';
                return (
                  <Cell key={String(i)}>
                    <Text text={cell} chapter={chapter} />
                  </Cell>
                );
              })}
            </tr>
          </thead>
        )}
        <tbody>
          {rows.map((row, i) => (
            <tr key={String(i)}>
              {row.map((cell, j) => (
                <td key={String(j)}>
                  <Text text={cell} chapter={chapter} />
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </ScrollArea>
  );
}

const Text = ({ text, chapter }: Part & { text: string }) => (
  <Spans spans={readSpans(text)} chapter={chapter} />
);

function Spans({ spans, chapter }: Part & { spans: Span[] }) {
  return (
    <>
      {spans.map((span, i) => (
        <OneSpan key={String(i)} span={span} chapter={chapter} />
      ))}
    </>
  );
}

function OneSpan({ span, chapter }: Part & { span: Span }) {
  if ('text' in span) return span.kind === 'code' ? <code>{span.text}</code> : span.text;
  const text = <Spans spans={span.children} chapter={chapter} />;
  if (span.kind !== 'link')
    return span.kind === 'strong' ? <strong>{text}</strong> : <em>{text}</em>;
  const path = helpPath(chapter, span.href);
  return path === null ? text : <a href={path}>{text}</a>;
}
