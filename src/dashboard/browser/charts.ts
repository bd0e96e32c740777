/** Charts tell the value at the pointer, at a touch, and at the focus, which the arrow keys move from bar to bar. */

/** How far a key moves. A page is a week of days. */
const STEPS: Record<string, number> = {
  ArrowLeft: -1,
  ArrowDown: -1,
  ArrowRight: 1,
  ArrowUp: 1,
  PageUp: 7,
  PageDown: -7,
  Home: -Infinity,
  End: Infinity,
};

export function startCharts(): void {
  for (const chart of document.querySelectorAll<HTMLElement>('[data-chart]')) startChart(chart);
}

function startChart(chart: HTMLElement): void {
  delete chart.dataset.chart;
  const image = chart.querySelector('svg')!;
  const slots = [...image.querySelectorAll('.slot')];
  showLocalDays(image);
  const texts = slots.map((slot) => {
    const title = slot.querySelector('title')!;
    // Otherwise the browser would show it too, over the value.
    title.remove();
    return title.textContent ?? '';
  });
  const value = document.createElement('div');
  value.className = 'chart-value';
  value.hidden = true;
  chart.append(value);
  // The name is that of the image, whose text the slider replaces.
  chart.role = 'slider';
  chart.tabIndex = 0;
  chart.ariaLabel = image.ariaLabel;
  chart.ariaValueMin = '1';
  chart.ariaValueMax = String(slots.length);
  image.ariaHidden = 'true';
  let current = slots.length - 1;

  const say = () => {
    chart.ariaValueNow = String(current + 1);
    chart.ariaValueText = texts[current]!;
  };
  const hide = () => {
    value.hidden = true;
    slots[current]!.classList.remove('on');
  };
  const show = (index: number) => {
    slots[current]!.classList.remove('on');
    current = Math.max(0, Math.min(slots.length - 1, index));
    slots[current]!.classList.add('on');
    say();
    value.textContent = texts[current]!;
    value.hidden = false;
    // In the middle above its bar, but within the chart.
    const [frame, plot] = [chart.getBoundingClientRect(), image.getBoundingClientRect()];
    const middle = plot.left - frame.left + (plot.width * (current + 0.5)) / slots.length;
    const left = Math.min(middle - value.offsetWidth / 2, frame.width - value.offsetWidth);
    value.style.left = `${Math.max(0, left)}px`;
  };
  const indexAt = ({ clientX }: PointerEvent) => {
    const { left, width } = image.getBoundingClientRect();
    return Math.floor(((clientX - left) / width) * slots.length);
  };
  say();
  image.addEventListener('pointermove', (event) => show(indexAt(event)));
  image.addEventListener('pointerdown', (event) => show(indexAt(event)));
  // A finger that is lifted leaves the value to read.
  image.addEventListener('pointerleave', ({ pointerType }) => {
    if (pointerType === 'mouse' && document.activeElement !== chart) hide();
  });
  chart.addEventListener('focus', () => {
    if (chart.matches(':focus-visible')) show(current);
  });
  chart.addEventListener('blur', hide);
  addEventListener('pointerdown', ({ target }) => {
    if (!chart.contains(target as Node)) hide();
  });
  chart.addEventListener('keydown', (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const step = STEPS[event.key];
    if (event.key === 'Escape') hide();
    if (step === undefined) return;
    event.preventDefault();
    show(current + step);
  });
}

/** In the language of the browser, unless the reader has chosen one: as `times.ts` does for the rest of the page. */
function showLocalDays(image: SVGElement): void {
  for (const element of image.querySelectorAll<SVGElement>('[data-day]')) {
    const { day, year } = element.dataset;
    const title = element.querySelector('title');
    const text = new Date(day!).toLocaleDateString(undefined, {
      timeZone: 'UTC',
      day: 'numeric',
      month: 'short',
      year: title || year !== undefined ? 'numeric' : undefined,
    });
    // After the day follows what happened on it.
    if (title) title.textContent = title.textContent!.replace(/^[^:]*?(?=:| so far:)/, text);
    else element.textContent = text;
  }
}
