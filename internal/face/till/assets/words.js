// Words, amounts and times as the cashier's language writes them.
const texts = JSON.parse(document.getElementById("texts").textContent);
export const language = document.documentElement.lang;
const plural = new Intl.PluralRules(language);

/** t is a text with its arguments; one that counts goes by the first. */
export function t(name, ...args) {
  let text = texts[name];
  if (text === undefined) throw new Error("there is no text named " + name);
  if (typeof text === "object") text = text[plural.select(Number(args[0]))] ?? text.other;
  return text.replace(/%\[(\d)\][a-z]/g, (_, n) => String(args[n - 1]));
}

export const known = (name) => name in texts;

/** money writes an amount in the smallest unit of a currency. */
export function money(units, currency, decimals) {
  const format = new Intl.NumberFormat(language, { style: "currency", currency, minimumFractionDigits: decimals, maximumFractionDigits: decimals });
  return format.format(units / 10 ** decimals);
}

/** The sign before a fraction: . or , */
export const decimalSign = new Intl.NumberFormat(language).formatToParts(1.5).find((p) => p.type === "decimal")?.value ?? ".";

export const number = (n) => new Intl.NumberFormat(language).format(n);
export const clock = (at, timeZone) => new Intl.DateTimeFormat(language, { hour: "numeric", minute: "2-digit", timeZone }).format(new Date(at));
/** A day stays on one line. */
export const day = (at, timeZone) => new Intl.DateTimeFormat(language, { dateStyle: "long", timeZone }).format(new Date(at)).replaceAll(" ", "\u00a0");
