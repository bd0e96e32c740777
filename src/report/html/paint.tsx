/** Paints blocks as HTML: one function for each kind, each with the classes of `styles.ts`, none with words of its own. */

import { type ComponentChildren, type ComponentType, createContext, Fragment } from 'preact';
import { useContext } from 'preact/hooks';
import type {
  AlignmentRow,
  Block,
  Cell,
  Column,
  Entry,
  Finding,
  Hop,
  Row,
  ScoreFigure,
  Span,
  Table,
  Text,
} from '../blocks.ts';
import { chartSvg } from '../charts.ts';
import { Chevron, Copyable, Icon, Scroll, StateMark } from './components.tsx';
import { messageDocument } from './message-frame.ts';

type Of<K extends Block['kind']> = Extract<Block, { kind: K }>;

/** For terminals and e-mails alone. */
type NotForPages = 'average' | 'bars' | 'grades' | 'lines' | 'rows' | 'tiles';

const KINDS: { [K in Exclude<Block['kind'], NotForPages>]: (block: Of<K>) => ComponentChildren } = {
  alignment: AlignmentTable,
  card: CardBox,
  chart: ChartFigure,
  entries: EntryList,
  facts: FactList,
  finding: FindingFold,
  findings: FindingList,
  fold: FoldBox,
  frame: MessageFrame,
  group: GroupBox,
  heading: HeadingBlock,
  list: ListOf,
  note: NoteBox,
  overview: OverviewPart,
  paragraph: ParagraphOf,
  part: FoldedPart,
  path: HopList,
  record: RecordBox,
  section: SectionPart,
  states: States,
  table: TableOf,
  verbatim: VerbatimBox,
  verdict: VerdictCard,
};

export const Blocks = ({ of }: { of: Block[] }) => <>{each(of, paint)}</>;

function paint(block: Block): ComponentChildren {
  if (!(block.kind in KINDS)) throw new Error(`A page cannot show ${block.kind}.`);
  const Kind = KINDS[block.kind as keyof typeof KINDS] as ComponentType<Block>;
  return <Kind {...block} />;
}

/** By their place: what is in documents has no names, and pages are painted once. */
const each = <T,>(items: T[], painted: (item: T, index: number) => ComponentChildren) =>
  items.map((item, index) => <Fragment key={`${index}`}>{painted(item, index)}</Fragment>);

// Where on a page a report stands: alone, or as one of many, with anchors and headings of its own.

interface Place {
  /** Before every anchor, so that none is there twice. */
  prefix: string;
  /** By how much its headings stand below those of a report alone. */
  depth: number;
}

const PlaceOnPage = createContext<Place>({ prefix: '', depth: 0 });

/** What makes an anchor of a report one of the page. */
function useAnchor(): (name: string) => string {
  const { prefix } = useContext(PlaceOnPage);
  return (name) => prefix + name;
}

/** The heading that names a part as a landmark: of many reports alike, each with the same, none is one. */
function useLandmark(): (id: string) => string | undefined {
  const { depth } = useContext(PlaceOnPage);
  return (id) => (depth === 0 ? id : undefined);
}

interface HeadingProps {
  /** As in a report alone; it looks like that everywhere. */
  rank: 1 | 2 | 3 | 4;
  id?: string;
  children: ComponentChildren;
}

function Heading({ rank, id, children }: HeadingProps) {
  const { depth } = useContext(PlaceOnPage);
  const Tag = `h${rank}` as const;
  return (
    <Tag id={id} aria-level={depth > 0 ? rank + depth : undefined}>
      {children}
    </Tag>
  );
}

// Text within a line.

export function Words({ of }: { of: Text }) {
  return <>{each(of, (span) => (typeof span === 'string' ? span : <Word span={span} />))}</>;
}

function Word({ span }: { span: Span }) {
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
      return <time dateTime={span.iso}>{span.text}</time>;
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

/** A line of a block. */
const Line = ({ of, class: name }: { of: Text; class?: string }) => (
  <p class={name}>
    <Words of={of} />
  </p>
);

function ParagraphOf({ text, style, screenOnly }: Of<'paragraph'>) {
  const names = [style && PARAGRAPHS[style], screenOnly && 'screen-only'];
  return <Line of={text} class={names.filter(Boolean).join(' ') || undefined} />;
}

const PARAGRAPHS = { small: 'small muted', card: 'card padded muted', lead: 'share-title' };

function HeadingBlock({ rank, text }: Of<'heading'>) {
  return (
    <Heading rank={rank}>
      <Words of={text} />
    </Heading>
  );
}

function NoteBox({ state, text }: Of<'note'>) {
  return (
    <p class={`cap ${state}`}>
      <Icon state={state} />
      <span>
        <Words of={text} />
      </span>
    </p>
  );
}

// The parts of a document: sections, whole reports among many, groups, folds.

function SectionPart({ id, title, note, blocks }: Of<'section'>) {
  const anchor = useAnchor();
  const landmark = useLandmark();
  const heading = anchor(`${id}-title`);
  const isOfCards = blocks.length > 0 && blocks.every(({ kind }) => kind === 'card');
  return (
    <section id={anchor(id)} class="section" aria-labelledby={landmark(heading)}>
      <Heading rank={2} id={heading}>
        {title}
      </Heading>
      {note && <Line of={note} class="note muted" />}
      <div class={isOfCards ? 'cards' : 'stack'}>
        <Blocks of={blocks} />
      </div>
    </section>
  );
}

/** What is said at its beginning stands together. */
function OverviewPart({ id, title, above, blocks }: Of<'overview'>) {
  const isSaid = ({ kind }: Block) => kind === 'heading' || kind === 'paragraph';
  const heading = `${id}-title`;
  const Tag = title === null ? 'div' : 'section';
  return (
    <Tag id={id} aria-labelledby={title === null ? undefined : heading}>
      <div class="share-head">
        {above && <p class="small muted">{above}</p>}
        {each(blocks.filter(isSaid), (block) =>
          block.kind === 'heading' ? (
            <Heading rank={block.rank} id={heading}>
              <Words of={block.text} />
            </Heading>
          ) : (
            paint(block)
          ),
        )}
      </div>
      <Blocks of={blocks.filter((block) => !isSaid(block))} />
    </Tag>
  );
}

/** Headings: the page's, the part's, and those of the report below it. */
const PART_DEPTH = 2;

/** What a link leads to stands inside: browsers unfold that without any script. */
function FoldedPart({ id, title, beside, score, blocks, back }: Of<'part'>) {
  return (
    <details class="one">
      <summary class="card">
        <Chevron />
        <span class="mini">
          <Ring {...score} />
        </span>
        <h2>
          <Words of={title} />
        </h2>
        {beside && <span class="muted small from-domain">{beside}</span>}
        <GradeBadge {...score} />
      </summary>
      <div id={id} class="one-report">
        <PlaceOnPage.Provider value={{ prefix: `${id}-`, depth: PART_DEPTH }}>
          <Blocks of={blocks} />
        </PlaceOnPage.Provider>
        <p class="small back screen-only">
          <a href={`#${back.to}`}>{back.text}</a>
        </p>
      </div>
    </details>
  );
}

function GroupBox({ name, title, blocks }: Of<'group'>) {
  return (
    <div class={name === 'remedy' ? 'block remedy' : 'block'}>
      {title && <Heading rank={4}>{title}</Heading>}
      <Blocks of={blocks} />
    </div>
  );
}

function FoldBox({ title, state, count, open, style, blocks }: Of<'fold'>) {
  const isCard = style === 'card';
  const marked = state ? <StateMark state={state} word={title} /> : title;
  return (
    <details class={isCard ? 'card fold' : 'plain'} open={open}>
      <summary>
        {isCard && <Chevron />}
        {isCard && state && <Icon state={state} />}
        {isCard ? <Heading rank={3}>{title}</Heading> : marked}
        {count && <span class="muted small">{count}</span>}
        {!isCard && <Chevron />}
      </summary>
      <div class={isCard ? 'folded' : undefined}>
        <Blocks of={blocks} />
      </div>
    </details>
  );
}

// The verdict, with the score as a ring.

function VerdictCard({ id, above, score, of, title, lines, unknown, ...more }: Of<'verdict'>) {
  const anchor = useAnchor();
  const landmark = useLandmark();
  const heading = anchor(`${id}-title`);
  return (
    <section class="card verdict" aria-labelledby={landmark(heading)}>
      <Ring {...score} />
      <div class="said">
        {above && <p class="small muted">{above}</p>}
        <Heading rank={1} id={heading}>
          <Words of={title} />
        </Heading>
        {of && <p class="small muted">{of}</p>}
        {each(lines, (text) => (
          <Line of={text} />
        ))}
        {each([...(unknown ? [unknown] : []), ...more.remarks], (text) => (
          <Line of={text} class="small muted" />
        ))}
      </div>
      {more.states && <States {...more.states} />}
      {more.facts && <FactList {...more.facts} class="tested" />}
    </section>
  );
}

const SIZE = 128;
const CENTRE = SIZE / 2;
const RADIUS = 56;
const ROUND = 2 * Math.PI * RADIUS;

/** The full arc is the score; the pale one goes on to what it would be without the cap. */
function Ring({ score, uncapped, state, number, letter, alt }: ScoreFigure) {
  const isKnown = score !== null;
  return (
    <svg class={`ring ${state}`} viewBox={`0 0 ${SIZE} ${SIZE}`} role="img" aria-label={alt}>
      <circle class={isKnown ? 'track' : 'track empty'} cx={CENTRE} cy={CENTRE} r={RADIUS} />
      {uncapped !== null && <Arc name="held" share={uncapped / 100} />}
      {isKnown && <Arc name="arc" share={score / 100} />}
      <text class="score" x={CENTRE} y={isKnown ? 67 : 70}>
        {number}
      </text>
      {letter && (
        <text class="grade" x={CENTRE} y="88">
          {letter}
        </text>
      )}
    </svg>
  );
}

function Arc({ name, share }: { name: string; share: number }) {
  if (share <= 0) return null;
  const length = Math.min(1, share) * ROUND;
  return (
    <circle
      class={name}
      cx={CENTRE}
      cy={CENTRE}
      r={RADIUS}
      stroke-dasharray={`${length.toFixed(1)} ${ROUND.toFixed(1)}`}
      transform={`rotate(-90 ${CENTRE} ${CENTRE})`}
    />
  );
}

/** Beside a ring, which says the same to those who cannot see it. */
function GradeBadge({ state, badge }: ScoreFigure) {
  return (
    <span class={`state badge grade-badge ${state}`} aria-hidden="true">
      {badge}
    </span>
  );
}

function States({ label, items }: Of<'states'>) {
  const anchor = useAnchor();
  return (
    <ul class="auth" aria-label={label}>
      {each(items, ({ name, state, jump }) => (
        <li>
          {jump ? <a href={`#${anchor(jump)}`}>{name}</a> : <span>{name}</span>}{' '}
          <StateMark {...state} />
        </li>
      ))}
    </ul>
  );
}

// Findings, each a line that opens to its groups.

function FindingList({ first, more }: Of<'findings'>) {
  return (
    <div class="card findings">
      <Blocks of={first} />
      {more && (
        <details class="more">
          <summary>
            <Chevron />
            {more.title}
          </summary>
          <Blocks of={more.findings} />
        </details>
      )}
    </div>
  );
}

function FindingFold({ id, gain, title, where, open, groups }: Finding) {
  const anchor = useAnchor();
  return (
    <details class="finding" id={anchor(id)} open={open}>
      <summary>
        <Chevron />
        {gain && (
          <span class={gain.points > 0 ? 'gain number' : 'gain number none'}>
            {gain.text}
            <span class="visually-hidden">{gain.spoken}</span>
          </span>
        )}
        <Heading rank={3}>
          <Words of={title} />
        </Heading>
        {where && (
          <span class="where">
            <span>{where.label}</span>
            <StateMark {...where.state} />
          </span>
        )}
      </summary>
      <div class="opened">
        <Blocks of={groups} />
      </div>
    </details>
  );
}

function RecordBox({ type, name, value }: Of<'record'>) {
  return (
    <dl class="record">
      <div>
        <dt>{type.label}</dt>
        <dd>
          <code>{type.value}</code>
        </dd>
      </div>
      {each([name, value], ({ label, value: text }) => (
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

// Names and values, lists, tables.

function FactList({ rows, style, class: more }: Of<'facts'> & { class?: string }) {
  return (
    <dl class={['facts', style, more].filter(Boolean).join(' ')}>
      {each(rows, ({ name, value, blocks = [] }) => (
        <div>
          <dt>
            <Words of={name} />
          </dt>
          <dd>
            <Words of={value} />
            <Blocks of={blocks} />
          </dd>
        </div>
      ))}
    </dl>
  );
}

function ListOf({ isOrdered, items }: Of<'list'>) {
  const Tag = isOrdered ? 'ol' : 'ul';
  return (
    <Tag class="values">
      {each(items, ({ text, blocks = [] }) => (
        <li class={isOrdered ? 'nested' : undefined}>
          <Words of={text} />
          <Blocks of={blocks} />
        </li>
      ))}
    </Tag>
  );
}

/** Those that stand by themselves are cards; the others are within something else. */
const CARDS = ['ledger', 'placement', 'tests'];

function TableOf({ name, label, columns, groups, foot }: Table) {
  const isCard = CARDS.includes(name);
  const table = (
    <table class={isCard ? name : 'compact'}>
      <thead>
        <tr>
          {each(columns, ({ title, isNumber }) => (
            <th scope="col" class={isNumber ? 'number' : undefined}>
              {title}
            </th>
          ))}
        </tr>
      </thead>
      {each(groups, ({ title, rows }) => (
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
  // It becomes a list where it has no room.
  if (name === 'tests') return <div class="card">{table}</div>;
  return (
    <Scroll class={isCard ? 'card' : undefined} label={label}>
      {table}
    </Scroll>
  );
}

interface RowsProps extends Pick<Table, 'name' | 'columns'> {
  rows: Row[];
}

const Rows = ({ rows, columns, name }: RowsProps) => (
  <>
    {each(rows, ({ cells, state, style }) => (
      <tr class={style ?? state}>
        {each(cells, (cell, index) => (
          <TableCell
            cell={cell}
            column={columns[columnOf(cells, index)]}
            isHeading={name === 'tests' ? cell.text.some(isJump) : index === 0}
            isMetered={name === 'ledger' && Boolean(cell.meter ?? cell.below)}
            isToned={state !== undefined}
          />
        ))}
      </tr>
    ))}
  </>
);

/** By the columns over which the cells before it go. */
const columnOf = (cells: Cell[], index: number): number =>
  cells.slice(0, index).reduce((sum, { span = 1 }) => sum + span, 0);

const isJump = (span: string | Span): boolean => typeof span !== 'string' && span.kind === 'jump';

interface CellProps {
  cell: Cell;
  column: Column | undefined;
  isHeading: boolean;
  isMetered: boolean;
  /** In the colour of its row's state. */
  isToned: boolean;
}

function TableCell({ cell, column, isHeading, isMetered, isToned }: CellProps) {
  const { text, blocks = [], below, score, span } = cell;
  if (score)
    return (
      <td class="scored">
        <span class="mini">
          <Ring {...score} />
        </span>
        <GradeBadge {...score} />
      </td>
    );
  const words = <Words of={text} />;
  const content = isMetered ? (
    <Metered {...cell} />
  ) : (
    <>
      {isToned ? <span class="tone">{words}</span> : words}
      <Blocks of={blocks} />
      {below && (
        <div class="muted">
          <Words of={below} />
        </div>
      )}
    </>
  );
  const name = column?.isNumber ? 'number' : column?.style === 'small' ? 'when muted' : undefined;
  return isHeading ? (
    <th scope="row" colSpan={span}>
      {content}
    </th>
  ) : (
    <td class={name} colSpan={span}>
      {content}
    </td>
  );
}

/** With a bar beside the name, or what is said in its place. */
function Metered({ text, meter, below }: Cell) {
  return (
    <span class="meter">
      <span>
        <Words of={text} />
      </span>
      {meter && (
        <svg
          class={`bar-of ${meter.state}`}
          viewBox="0 0 100 8"
          preserveAspectRatio="none"
          aria-hidden="true"
        >
          <rect class="track" width="100" height="8" />
          <rect class="fill" width={Math.floor(meter.share * 100)} height="8" />
        </svg>
      )}
      {meter && <span class="number">{meter.words}</span>}
      {below && (
        <span>
          <Words of={below} />
        </span>
      )}
    </span>
  );
}

/** Beside it stands a table or a sentence with the values. */
function ChartFigure({ id, title, chart, caption }: Of<'chart'>) {
  const anchor = useAnchor();
  return (
    <figure class="card scores">
      {title && <figcaption>{title}</figcaption>}
      {/* Made of numbers, and of names that are escaped there. */}
      <div dangerouslySetInnerHTML={{ __html: chartSvg(chart, anchor(id)) }} />
      {caption && <p class="small muted">{caption}</p>}
    </figure>
  );
}

// Things with a state each.

function EntryList({ name, items }: Of<'entries'>) {
  const isRules = name === 'rules';
  return (
    <ul class={isRules ? 'rules small' : 'entries'}>
      {each(items, (entry) => (isRules ? <Rule {...entry} /> : <EntryItem {...entry} />))}
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
          <Words of={title} />
        </strong>
      </p>
      {each(lines, (text) => (
        <Line of={text} class="small" />
      ))}
      {more && (
        <details class="plain">
          <summary class="small">
            <Chevron /> {more.title}
          </summary>
          <div class="plain-inner">
            <Blocks of={more.blocks} />
          </div>
        </details>
      )}
    </li>
  );
}

const Rule = ({ state, title, lines }: Entry) => (
  <li>
    <StateMark {...state} />
    <div>
      <Line of={title} />
      {each(lines, (text) => (
        <Line of={text} class="muted" />
      ))}
    </div>
  </li>
);

function CardBox({ id, title, state, blocks }: Of<'card'>) {
  const heading = useAnchor()(id);
  return (
    <article class="card provider" aria-labelledby={heading}>
      <header>
        <Heading rank={3} id={heading}>
          <Words of={title} />
        </Heading>
        <StateMark {...state} />
      </header>
      <Blocks of={blocks} />
    </article>
  );
}

// Authentication: a line for each mechanism, from the domain it speaks for to that of From.

function AlignmentTable({ columns, fromDomain, rows, outcome }: Of<'alignment'>) {
  return (
    <div class="card">
      <table class="identifiers">
        <thead>
          <tr>
            {each([columns.mechanism, columns.result, columns.lane], (title) => (
              <th scope="col">{title}</th>
            ))}
          </tr>
        </thead>
        <tbody>
          {each(rows, (row) => (
            <tr>
              <th scope="row">{row.mechanism}</th>
              <td>
                <StateMark {...row.result} />
              </td>
              <td>
                <Lane {...row} fromDomain={fromDomain} />
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
              <Words of={outcome.domain} />
              <Line of={outcome.below} class="small muted" />
            </td>
          </tr>
        </tbody>
      </table>
    </div>
  );
}

type LaneProps = Pick<AlignmentRow, 'domain' | 'none' | 'joint'> & { fromDomain: string | null };

function Lane({ domain, none, joint, fromDomain }: LaneProps) {
  if (domain === null) return <span class="muted">{none}</span>;
  if (joint === null || fromDomain === null) return <code>{domain}</code>;
  return (
    <div class={`lane ${joint.state}`}>
      <code>{domain}</code>
      <span class="joint">
        <StateMark state={joint.state} word={joint.word} />
      </span>
      <code>{fromDomain}</code>
    </div>
  );
}

// The way of a message, and what is in it.

function HopList({ hops, session }: Of<'path'>) {
  return (
    <ol class="card hops">
      {each(hops, (hop, index) => (
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
        <Words of={server} />
        {time && (
          <span class="muted small">
            {' '}
            <Words of={time} />
          </span>
        )}
      </div>
      {delay && (
        <span class="muted small">
          {delay.label && `${delay.label} `}
          <Words of={delay.value} />
        </span>
      )}
      {via && (
        <div class="muted small">
          <Words of={via} />
        </div>
      )}
      {children}
    </li>
  );
}

/** Beyond this, paper is better spent otherwise. */
const PRINTED = 6000;

function VerbatimBox({ label, lines, style, notPrinted }: Of<'verbatim'>) {
  const text = lines.join('\n');
  if (style === 'box') return <pre class="box">{text}</pre>;
  return (
    <Scroll class="box long" label={label}>
      <pre>
        {text.slice(0, PRINTED)}
        {text.length > PRINTED && (
          <>
            <span class="screen-only">{text.slice(PRINTED)}</span>
            <span class="print-only">{notPrinted}</span>
          </>
        )}
      </pre>
    </Scroll>
  );
}

function MessageFrame({ title, caption, html, widths }: Of<'frame'>) {
  return (
    <figure class="card as-seen">
      <figcaption>
        <Heading rank={3}>{title}</Heading>
        <fieldset class="widths screen-only">
          <legend class="visually-hidden">{widths.label}</legend>
          <label>
            <input type="radio" name="width" checked /> {widths.wide}
          </label>
          <label>
            <input type="radio" name="width" id="narrow" /> {widths.narrow}
          </label>
        </fieldset>
        <Line of={caption} class="small muted" />
      </figcaption>
      <iframe sandbox="" srcdoc={messageDocument(html)} title={title} />
    </figure>
  );
}
