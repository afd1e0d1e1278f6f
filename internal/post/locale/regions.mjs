// Writes regions.json: how people of a region write amounts, dates and times in one of our languages, where that is
// otherwise than in the language's own country. The data is CLDR's, as ICU in Node.js has it:
//
//   node regions.mjs > regions.json
const homes = {en: 'US', de: 'DE', fr: 'FR', es: 'ES', ja: 'JP'}
const at = (h = 20) => Date.UTC(2026, 0, 30, h, 5)

function part(parts, type) {
  const found = parts.find(p => p.type === type)
  return found ? found.value : ''
}

function money(tag) {
  const parts = new Intl.NumberFormat(tag, {style: 'currency', currency: 'CHF', currencyDisplay: 'narrowSymbol'}).formatToParts(1234567.5)
  const euro = new Intl.NumberFormat(tag, {style: 'currency', currency: 'EUR', currencyDisplay: 'narrowSymbol'}).formatToParts(1234567.5)
  const before = euro[0].type === 'currency'
  const whole = parts.filter(p => p.type === 'integer').map(p => p.value.length)
  const small = new Intl.NumberFormat(tag, {style: 'currency', currency: 'EUR'}).formatToParts(1234.5)
  return {
    decimal: part(parts, 'decimal'), group: part(parts, 'group'), before, space: euro.some(p => p.type === 'literal'),
    lakh: whole[1] === 2, from: small.some(p => p.type === 'group') ? 4 : 5,
  }
}

function pattern(tag, options) {
  const marks = {day: '%[1]s', month: '%[2]s', year: '%[3]s'}
  return new Intl.DateTimeFormat(tag, {timeZone: 'UTC', ...options}).formatToParts(at()).map(p => marks[p.type] ?? p.value).join('')
}

function clock(tag) {
  const format = new Intl.DateTimeFormat(tag, {timeStyle: 'short', timeZone: 'UTC'})
  const evening = format.formatToParts(at()), morning = format.formatToParts(at(9))
  const half = part(evening, 'dayPeriod')
  const marks = {hour: half ? '3' : part(morning, 'hour').length === 1 ? '_H' : '15', minute: '04', dayPeriod: 'PM'}
  const word = tag.startsWith('de') ? ' Uhr' : ''
  const layout = evening.map(p => marks[p.type] ?? p.value).join('').replaceAll(/[ \u202f]/g, '\u00a0')
  return half ? {clock: layout, am: part(morning, 'dayPeriod'), pm: half} : {clock: layout.replace('_H', '15') + word}
}

function entry(tag) {
  const month = n => new Intl.DateTimeFormat(tag, {month: 'long', day: 'numeric', timeZone: 'UTC'}).formatToParts(Date.UTC(2026, n, 1)).find(p => p.type === 'month').value
  const e = {
    ...money(tag), number: part(new Intl.NumberFormat(tag).formatToParts(1234567), 'group'),
    day: pattern(tag, {dateStyle: 'long'}), short: pattern(tag, {day: 'numeric', month: 'long'}), ...clock(tag),
  }
  if (!tag.startsWith('ja')) e.months = [...Array(12).keys()].map(month)
  return e
}

const regions = new Intl.DisplayNames('en', {type: 'region', fallback: 'none'})
const letters = [...'ABCDEFGHIJKLMNOPQRSTUVWXYZ']
const all = {}
for (const [language, home] of Object.entries(homes)) {
  const own = entry(language)
  for (const region of letters.flatMap(a => letters.map(b => a + b))) {
    if (region === home || !regions.of(region) || ['XA', 'XB', 'ZZ', 'EU', 'EZ', 'UN', 'QO'].includes(region)) continue
    const e = entry(`${language}-${region}`)
    if (JSON.stringify(e.months) === JSON.stringify(own.months)) delete e.months
    if (JSON.stringify({...e, months: own.months}) === JSON.stringify({...own, months: own.months})) continue
    all[`${language}-${region}`] = e
  }
}
const lines = Object.entries(all).map(([tag, e]) => `  ${JSON.stringify(tag)}: ${JSON.stringify(e)}`)
console.log(`{\n${lines.join(',\n')}\n}`)
