/** Preloaded with `--import`: sets the clock of the process off by TEST_CLOCK_OFFSET_MS, as a machine without NTP. */

const offsetMs = Number(process.env.TEST_CLOCK_OFFSET_MS ?? 0);
const RightDate = Date;
const now = () => RightDate.now() + offsetMs;

globalThis.Date = new Proxy(RightDate, {
  construct: (target, args, newTarget) =>
    Reflect.construct(target, args.length === 0 ? [now()] : args, newTarget),
  apply: () => new RightDate(now()).toString(),
  get: (target, name, receiver) => (name === 'now' ? now : Reflect.get(target, name, receiver)),
});
