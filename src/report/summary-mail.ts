/** Renders the email of a scheduled report: each block as HTML and as text, and the charts as images. */

import type { Grade } from '../analysis/result.ts';
import { toHtmlText } from '../lib/format/plain-text.ts';
import type { MailImage } from '../lib/mail.ts';
import type { State } from '../ui/components.tsx';
import { type Average, type Block, plainText, type Rows, type Tiles } from './blocks.ts';
import type { BrandLogo } from './brand.ts';
import {
  type Chart,
  chartInWords,
  chartPng,
  hasLabelPerBar,
  labelsOf,
  valueText,
} from './charts.ts';
import { type ReportMailOptions, summaryMail } from './document/summary.ts';
import {
  BORDER_TOP,
  BREAK_WORDS,
  COLORS,
  fullWidthTable,
  heading,
  mailFrame,
  paragraph,
  type RenderedBlock,
  smallParagraph,
  type Tone,
} from './mail-frame.ts';
import { type ScheduledReport, trendCharts } from './summary.ts';
import { ICONS, mailText } from './text.ts';

interface ReportMail {
  subject: string;
  text: string;
  html: string;
  /** The images that `html` references, each once. */
  images: MailImage[];
}

/** Deterministic. Names and subjects are escaped. */
export function reportMail(report: ScheduledReport, options: ReportMailOptions): ReportMail {
  const { subject, title, preheader, blocks, button, footer, unsubscribe } = summaryMail(
    report,
    options,
  );
  const { brand = null } = report;
  const logo = brand?.logo ? [logoImage(report, brand.logo)] : [];
  const images = [...(options.hasPdf ? [] : chartImages(report)), ...logo];
  const renderedBlocks = blocks.map(
    (block): RenderedBlock => ({ text: mailText(block), html: htmlOf(block, images) }),
  );
  const content = {
    brand: brand && { ...brand, logoCid: logo[0]?.cid ?? '' },
    title,
    preheader,
    blocks: renderedBlocks,
    button: button ?? undefined,
    footer,
    unsubscribe: unsubscribe ?? undefined,
  };
  return { subject, ...mailFrame(content), images };
}

/** The HTML with its images embedded, for a browser. */
export function previewOf({ html, images }: Pick<ReportMail, 'html' | 'images'>): string {
  return images.reduce(
    (result, { cid, contentType, content }) =>
      result.replaceAll(
        `src="cid:${cid}"`,
        `src="data:${contentType};base64,${Buffer.from(content).toString('base64')}"`,
      ),
    html,
  );
}

/** Throws for blocks that no email contains. */
function htmlOf(block: Block, images: MailImage[]): string {
  const renderAll = (blocks: Block[]) => blocks.map((child) => htmlOf(child, images)).join('\n');
  switch (block.kind) {
    case 'section':
      return `${heading(block.title)}\n${renderAll(block.blocks)}`;
    case 'group':
      return renderAll(block.blocks);
    case 'paragraph':
      return block.style === 'small'
        ? smallParagraph(plainText(block.text))
        : paragraph(plainText(block.text));
    case 'average':
      return averageHtml(block);
    case 'tiles':
      return tilesHtml(block);
    case 'grades':
      return gradesHtml(block.items);
    case 'rows':
      return rowsHtml(block);
    case 'chart':
      return chartHtml(block, images);
    default:
      throw new Error(`An email cannot show a ${block.kind} block.`);
  }
}

const LAYOUT_TABLE = 'role="presentation" width="100%" cellpadding="0" cellspacing="0" border="0"';

const toneOf = (state: State): Tone => (state === 'info' ? 'accent' : state);

/** The number in large print, with its explanation next to it. */
function averageHtml({ score, label, lines }: Average): string {
  const tone = toneOf(score.state);
  const [testCount, change] = lines.map(toHtmlText);
  return `<table ${LAYOUT_TABLE} style="margin:24px 0 0"><tr><td width="1" valign="middle" class="${tone}" style="padding:0 20px 0 0;font-size:48px;line-height:52px;font-weight:700;color:${COLORS[tone]};white-space:nowrap">${toHtmlText(score.number)}</td><td valign="middle" style="font-size:14px;line-height:21px;${BREAK_WORDS}"><span class="${tone}" style="font-weight:600;color:${COLORS[tone]}">${toHtmlText(label)}</span><br><span class="ink" style="color:${COLORS.ink}">${change}</span><br><span class="muted" style="color:${COLORS.muted}">${testCount}</span></td></tr></table>`;
}

function tilesHtml({ items }: Tiles): string {
  const width = `${Math.floor(100 / items.length)}%`;
  const cells = items.map(
    ({ name, figure, below }) =>
      `<td width="${width}" valign="top" class="line" style="padding:12px 8px 12px 0;${BORDER_TOP};font-size:14px;line-height:21px"><span class="muted" style="color:${COLORS.muted}">${toHtmlText(name)}</span><br><span class="ink" style="font-size:20px;line-height:28px;font-weight:600;color:${COLORS.ink};white-space:nowrap">${toHtmlText(figure)}</span><br><span class="muted" style="font-size:12px;line-height:18px;color:${COLORS.muted}">${toHtmlText(below)}</span></td>`,
  );
  return `<table ${LAYOUT_TABLE} style="margin:24px 0 0;table-layout:fixed"><tr>${cells.join('')}</tr></table>`;
}

/** Visible on white and on black. */
const BAR_COLORS: Record<Grade, string> = {
  A: '#2f9e5b',
  B: '#5aa06a',
  C: '#b8801f',
  D: '#d0694a',
  F: '#cf3a3a',
};

/** A stacked bar with a legend below. */
function gradesHtml(items: { grade: Grade; count: number; text: string }[]): string {
  const total = items.reduce((sum, { count }) => sum + count, 0);
  const cells = items.map(
    ({ grade, count }) =>
      `<td width="${((count / total) * 100).toFixed(2)}%" height="12" bgcolor="${BAR_COLORS[grade]}" style="height:12px;font-size:1px;line-height:12px;background-color:${BAR_COLORS[grade]}">&nbsp;</td>`,
  );
  const legend = items.map(
    ({ grade, text }) =>
      `<span style="white-space:nowrap"><span style="color:${BAR_COLORS[grade]}">&#9632;</span> <strong>${grade}</strong> ${toHtmlText(text)}</span>`,
  );
  return `<table ${LAYOUT_TABLE} style="margin:12px 0 0"><tr>${cells.join('')}</tr></table>
<p class="ink" style="margin:8px 0 0;font-size:14px;line-height:21px;color:${COLORS.ink}">${legend.join(' &nbsp; ')}</p>`;
}

function rowsHtml({ items }: Rows): string {
  const rows = items.map(({ title, below, value, state }) => {
    const tone = state === null ? 'ink' : toneOf(state);
    const label = state === null ? value : `${ICONS[state]} ${value}`;
    const belowHtml = below
      ? `<br><span class="muted" style="color:${COLORS.muted}">${toHtmlText(below)}</span>`
      : '';
    return `<tr><td valign="top" class="ink line" style="padding:8px 16px 8px 0;${BORDER_TOP};color:${COLORS.ink};${BREAK_WORDS}"><bdi>${toHtmlText(title)}</bdi>${belowHtml}</td><td align="right" valign="top" class="${tone} line" style="padding:8px 0;${BORDER_TOP};color:${COLORS[tone]};font-weight:600;white-space:nowrap">${toHtmlText(label)}</td></tr>`;
  });
  return fullWidthTable(rows.join(''));
}

// Charts: the bars are an image; all words are text around it.

/** The inner width of a card of 600 px. */
const SIZE = { width: 534, height: 96 };

const cache = new WeakMap<ScheduledReport, MailImage[]>();

/** The images of the charts, drawn once for all recipients of a report. */
function chartImages(report: ScheduledReport): MailImage[] {
  const cachedImages = cache.get(report);
  if (cachedImages) return cachedImages;
  const images = drawCharts(report);
  cache.set(report, images);
  return images;
}

function drawCharts(report: ScheduledReport): MailImage[] {
  const { sections, summary } = report;
  if (!sections.includes('trends') || summary.total_tests === 0) return [];
  return trendCharts(report).map((chart) => ({
    cid: cidOf(report, chart.id),
    filename: `${chart.id}.png`,
    contentType: 'image/png',
    content: chartPng(chart, SIZE),
  }));
}

const cidOf = ({ appUrl, summary }: ScheduledReport, name: string): string =>
  `${name}.${Date.parse(summary.to).toString(36)}@${new URL(appUrl).hostname.replace(/[^\w.-]/g, '')}`;

const logoImage = (report: ScheduledReport, { type, base64 }: BrandLogo): MailImage => ({
  cid: cidOf(report, 'logo'),
  filename: `logo.${type === 'image/png' ? 'png' : 'jpg'}`,
  contentType: type,
  content: Buffer.from(base64, 'base64'),
});

type ChartBlock = Extract<Block, { kind: 'chart' }>;

/** The image of a chart is named after the ID of the chart. */
function chartHtml({ id, chart, caption }: ChartBlock, images: MailImage[]): string {
  const { cid } = images.find(({ filename }) => filename === `${id}.png`)!;
  return `<p class="muted" style="margin:4px 0 12px;font-size:14px;line-height:21px;color:${COLORS.muted}">${toHtmlText(caption ?? '')}</p>
<img src="cid:${cid}" alt="${toHtmlText(chartInWords(chart))}" width="${SIZE.width}" height="${SIZE.height}" style="display:block;width:100%;max-width:${SIZE.width}px;height:${SIZE.height}px;border:0;font-size:12px;line-height:18px">
${labelRow(chart)}`;
}

/** The value and label of each bar, or only a label for each group of bars. */
function labelRow(chart: Chart): string {
  const perBar = hasLabelPerBar(chart);
  const bucketCount = chart.buckets.length;
  let index = 0;
  const cells = labelsOf(chart).map(({ label, span }) => {
    const value = perBar
      ? `<strong class="ink" style="color:${COLORS.ink}">${toHtmlText(valueText(chart, chart.buckets[index]!))}</strong><br>`
      : '';
    index += span;
    const width = `${((span / bucketCount) * 100).toFixed(2)}%`;
    return `<td width="${width}" align="${perBar ? 'center' : 'left'}" valign="top" class="muted" style="padding:4px 2px 0;font-size:12px;line-height:18px;color:${COLORS.muted}">${value}${toHtmlText(label)}</td>`;
  });
  return `<table ${LAYOUT_TABLE} style="max-width:${SIZE.width}px;table-layout:fixed"><tr>${cells.join('')}</tr></table>`;
}
