// Reads what header fields say about limits. Nothing here waits, sends or knows a policy.
// The rules are those of clients/vectors/README.md, *Which field counts?*

export const MOST_MS = Number.MAX_SAFE_INTEGER;

/** One quota as a response shows it. resetMs: until more is available; 0 if unknown, or already. */
export interface Quota {
  remaining: number;
  resetMs: number;
}

/** Header fields by lower-case name. */
export type Fields = Map<string, string>;

const DECIMAL = /^([0-9]+)(?:\.([0-9]+))?$/;
const SIGNED = /^(-?)([0-9]+)(?:\.[0-9]+)?$/;
const DURATION =
  /^(?:([0-9]+)d)?(?:([0-9]+)h)?(?:([0-9]+)m(?!s))?(?:([0-9]+(?:\.[0-9]+)?)s)?(?:([0-9]+(?:\.[0-9]+)?)ms)?$/;
const RFC3339 =
  /^([0-9]{4})-([0-9]{2})-([0-9]{2})[Tt ]([0-9]{2}):([0-9]{2}):([0-9]{2})(?:\.([0-9]+))?(?:[Zz]|([+-])([0-9]{2}):([0-9]{2}))$/;
const MONTHS = "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec".split(" ");
const MONTH = "(" + MONTHS.join("|") + ")";
const TIME = "([0-9]{2}):([0-9]{2}):([0-9]{2})";
const FIXDATE = new RegExp(`^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun), ([0-9]{2}) ${MONTH} ([0-9]{4}) ${TIME} GMT$`);
const RFC850 = new RegExp(
  `^(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day, ([0-9]{2})-${MONTH}-([0-9]{2}) ${TIME} GMT$`,
);
const ASCTIME = new RegExp(`^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun) ${MONTH} ([ 0-9][0-9]) ${TIME} ([0-9]{4})$`);

/** Several lines of one name are joined as in RFC 9110, 5.3; `Headers` of fetch has joined them already. */
export function fieldsOf(pairs: Iterable<readonly [string, string]>): Fields {
  const fields: Fields = new Map();
  for (const [name, value] of pairs) {
    const key = name.toLowerCase();
    const text = value.replace(/^[ \t]+|[ \t]+$/g, "");
    const before = fields.get(key);
    fields.set(key, before === undefined ? text : `${before}, ${text}`);
  }
  return fields;
}

/** A number of units (seconds, if perUnit is 1000) as whole milliseconds, rounded up; undefined if unreadable. */
export function decimalMs(text: string, perUnit = 1000): number | undefined {
  const match = DECIMAL.exec(text);
  if (!match) return undefined;
  const whole = Number(match[1]) * perUnit;
  if (!(whole < MOST_MS)) return MOST_MS;
  const fraction = (match[2] ?? "").replace(/0+$/, "");
  if (fraction === "") return whole;
  const part = Number(fraction.slice(0, 6).padEnd(6, "0")) * perUnit;
  const more = fraction.length > 6 ? Math.floor(part / 1e6) + 1 : Math.ceil(part / 1e6);
  return Math.min(whole + more, MOST_MS);
}

function epochMs(year: number, month: number, day: number, hour: number, minute: number, second: number) {
  if (month < 1 || month > 12 || hour > 23 || minute > 59 || second > 60 || day < 1) return undefined;
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day);
  if (date.getUTCMonth() !== month - 1) return undefined; // 31 February
  return date.getTime() + ((hour * 60 + minute) * 60 + second) * 1000;
}

/** An HTTP-date (RFC 9110, 5.6.7) in Unix milliseconds; nowMs decides the century of a two-digit year. */
export function httpDateMs(text: string, nowMs: number): number | undefined {
  let match = FIXDATE.exec(text);
  if (match) {
    return epochMs(+match[3]!, MONTHS.indexOf(match[2]!) + 1, +match[1]!, +match[4]!, +match[5]!, +match[6]!);
  }
  match = ASCTIME.exec(text);
  if (match) {
    return epochMs(+match[6]!, MONTHS.indexOf(match[1]!) + 1, +match[2]!, +match[3]!, +match[4]!, +match[5]!);
  }
  match = RFC850.exec(text);
  if (!match) return undefined;
  const thisYear = new Date(nowMs).getUTCFullYear();
  let year = thisYear - (thisYear % 100) + Number(match[3]);
  if (year > thisYear + 50) year -= 100;
  return epochMs(year, MONTHS.indexOf(match[2]!) + 1, +match[1]!, +match[4]!, +match[5]!, +match[6]!);
}

function rfc3339Ms(text: string): number | undefined {
  const match = RFC3339.exec(text);
  if (!match) return undefined;
  let at = epochMs(+match[1]!, +match[2]!, +match[3]!, +match[4]!, +match[5]!, +match[6]!);
  if (at === undefined) return undefined;
  if (match[7]) at += decimalMs("0." + match[7]) ?? 0;
  if (match[8]) at += (Number(match[9]) * 60 + Number(match[10])) * 60000 * (match[8] === "-" ? 1 : -1);
  return at;
}

function durationMs(text: string): number | undefined {
  const match = text === "" ? null : DURATION.exec(text);
  if (!match) return undefined;
  const whole = (Number(match[1] ?? 0) * 24 + Number(match[2] ?? 0)) * 3600000 + Number(match[3] ?? 0) * 60000;
  return Math.min(MOST_MS, whole + (decimalMs(match[4] ?? "0") ?? 0) + (decimalMs(match[5] ?? "0", 1) ?? 0));
}

/** Milliseconds from now until a reset that is written in any of the usual ways; 0 if unreadable or past. */
export function resetInMs(text: string, serverNowMs: number, nowMs: number): number {
  const number = DECIMAL.exec(text);
  if (number) {
    const digits = number[1]!.replace(/^0+/, "").length;
    if (digits <= 9) return decimalMs(text) ?? 0; // A time to wait: 10^9 seconds are 31 years.
    if (digits <= 11) return Math.max(0, (decimalMs(text) ?? 0) - serverNowMs); // Unix seconds.
    if (digits <= 14) return Math.max(0, (decimalMs(text, 1) ?? 0) - serverNowMs); // Unix milliseconds.
    return 0;
  }
  const duration = durationMs(text);
  if (duration !== undefined) return duration;
  const at = rfc3339Ms(text) ?? httpDateMs(text, nowMs);
  return at === undefined ? 0 : Math.max(0, at - serverNowMs);
}

/** Remaining units: whole ones, and none if the number is negative. */
function units(text: string | undefined): number | undefined {
  const match = text === undefined ? null : SIGNED.exec(text);
  if (!match) return undefined;
  return match[1] ? 0 : Number(match[2]);
}

// Structured fields (RFC 9651), as far as RateLimit and RateLimit-Policy need them.
const NAME = /"((?:[ !#-\[\]-~]|\\["\\])*)"|([A-Za-z*][!#$%&'*+.^_`|~0-9A-Za-z:/-]*)|(-?[0-9]{1,15})/y;
const PARAMETER =
  / *; *([a-z*][a-z0-9_.*-]*)(?:=("(?:[ !#-\[\]-~]|\\["\\])*"|:[A-Za-z0-9+/=]*:|\?[01]|-?[0-9]{1,12}\.[0-9]{1,3}(?![0-9.])|-?[0-9]{1,15}(?![0-9.])|[A-Za-z*][!#$%&'*+.^_`|~0-9A-Za-z:/-]*))?/y;
const INTEGER = /^[0-9]{1,15}$/;
const DRAFT7 = /^[a-z]+=[0-9]{1,15}(?:[ \t]*,[ \t]*[a-z]+=[0-9]{1,15})*$/;

/** A list of names with parameters: `"burst";r=0;t=2, "daily";r=900`. Undefined if it is malformed. */
export function parseItems(text: string): Array<[string, Map<string, string>]> | undefined {
  const items: Array<[string, Map<string, string>]> = [];
  let at = 0;
  for (;;) {
    NAME.lastIndex = at;
    const name = NAME.exec(text);
    if (!name) return undefined;
    at = NAME.lastIndex;
    const parameters = new Map<string, string>();
    for (;;) {
      PARAMETER.lastIndex = at;
      const parameter = PARAMETER.exec(text);
      if (!parameter) break;
      parameters.set(parameter[1]!, parameter[2] ?? "?1");
      at = PARAMETER.lastIndex;
    }
    items.push([name[1] ?? name[2] ?? name[3]!, parameters]);
    const rest = text.slice(at).replace(/^[ \t]+/, "");
    if (rest === "") return items;
    if (!rest.startsWith(",")) return undefined;
    at = text.length - rest.slice(1).replace(/^[ \t]+/, "").length;
  }
}

function integer(text: string | undefined): number | undefined {
  return text !== undefined && INTEGER.test(text) ? Number(text) : undefined;
}

function ietfQuotas(fields: Fields): Quota[] {
  const text = fields.get("ratelimit") ?? "";
  if (DRAFT7.test(text)) {
    const members = new Map(text.split(",").map((member) => member.trim().split("=") as [string, string]));
    const remaining = integer(members.get("remaining"));
    return remaining === undefined ? [] : [{ remaining, resetMs: (integer(members.get("reset")) ?? 0) * 1000 }];
  }
  const windows = new Map<string, number>();
  for (const [name, parameters] of parseItems(fields.get("ratelimit-policy") ?? "") ?? []) {
    windows.set(name, integer(parameters.get("w")) ?? 0);
  }
  const quotas: Quota[] = [];
  for (const [name, parameters] of parseItems(text) ?? []) {
    const remaining = integer(parameters.get("r"));
    if (remaining === undefined) continue;
    quotas.push({ remaining, resetMs: (integer(parameters.get("t")) ?? windows.get(name) ?? 0) * 1000 });
  }
  return quotas;
}

type Pair = [remaining: string, resets: string[]];

// The field with what remains, and the fields with the reset, the first readable of which counts.
const FAMILIES: Array<[string, Pair[]]> = [
  ["ratelimit-fields", [["ratelimit-remaining", ["ratelimit-reset"]]]],
  [
    "anthropic",
    ["requests", "tokens", "input-tokens", "output-tokens"].map(
      (what): Pair => [`anthropic-ratelimit-${what}-remaining`, [`anthropic-ratelimit-${what}-reset`]],
    ),
  ],
  [
    "openai",
    ["requests", "tokens"].map((what): Pair => [`x-ratelimit-remaining-${what}`, [`x-ratelimit-reset-${what}`]]),
  ],
  ["x-ratelimit", [["x-ratelimit-remaining", ["x-ratelimit-reset-after", "x-ratelimit-reset"]]]],
  ["x-rate-limit", [["x-rate-limit-remaining", ["x-rate-limit-reset"]]]],
];

/**
 * The family of quota fields that counts, and its quotas.
 * refused: a limit refused the request, so a reset without a remaining number means that nothing remains.
 */
export function quotasOf(
  fields: Fields,
  refused: boolean,
  serverNowMs: number,
  nowMs: number,
): { family: string | null; quotas: Quota[] } {
  if (units(fields.get("age"))) return { family: null, quotas: [] }; // From a cache: not current.
  const ietf = fields.has("ratelimit") ? ietfQuotas(fields) : [];
  if (ietf.length) return { family: "ratelimit", quotas: ietf };
  for (const [family, pairs] of FAMILIES) {
    const quotas: Quota[] = [];
    for (const [remainingName, resetNames] of pairs) {
      const remaining = units(fields.get(remainingName));
      if (remaining === undefined && !refused) continue;
      let resetMs = 0;
      for (const name of resetNames) {
        const text = fields.get(name);
        if (!resetMs && text !== undefined) resetMs = resetInMs(text, serverNowMs, nowMs);
      }
      if (remaining !== undefined || resetMs) quotas.push({ remaining: remaining ?? 0, resetMs });
    }
    if (quotas.length) return { family, quotas };
  }
  return { family: null, quotas: [] };
}
