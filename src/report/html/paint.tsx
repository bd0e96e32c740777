/** Renders blocks as HTML with the classes of `styles.ts`: one function for each kind. None adds text. */

import { type ComponentChildren, type ComponentType, createContext, Fragment } from 'preact';
import { useContext } from 'preact/hooks';
import { formatTime, type TimeFormat } from '../../lib/format/times.ts';
import { Chevron, Copyable, Icon, ScrollArea, StateMark } from '../../ui/components.tsx';
import { levelClass, Steps } from '../../ui/level.tsx';
import type {
  AlignmentRow,
  Block,
  CategoryScores,
  Cell,
  Column,
  Entry,
  Finding,
  FindingGroup,
  Hop,
  Row,
  ScoreFigure,
  Span,
  Table,
  Text,
} from '../blocks.ts';
import { ChartImage } from './chart.tsx';
import { GlanceBox, InboxLists, PreviewPanes } from './preview.tsx';

type BlockOf<K extends Block['kind']> = Extract<Block, { kind: K }>;

/** Kinds that only terminals and emails use. */
type NotForPages = 'average' | 'bars' | 'grades' | 'lines' | 'rows' | 'tiles';

const COMPONENTS: {
  [K in Exclude<Block['kind'], NotForPages>]: (block: BlockOf<K>) => ComponentChildren;
} = {
  alignment: AlignmentTable,
  chart: ChartFigure,
  choice: ChoiceForm,
  entries: EntryList,
  facts: FactList,
  finding: FindingFold,
  findings: FindingList,
  fold: FoldBox,
  front: FrontPart,
  group: GroupBox,
  heading: HeadingBlock,
  inbox: InboxLists,
  list: ListBlock,
  note: NoteBox,
  overview: OverviewPart,
  paragraph: ParagraphBlock,
  part: FoldedPart,
  path: HopList,
  preview: PreviewBox,
  record: RecordBox,
  section: SectionPart,
  states: StateListBlock,
  table: TableBlock,
  verbatim: VerbatimBox,
  verdict: VerdictCard,
};

export const Blocks = ({ blocks }: { blocks: Block[] }) => <>{renderEach(blocks, paint)}</>;

function paint(block: Block): ComponentChildren {
  if (!(block.kind in COMPONENTS)) throw new Error(`A page cannot show ${block.kind}.`);
  const Component = COMPONENTS[block.kind as keyof typeof COMPONENTS] as ComponentType<Block>;
  return <Component {...block} />;
}

/** Keys are indexes: blocks have no ids, and a page is rendered once. */
const renderEach = <T,>(items: T[], render: (item: T, index: number) => ComponentChildren) =>
  items.map((item, index) => <Fragment key={`${index}`}>{render(item, index)}</Fragment>);

// The context of a report on its page: alone, or one of many with its own anchors and heading ranks.

interface ReportContext {
  /** Precedes every anchor, so that anchors are unique on the page. */
  prefix: string;
  /** Added to the rank of each heading; 0 for a single report. */
  depth: number;
}

const CurrentReport = createContext<ReportContext>({ prefix: '', depth: 0 });

/** Makes an anchor of the report unique on the page. */
function useAnchor(): (name: string) => string {
  const { prefix } = useContext(CurrentReport);
  return (name) => prefix + name;
}

/** The `aria-labelledby` that makes a section a landmark; none on a page with many reports, where landmarks would repeat. */
function useLandmark(): (id: string) => string | undefined {
  const { depth } = useContext(CurrentReport);
  return (id) => (depth === 0 ? id : undefined);
}

interface HeadingProps {
  /** The rank in a single report. It determines the style; `depth` changes only the level. */
  rank: 1 | 2 | 3 | 4;
  id?: string;
  children: ComponentChildren;
}

function Heading({ rank, id, children }: HeadingProps) {
  const { depth } = useContext(CurrentReport);
  const Tag = `h${rank}` as const;
  return (
    <Tag id={id} aria-level={depth > 0 ? rank + depth : undefined}>
      {children}
    </Tag>
  );
}

// Inline text.

/** Set if the reader has chosen how to see times. Otherwise, they are in UTC, as documents have them. */
export const Times = createContext<TimeFormat | null>(null);

function Time({ iso, text }: { iso: string; text: string }) {
  const format = useContext(Times);
  return <time dateTime={iso}>{format ? formatTime(iso, format) : text}</time>;
}

export function InlineText({ text }: { text: Text }) {
  return (
    <>
      {renderEach(text, (span) => (typeof span === 'string' ? span : <InlineSpan span={span} />))}
    </>
  );
}

function InlineSpan({ span }: { span: Span }) {
  const anchor = useAnchor();
  switch (span.kind) {
    case 'text':
      if (span.style === 'strong') return <strong>{span.text}</strong>;
      return <span class={span.style}>{span.text}</span>;
    case 'code':
      return <code>{span.text}</code>;
    case 'name':
      return <bdi>{span.text}</bdi>;
    case 'time':
      return <Time {...span} />;
    case 'jump':
      return (
        <a href={`#${anchor(span.to)}`}>
          <bdi>{span.text}</bdi>
        </a>
      );
    case 'form':
      return <a href={span.query}>{span.text}</a>;
    case 'state':
      return <StateMark {...span} />;
    case 'link':
      return (
        <a href={span.url} rel="noreferrer noopener" target="_blank">
          {span.text}
        </a>
      );
  }
}

const Line = ({ text, class: className }: { text: Text; class?: string }) => (
  <p class={className}>
    <InlineText text={text} />
  </p>
);

function ParagraphBlock({ text, style, screenOnly }: BlockOf<'paragraph'>) {
  const classes = [style && PARAGRAPHS[style], screenOnly && 'screen-only'];
  return <Line text={text} class={classes.filter(Boolean).join(' ') || undefined} />;
}

const PARAGRAPHS = { small: 'small muted', card: 'card padded muted', lead: 'share-title' };

function HeadingBlock({ rank, text, id }: BlockOf<'heading'>) {
  const anchor = useAnchor();
  return (
    <Heading rank={rank} id={id && anchor(id)}>
      <InlineText text={text} />
    </Heading>
  );
}

function NoteBox({ state, text }: BlockOf<'note'>) {
  return (
    <p class={`cap ${state}`}>
      <Icon state={state} />
      <span>
        <InlineText text={text} />
      </span>
    </p>
  );
}

/** A link to a part of the page, for readers who want to copy it. The mark `#` needs the name of the part. */
function AnchorLink({ to, ...props }: { to: string } & ({ name: string } | { text: string })) {
  return 'text' in props ? (
    <a class="anchor" href={`#${to}`}>
      {props.text}
    </a>
  ) : (
    <a class="anchor screen-only" href={`#${to}`} aria-label={`# Link to ${props.name}`}>
      #
    </a>
  );
}

// Containers: sections, whole reports among many, groups, folds.

function SectionPart({ id, title, note, fold, blocks }: BlockOf<'section'>) {
  const anchor = useAnchor();
  const landmark = useLandmark();
  const heading = anchor(`${id}-title`);
  const named = (
    <Heading rank={2} id={heading}>
      {title}
    </Heading>
  );
  const link = <AnchorLink to={anchor(id)} name={title} />;
  const content = (
    <>
      {note && <Line text={note} class="note muted" />}
      <div class="stack">
        <Blocks blocks={blocks} />
      </div>
    </>
  );
  if (!fold)
    return (
      <section id={anchor(id)} class="section" aria-labelledby={landmark(heading)}>
        <div class="linked-heading">
          {named}
          {link}
        </div>
        {content}
      </section>
    );
  // The link is beside the summary: a control in another one is hard to reach.
  return (
    <section class="section folded" aria-labelledby={landmark(heading)}>
      <details class="card fold" id={anchor(id)} open={fold.open}>
        <summary>
          <Chevron />
          {fold.state && (
            <span class={`tone ${fold.state}`}>
              <Icon state={fold.state} />
            </span>
          )}
          {named}
          {fold.count && <span class="muted small">{fold.count}</span>}
        </summary>
        <div class="fold-body">{content}</div>
      </details>
      {link}
    </section>
  );
}

/** The verdict and the first fixes, with the message and the facts of the test beside them: below, if there is room. */
function FrontPart({ verdict, blocks, glance }: BlockOf<'front'>) {
  const { categories, facts, ...rest } = verdict;
  const about = (
    <div class="card about">
      {categories && <CategoryList {...categories} />}
      {facts && <FactList {...facts} />}
    </div>
  );
  const isShort = glance !== null && !blocks.some(({ kind }) => kind === 'section');
  return (
    <div class="front">
      <div class="front-main">
        <VerdictCard {...rest} categories={null} facts={null} />
        <Blocks blocks={blocks} />
        {isShort && about}
      </div>
      <div class="front-beside">
        {glance && <GlanceBox {...glance} more={<InlineText text={glance.more} />} />}
        {!isShort && about}
      </div>
    </div>
  );
}

/** Headings and paragraphs come first, as one header. */
function OverviewPart({ id, title, above, blocks }: BlockOf<'overview'>) {
  const isHeaderBlock = ({ kind }: Block) => kind === 'heading' || kind === 'paragraph';
  const heading = `${id}-title`;
  const Tag = title === null ? 'div' : 'section';
  return (
    <Tag id={id} aria-labelledby={title === null ? undefined : heading}>
      <div class="share-head">
        {above && <p class="small muted">{above}</p>}
        {renderEach(blocks.filter(isHeaderBlock), (block) =>
          block.kind === 'heading' ? (
            <Heading rank={block.rank} id={heading}>
              <InlineText text={block.text} />
            </Heading>
          ) : (
            paint(block)
          ),
        )}
      </div>
      <Blocks blocks={blocks.filter((block) => !isHeaderBlock(block))} />
    </Tag>
  );
}

/** The headings of the page and of the part are above those of the report. */
const PART_DEPTH = 2;

/** The anchor is inside the fold: browsers open the fold when they follow a link into it. */
function FoldedPart({ id, title, subtitle, score, blocks, back }: BlockOf<'part'>) {
  return (
    <details class="shared-test">
      <summary class="card">
        <Chevron />
        <span class="small-ring">
          <Ring {...score} />
        </span>
        <h2>
          <InlineText text={title} />
        </h2>
        {subtitle && <span class="muted small from-domain">{subtitle}</span>}
        <GradeBadge {...score} />
      </summary>
      <div id={id} class="shared-test-report">
        <CurrentReport.Provider value={{ prefix: `${id}-`, depth: PART_DEPTH }}>
          <Blocks blocks={blocks} />
        </CurrentReport.Provider>
        <p class="small back screen-only">
          <a href={`#${back.to}`}>{back.text}</a>
        </p>
      </div>
    </details>
  );
}

function GroupBox({ name, title, blocks }: BlockOf<'group'>) {
  return (
    <div class={name === 'fix' ? 'block fix' : 'block'}>
      {title && <Heading rank={4}>{title}</Heading>}
      <Blocks blocks={blocks} />
    </div>
  );
}

function FoldBox({ id, title, state, count, open, style, blocks }: BlockOf<'fold'>) {
  const anchor = useAnchor();
  const isCard = style === 'card';
  const label = state ? <StateMark state={state} word={title} /> : title;
  return (
    <details class={isCard ? 'card fold' : 'plain'} id={id && anchor(id)} open={open}>
      <summary>
        {isCard && <Chevron />}
        {isCard && state && (
          <span class={`tone ${state}`}>
            <Icon state={state} />
          </span>
        )}
        {isCard ? <Heading rank={3}>{title}</Heading> : label}
        {count && <span class="muted small">{count}</span>}
        {!isCard && <Chevron />}
      </summary>
      <div class={isCard ? 'fold-body' : undefined}>
        <Blocks blocks={blocks} />
        {id && <FoldLink to={anchor(id)} />}
      </div>
    </details>
  );
}

const FoldLink = ({ to }: { to: string }) => (
  <p class="small screen-only">
    <AnchorLink to={to} text="Link to this part" />
  </p>
);

// The verdict, with the score as a ring.

function VerdictCard({
  id,
  above,
  score,
  testedName,
  title,
  lines,
  unknown,
  ...props
}: BlockOf<'verdict'>) {
  const anchor = useAnchor();
  const landmark = useLandmark();
  const heading = anchor(`${id}-title`);
  return (
    <section class="card verdict" aria-labelledby={landmark(heading)}>
      <Ring {...score} />
      <div class="verdict-text">
        {above && <p class="small muted">{above}</p>}
        <Heading rank={1} id={heading}>
          <InlineText text={title} />
        </Heading>
        {testedName && <p class="small muted">{testedName}</p>}
        {renderEach(lines, (text) => (
          <Line text={text} />
        ))}
        {renderEach([...(unknown ? [unknown] : []), ...props.remarks], (text) => (
          <Line text={text} class="small muted" />
        ))}
      </div>
      {props.states && <StateListBlock {...props.states} />}
      {props.categories && <CategoryList {...props.categories} />}
      {props.facts && <FactList {...props.facts} class="test-facts" />}
    </section>
  );
}

function CategoryList({ label, jump, items }: CategoryScores) {
  const anchor = useAnchor();
  return (
    <ul class="category-scores" aria-label={label}>
      {renderEach(items, ({ name, share, value }) => (
        <li>
          <a href={`#${anchor(jump)}`}>{name}</a>
          {share !== null && <ShareBar share={share} />}
          <span class={`number ${levelClass(share && share * 100)}`}>{value}</span>
        </li>
      ))}
    </ul>
  );
}

/** An empty track if the share is unknown. */
function ShareBar({ share }: { share: number | null }) {
  return (
    <svg
      class={`share-bar ${levelClass(share && share * 100)}`}
      viewBox="0 0 100 8"
      preserveAspectRatio="none"
      aria-hidden="true"
    >
      <rect class="track" width="100" height="8" />
      {share !== null && <rect class="fill" width={Math.floor(share * 100)} height="8" />}
    </svg>
  );
}

const RING_SIZE = 128;
const CENTER = RING_SIZE / 2;
const RADIUS = 56;
const CIRCUMFERENCE = 2 * Math.PI * RADIUS;

/** The strong arc shows the score, the pale arc the score without the cap. */
function Ring({ score, uncapped, number, letter, alt }: ScoreFigure) {
  const isKnown = score !== null;
  return (
    <svg
      class={`ring ${levelClass(score)}`}
      viewBox={`0 0 ${RING_SIZE} ${RING_SIZE}`}
      role="img"
      aria-label={alt}
    >
      <circle class={isKnown ? 'track' : 'track empty'} cx={CENTER} cy={CENTER} r={RADIUS} />
      {uncapped !== null && <Arc name="uncapped" share={uncapped / 100} />}
      {isKnown && <Arc name="arc" share={score / 100} />}
      <text class="score" x={CENTER} y={isKnown ? 67 : 70}>
        {number}
      </text>
      {letter && (
        <text class="grade" x={CENTER} y="88">
          {letter}
        </text>
      )}
    </svg>
  );
}

function Arc({ name, share }: { name: string; share: number }) {
  if (share <= 0) return null;
  const length = Math.min(1, share) * CIRCUMFERENCE;
  return (
    <circle
      class={name}
      cx={CENTER}
      cy={CENTER}
      r={RADIUS}
      stroke-dasharray={`${length.toFixed(1)} ${CIRCUMFERENCE.toFixed(1)}`}
      transform={`rotate(-90 ${CENTER} ${CENTER})`}
    />
  );
}

/** Hidden from screen readers, because the label of the ring beside it says the same. */
function GradeBadge({ score, badge }: ScoreFigure) {
  return (
    <span class={`state badge grade-badge ${levelClass(score)}`} aria-hidden="true">
      {score !== null && <Steps percent={score} />}
      {badge}
    </span>
  );
}

function StateListBlock({ label, items }: BlockOf<'states'>) {
  const anchor = useAnchor();
  return (
    <ul class="auth" aria-label={label}>
      {renderEach(items, ({ name, state, jump }) => (
        <li>
          {jump ? <a href={`#${anchor(jump)}`}>{name}</a> : <span>{name}</span>}{' '}
          <StateMark {...state} />
        </li>
      ))}
    </ul>
  );
}

// Findings: each is a summary line that expands to show its groups.

function FindingList({ groups }: BlockOf<'findings'>) {
  return (
    <>
      {renderEach(groups, (group) => (
        <FindingGroupBox {...group} />
      ))}
    </>
  );
}

function FindingGroupBox({ title, findings }: FindingGroup) {
  return (
    <div class="finding-group">
      {title && <p class="group-title">{title}</p>}
      <div class="card findings">
        <Blocks blocks={findings} />
      </div>
    </div>
  );
}

function FindingFold(finding: Finding) {
  const anchor = useAnchor();
  if (finding.more !== null) return <FirstFinding {...finding} />;
  const { id, groups } = finding;
  return (
    <details class="finding" id={anchor(id)}>
      <summary>
        <Chevron />
        <FindingHead {...finding} />
      </summary>
      <div class="finding-body">
        <Blocks blocks={groups} />
        <FoldLink to={anchor(id)} />
      </div>
    </details>
  );
}

/** The fix is visible; evidence and reason are folded. */
function FirstFinding(finding: Finding) {
  const anchor = useAnchor();
  const { id, groups, more } = finding;
  const [fix, others] = [true, false].map((isFix) =>
    groups.filter(({ name }) => (name === 'fix') === isFix),
  );
  return (
    <article class="finding first-finding" id={anchor(id)}>
      <div class="first-head">
        <FindingHead {...finding} />
      </div>
      <div class="first-fix">
        <Blocks blocks={fix!} />
      </div>
      <details class="plain">
        <summary class="small">
          <Chevron /> {more}
        </summary>
        <div class="finding-body">
          <Blocks blocks={others!} />
          <FoldLink to={anchor(id)} />
        </div>
      </details>
    </article>
  );
}

function FindingHead({ gain, title, context }: Finding) {
  return (
    <>
      {gain && (
        <span class={gain.points > 0 ? 'gain number' : 'gain number none'}>
          {gain.text}
          <span class="visually-hidden">{gain.spoken}</span>
        </span>
      )}
      <Heading rank={3}>
        <InlineText text={title} />
      </Heading>
      {context && (
        <span class="where">
          <span>{context.label}</span>
          <StateMark {...context.state} />
        </span>
      )}
    </>
  );
}

function RecordBox({ type, name, value }: BlockOf<'record'>) {
  return (
    <dl class="record">
      <div>
        <dt>{type.label}</dt>
        <dd>
          <code>{type.value}</code>
        </dd>
      </div>
      {renderEach([name, value], ({ label, value: text }) => (
        <div>
          <dt>{label}</dt>
          <dd>
            <Copyable text={text} label={label.toLowerCase()} />
          </dd>
        </div>
      ))}
    </dl>
  );
}

// Facts, lists, tables.

function FactList({ rows, style, class: className }: BlockOf<'facts'> & { class?: string }) {
  return (
    <dl class={['facts', style, className].filter(Boolean).join(' ')}>
      {renderEach(rows, ({ name, value, blocks = [] }) => (
        <div>
          <dt>
            <InlineText text={name} />
          </dt>
          <dd>
            <InlineText text={value} />
            <Blocks blocks={blocks} />
          </dd>
        </div>
      ))}
    </dl>
  );
}

function ListBlock({ isOrdered, items }: BlockOf<'list'>) {
  const Tag = isOrdered ? 'ol' : 'ul';
  return (
    <Tag class="values">
      {renderEach(items, ({ text, blocks = [] }) => (
        <li class={isOrdered ? 'nested' : undefined}>
          <InlineText text={text} />
          <Blocks blocks={blocks} />
        </li>
      ))}
    </Tag>
  );
}

/** Tables directly in a section are cards; the others are inside another block. */
const CARD_TABLES = ['ledger', 'placement', 'rules', 'tests', 'domains'];

function TableBlock({ name, label, columns, groups, foot }: Table) {
  const isCard = CARD_TABLES.includes(name);
  const table = (
    <table class={isCard ? name : 'compact'}>
      <thead>
        <tr>
          {renderEach(columns, ({ title, isNumber }) => (
            <th scope="col" class={isNumber ? 'number' : undefined}>
              {title}
            </th>
          ))}
        </tr>
      </thead>
      {renderEach(groups, ({ title, rows }) => (
        <tbody>
          {title && (
            <tr class="group">
              <th scope="rowgroup" colSpan={columns.length}>
                {title}
              </th>
            </tr>
          )}
          <Rows rows={rows} columns={columns} name={name} />
        </tbody>
      ))}
      {foot.length > 0 && (
        <tfoot>
          <Rows rows={foot} columns={columns} name={name} />
        </tfoot>
      )}
    </table>
  );
  // CSS turns it into a list on narrow screens, so it never scrolls.
  if (name === 'tests' || name === 'domains') return <div class="card">{table}</div>;
  return (
    <ScrollArea class={isCard ? 'card' : undefined} label={label}>
      {table}
    </ScrollArea>
  );
}

interface RowsProps extends Pick<Table, 'name' | 'columns'> {
  rows: Row[];
}

const Rows = ({ rows, columns, name }: RowsProps) => (
  <>
    {renderEach(rows, ({ cells, state, style }) => (
      <tr class={style ?? state}>
        {renderEach(cells, (cell, index) => (
          <TableCell
            cell={cell}
            column={columns[columnIndex(cells, index)]}
            isNamed={name === 'rules'}
            isHeading={name === 'tests' ? cell.text.some(isInternalLink) : index === 0}
            isMetered={name === 'ledger' && Boolean(cell.meter ?? cell.below)}
            isToned={state !== undefined}
          />
        ))}
      </tr>
    ))}
  </>
);

/** The column in which a cell begins, counting the spans of the cells before it. */
const columnIndex = (cells: Cell[], index: number): number =>
  cells.slice(0, index).reduce((sum, { span = 1 }) => sum + span, 0);

const isInternalLink = (span: string | Span): boolean =>
  typeof span !== 'string' && span.kind === 'jump';

interface CellProps {
  cell: Cell;
  column: Column | undefined;
  isHeading: boolean;
  isMetered: boolean;
  /** Shown in the color of its row's state. */
  isToned: boolean;
  /** On a narrow screen, the name of its column is shown before it. */
  isNamed: boolean;
}

function TableCell({ cell, column, isHeading, isMetered, isToned, isNamed }: CellProps) {
  const { text, blocks = [], below, score, span } = cell;
  if (score)
    return (
      <td class="scored">
        <span class="small-ring">
          <Ring {...score} />
        </span>
        <GradeBadge {...score} />
      </td>
    );
  const inlineText = <InlineText text={text} />;
  const content = isMetered ? (
    <Metered {...cell} />
  ) : (
    <>
      {isToned ? <span class="tone">{inlineText}</span> : inlineText}
      <Blocks blocks={blocks} />
      {below && (
        <div class="muted">
          <InlineText text={below} />
        </div>
      )}
    </>
  );
  const className = column?.isNumber
    ? 'number'
    : column?.style === 'small'
      ? 'time-cell muted'
      : undefined;
  return isHeading ? (
    <th scope="row" colSpan={span}>
      {content}
    </th>
  ) : (
    <td class={className} colSpan={span} data-column={isNamed ? column?.title : undefined}>
      {content}
    </td>
  );
}

/** The name with a bar beside it, or with the text that replaces the bar. */
function Metered({ text, meter, below }: Cell) {
  return (
    <span class="meter">
      <span>
        <InlineText text={text} />
      </span>
      {meter && <ShareBar share={meter.share} />}
      {meter && <span class="number">{meter.words}</span>}
      {below && (
        <span>
          <InlineText text={below} />
        </span>
      )}
    </span>
  );
}

/** A table or a sentence beside it gives the same values as text. */
function ChartFigure({ id, title, chart, caption }: BlockOf<'chart'>) {
  const anchor = useAnchor();
  return (
    <figure class="card scores">
      {title && <figcaption>{title}</figcaption>}
      <ChartImage chart={chart} id={anchor(id)} />
      {caption && <p class="small muted">{caption}</p>}
    </figure>
  );
}

function EntryList({ items }: BlockOf<'entries'>) {
  return (
    <ul class="entries">
      {renderEach(items, (entry) => (
        <EntryItem {...entry} />
      ))}
    </ul>
  );
}

function EntryItem({ id, state, label, title, lines, figure, more }: Entry) {
  const anchor = useAnchor();
  return (
    <li id={id === null ? undefined : anchor(id)}>
      <div class="entry-head">
        <StateMark {...state} />
        {label && <span class="muted small">{label}</span>}
        {figure && <span class="number small">{figure}</span>}
      </div>
      <p>
        <strong>
          <InlineText text={title} />
        </strong>
      </p>
      {renderEach(lines, (text) => (
        <Line text={text} class="small" />
      ))}
      {more && (
        <details class="plain">
          <summary class="small">
            <Chevron /> {more.title}
          </summary>
          <div class="plain-inner">
            <Blocks blocks={more.blocks} />
          </div>
        </details>
      )}
    </li>
  );
}

// Authentication: a row for each mechanism, comparing the domain it authenticates with the From domain.

function AlignmentTable({ columns, fromDomain, rows, outcome }: BlockOf<'alignment'>) {
  return (
    <div class="card">
      <table class="identifiers">
        <thead>
          <tr>
            {renderEach([columns.mechanism, columns.result, columns.lane], (title) => (
              <th scope="col">{title}</th>
            ))}
          </tr>
        </thead>
        <tbody>
          {renderEach(rows, (row) => (
            <tr>
              <th scope="row">{row.mechanism}</th>
              <td>
                <StateMark {...row.result} />
              </td>
              <td>
                <DomainComparison {...row} fromDomain={fromDomain} />
                {row.notes !== '' && <p class="small muted">{row.notes}</p>}
              </td>
            </tr>
          ))}
          <tr class="outcome">
            <th scope="row">{outcome.mechanism}</th>
            <td>
              <StateMark {...outcome.result} />
            </td>
            <td>
              <InlineText text={outcome.domain} />
              <Line text={outcome.below} class="small muted" />
            </td>
          </tr>
        </tbody>
      </table>
    </div>
  );
}

type ComparisonProps = Pick<AlignmentRow, 'alignment' | 'domain' | 'noDomainText'> & {
  fromDomain: string | null;
};

function DomainComparison({ domain, noDomainText, alignment, fromDomain }: ComparisonProps) {
  if (domain === null) return <span class="muted">{noDomainText}</span>;
  if (alignment === null || fromDomain === null) return <code>{domain}</code>;
  return (
    <div class={`comparison ${alignment.state}`}>
      <code>{domain}</code>
      <span class="alignment">
        <StateMark state={alignment.state} word={alignment.word} />
      </span>
      <code>{fromDomain}</code>
    </div>
  );
}

// The delivery path and the message itself.

function HopList({ hops, session }: BlockOf<'path'>) {
  return (
    <ol class="card hops">
      {renderEach(hops, (hop, index) => (
        <HopItem {...hop}>
          {index === hops.length - 1 && session && <FactList {...session} />}
        </HopItem>
      ))}
    </ol>
  );
}

function HopItem({ server, time, via, delay, children }: Hop & { children: ComponentChildren }) {
  return (
    <li>
      <div>
        <InlineText text={server} />
        {time && (
          <span class="muted small">
            {' '}
            <InlineText text={time} />
          </span>
        )}
      </div>
      {delay && (
        <span class="muted small">
          {delay.label && `${delay.label} `}
          <InlineText text={delay.value} />
        </span>
      )}
      {via && (
        <div class="muted small">
          <InlineText text={via} />
        </div>
      )}
      {children}
    </li>
  );
}

/** In characters; longer text is truncated in print. */
const MAX_PRINTED_LENGTH = 6000;

function VerbatimBox({ label, lines, style, truncationNote }: BlockOf<'verbatim'>) {
  const text = lines.join('\n');
  if (style === 'box') return <pre class="box">{text}</pre>;
  return (
    <ScrollArea class="box long" label={label}>
      <pre>
        {text.slice(0, MAX_PRINTED_LENGTH)}
        {text.length > MAX_PRINTED_LENGTH && (
          <>
            <span class="screen-only">{text.slice(MAX_PRINTED_LENGTH)}</span>
            <span class="print-only">{truncationNote}</span>
          </>
        )}
      </pre>
    </ScrollArea>
  );
}

function ChoiceForm({ action, field, text, options }: BlockOf<'choice'>) {
  return (
    <form class="choice" method="post" action={action}>
      <p>
        <InlineText text={text} />
      </p>
      {options.map(({ value, label }) => (
        <button key={value} type="submit" class="button" name={field} value={value}>
          {label}
        </button>
      ))}
    </form>
  );
}

/** Radio buttons of one page share a name only within a preview. */
function PreviewBox(block: BlockOf<'preview'>) {
  const anchor = useAnchor();
  return (
    <PreviewPanes
      {...block}
      name={anchor('preview')}
      paint={(blocks) => <Blocks blocks={blocks} />}
    />
  );
}
