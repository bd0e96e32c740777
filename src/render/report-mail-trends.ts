/** The section of a report's e-mail with its charts: bars as a picture, every word as text around it. */

import type { MailImage } from '../lib/mail-image.ts';
import {
  type Chart,
  chartInWords,
  extremesOf,
  labelsOf,
  showsEach,
  valueInWords,
  valueText,
} from './chart.ts';
import { chartPng } from './chart-png.ts';
import type { MadeBlock } from './mail-frame.ts';
import { INK } from './mail-look.ts';
import { shown, wrap } from './mail-text.ts';
import { remark, titled } from './report-mail-parts.ts';
import type { ScheduledReport } from './summary.ts';
import { daysBeginAt, type TrendChart, trendCharts } from './summary-charts.ts';

/** What a card of 600 px leaves. */
const SIZE = { width: 534, height: 96 };

/** Of the reports whose readers are being written to. */
const drawn = new WeakMap<ScheduledReport, MailImage[]>();

/** A picture for each chart, none where nothing is to be drawn; drawn once for all readers of a report. */
export function chartImages(report: ScheduledReport): MailImage[] {
  const known = drawn.get(report);
  if (known) return known;
  const images = drawCharts(report);
  drawn.set(report, images);
  return images;
}

function drawCharts(report: ScheduledReport): MailImage[] {
  const { sections, appUrl, summary } = report;
  if (!sections.includes('trends') || summary.total_tests === 0) return [];
  const host = new URL(appUrl).hostname.replace(/[^\w.-]/g, '');
  return trendCharts(report).map((chart) => ({
    cid: `${chart.id}.${Date.parse(summary.to).toString(36)}@${host}`,
    filename: `${chart.id}.png`,
    contentType: 'image/png',
    content: chartPng(chart, SIZE),
  }));
}

/** Needs the pictures of `chartImages`, in their order. */
export function trendBlocks(report: ScheduledReport, images: MailImage[]): MadeBlock[] {
  if (images.length === 0) return [];
  const begin = daysBeginAt(report);
  return trendCharts(report).map((chart, index) => {
    const parts = [chartBlock(chart, images[index]!)];
    if (begin && index === 0) parts.push(remark(begin));
    return titled(chart.title, ...parts);
  });
}

function chartBlock(chart: TrendChart, { cid }: MailImage): MadeBlock {
  const extremes = extremesOf(chart);
  const scale =
    chart.id === 'score'
      ? `The bars go from 0 to ${chart.format(chart.top)}.`
      : `The highest bar is ${chart.format(chart.top)}.`;
  const said = extremes ? `${extremes}.` : scale;
  return {
    text: chart.buckets
      .map((bucket) => wrap(`${bucket.name}: ${valueInWords(chart, bucket)}`))
      .join('\n'),
    html: `<p class="muted" style="margin:4px 0 12px;font-size:14px;line-height:21px;color:${INK.muted}">${shown(said)}</p>
<img src="cid:${cid}" alt="${shown(chartInWords(chart))}" width="${SIZE.width}" height="${SIZE.height}" style="display:block;width:100%;max-width:${SIZE.width}px;height:${SIZE.height}px;border:0;font-size:12px;line-height:18px">
${labelRow(chart)}`,
  };
}

/** Under each bar its value and name, or under a group of bars the name of its first. */
function labelRow(chart: Chart): string {
  const each = showsEach(chart);
  const all = chart.buckets.length;
  let at = 0;
  const cells = labelsOf(chart).map(({ label, span }) => {
    const value = each
      ? `<strong class="ink" style="color:${INK.ink}">${shown(valueText(chart, chart.buckets[at]!))}</strong><br>`
      : '';
    at += span;
    const width = `${((span / all) * 100).toFixed(2)}%`;
    return `<td width="${width}" align="${each ? 'center' : 'left'}" valign="top" class="muted" style="padding:4px 2px 0;font-size:12px;line-height:18px;color:${INK.muted}">${value}${shown(label)}</td>`;
  });
  return `<table role="presentation" width="100%" cellpadding="0" cellspacing="0" border="0" style="max-width:${SIZE.width}px;table-layout:fixed"><tr>${cells.join('')}</tr></table>`;
}
