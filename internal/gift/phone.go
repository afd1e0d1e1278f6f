package gift

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
)

// DefaultTextCountries are the countries whose numbers an account sends SMS to where its set-up names none.
var DefaultTextCountries = []string{"US", "CA"}

// The countries by the beginnings of their numbers in E.164, without the +: the longest beginning holds. Several
// countries may share one. Numbers of no country (satellites, 800, 979 and the like) are not among them. The source is
// ITU-T's list of country codes assigned under E.164; where countries share a code, their numbering plans. Checked in
// November 2026 with an example of a mobile number of each country from libphonenumber's metadata.
const countryCodes = `
93 AF|355 AL|213 DZ|376 AD|244 AO|54 AR|374 AM|297 AW|61 AU|43 AT|994 AZ|973 BH|880 BD|375 BY|32 BE|501 BZ|229 BJ|
975 BT|591 BO|387 BA|267 BW|55 BR|673 BN|359 BG|226 BF|257 BI|855 KH|237 CM|238 CV|236 CF|235 TD|56 CL|86 CN|57 CO|
269 KM|242 CG|243 CD|682 CK|506 CR|225 CI|385 HR|53 CU|599 BQ|5999 CW|357 CY|420 CZ|45 DK|253 DJ|593 EC|20 EG|503 SV|
240 GQ|291 ER|372 EE|268 SZ|251 ET|500 FK|298 FO|679 FJ|358 FI|35818 AX|33 FR|594 GF|689 PF|241 GA|220 GM|995 GE|
49 DE|233 GH|350 GI|30 GR|299 GL|590 GP BL MF|502 GT|224 GN|245 GW|592 GY|509 HT|504 HN|852 HK|36 HU|354 IS|91 IN|
62 ID|98 IR|964 IQ|353 IE|972 IL|39 IT|3906698 VA|81 JP|962 JO|7 RU|76 KZ|77 KZ|254 KE|686 KI|850 KP|82 KR|383 XK|
965 KW|996 KG|856 LA|371 LV|961 LB|266 LS|231 LR|218 LY|423 LI|370 LT|352 LU|853 MO|261 MG|265 MW|60 MY|960 MV|223 ML|
356 MT|692 MH|596 MQ|222 MR|230 MU|262 RE YT|52 MX|691 FM|373 MD|377 MC|976 MN|382 ME|212 MA EH|258 MZ|95 MM|264 NA|
674 NR|977 NP|31 NL|687 NC|6723 NF|64 NZ|505 NI|227 NE|234 NG|683 NU|389 MK|47 NO|4779 SJ|968 OM|92 PK|680 PW|970 PS|
507 PA|675 PG|595 PY|51 PE|63 PH|48 PL|351 PT|974 QA|40 RO|250 RW|290 SH|508 PM|685 WS|378 SM|239 ST|966 SA|221 SN|
381 RS|248 SC|232 SL|65 SG|421 SK|386 SI|677 SB|252 SO|27 ZA|211 SS|34 ES|94 LK|249 SD|597 SR|46 SE|41 CH|963 SY|
886 TW|992 TJ|255 TZ|66 TH|670 TL|228 TG|690 TK|676 TO|216 TN|90 TR|993 TM|688 TV|256 UG|380 UA|971 AE|598 UY|998 UZ|
678 VU|58 VE|84 VN|681 WF|967 YE|260 ZM|263 ZW|44 GB|441481 GG|447781 GG|4478397 GG|4479111 GG|4479117 GG|441534 JE|
4475097 JE|4477003 JE|447797 JE|4478297 JE|4478298 JE|4478299 JE|447937 JE|441624 IM|447524 IM|447624 IM|447924 IM|
1 US|` + canada + caribbean

// The area codes of the North American plan that are not of the United States and its territories, as NANPA lists them:
// checked with every area code in November 2026, as above.
const (
	canada = `
1204 CA|1226 CA|1236 CA|1249 CA|1250 CA|1257 CA|1263 CA|1289 CA|1306 CA|1343 CA|1354 CA|1365 CA|1367 CA|1368 CA|
1382 CA|1403 CA|1416 CA|1418 CA|1428 CA|1431 CA|1437 CA|1438 CA|1450 CA|1468 CA|1474 CA|1506 CA|1514 CA|1519 CA|
1548 CA|1579 CA|1581 CA|1584 CA|1587 CA|1604 CA|1613 CA|1639 CA|1647 CA|1672 CA|1683 CA|1705 CA|1709 CA|1742 CA|
1753 CA|1778 CA|1780 CA|1782 CA|1807 CA|1819 CA|1825 CA|1867 CA|1873 CA|1879 CA|1902 CA|1905 CA|1942 CA|`
	caribbean = `
1242 BS|1246 BB|1264 AI|1268 AG|1284 VG|1345 KY|1441 BM|1473 GD|1649 TC|1658 JM|1664 MS|1721 SX|1758 LC|1767 DM|
1784 VC|1809 DO|1829 DO|1849 DO|1868 TT|1869 KN|1876 JM`
)

// paid are beginnings of numbers that cost more than others, or are no person's mobile: premium rates, shared costs and
// personal numbers. Of the North American plan they are the area codes that NANPA gives to no place, and 976, which is
// paid as an exchange too (below); of other countries, what their numbering plans give to such services, as
// libphonenumber's metadata had them in November 2026, when samples of mobile and fixed-line numbers met none of them.
// A few services of IE, KH, LB, MV, MY and TH, which share their beginnings with other numbers, are missing.
const paid = `
1456 1500 1521 1522 1523 1524 1525 1526 1527 1528 1529 1532 1533 1535 1538 1542 1543 1544 1545 1546 1547 1549 1550
1552 1553 1554 1556 1566 1569 1577 1578 1588 1589 1600 1622 1633 1644 1655 1677 1688 1700 1710 1800 1822 1833 1844
1855 1866 1877 1880 1881 1882 1883 1884 1885 1886 1887 1888 1889 1900 2090 21289 21380 21681 21688 22181 22188 22709
23030 231332 23687 24090 24280 24885 25090 25490 25584 25590 25690 26281 26289 26487 26790 26890 26980 2786 29790
29890 3070 3080 3090 3190 3270 3278 3290 3380 3381 3382 3388 3389 3470 3480 3490 351601 351607 35176 35180 35188
352801 352900 35370 35490 35570 35580 35590 35650 35770 35780 35790 35860 358700 359700 35990 3690 37070 37080 37090
37181 37190 37270 37290 37380 37390 37480 37490 37590 37691 37871 38090 38190 38294 38390 38560 38574 38690 38782
38790 38950 38980 3914 3916 3917 39199 3984 3989 4080 4090 4184 4187 4190 420700 42081 42090 42185 421900 423900 4381
43820 43821 4390 43930 43931 43939 4470 4484 4487 449 4590 4675 4677 46900 46939 46944 4781 4782 4788 4870 4880 49137
4918 49190 49700 49900 50219 50390 50690 50786 508810 5180 5230 5250 5290 53807 5460 55300 5540 5550 55900 5719 57901
5890 59081 59290 59489 59681 59790 59890 59960 6113 6119 6280 6470 6490 6519 67070 67090 68736 780 81570 8160 81990
8250 8260 8419 85281 852900 8616 8640 88620 88699 905922 9090 911860 911861 9212 9290 96270 96285 96290 96692 968900
1976 97017 971700 97190 97217 97219 97384 97390 99490020`

// countriesOf gives the countries of each beginning.
var countriesOf = sync.OnceValue(func() map[string][]string {
	all := make(map[string][]string)
	for entry := range strings.SplitSeq(countryCodes, "|") {
		words := strings.Fields(entry)
		all[words[0]] = words[1:]
	}
	return all
})

// TextCountries lists the countries that SMS can be sent to, by their ISO 3166-1 codes.
func TextCountries() []string {
	all := make(map[string]bool)
	for _, countries := range countriesOf() {
		for _, c := range countries {
			all[c] = true
		}
	}
	return slices.Sorted(maps.Keys(all))
}

// What can be wrong with a number.
var (
	errMobile = errors.New("This is not a mobile number: send 10 digits of the North American plan, such as " +
		"415-555-0132, or + and the country code.")
	errPaid = errors.New("This is not a number that an SMS is sent to: it costs its caller extra, or is of no country.")
)

// parseMobile reads a number of the North American plan, NPA-NXX-XXXX with an optional +1 or 1, or one in E.164, both
// with the usual separators, and gives it in E.164. It must be of one of the countries.
func parseMobile(s string, countries []string) (string, error) {
	if len(s) > maxContact {
		return "", errMobile
	}
	digits := strings.NewReplacer(" ", "", ".", "", "-", "", "(", "", ")", "").Replace(s)
	digits, international := strings.CutPrefix(digits, "+")
	if !allDigits(digits) {
		return "", errMobile
	}
	switch {
	case international:
		if len(digits) < 8 || len(digits) > 15 || digits[0] == '0' || digits[0] == '1' && !isNorthAmerican(digits[1:]) {
			return "", errMobile
		}
	case isNorthAmerican(digits):
		digits = "1" + digits
	case digits[0] != '1' || !isNorthAmerican(digits[1:]):
		return "", errMobile
	}
	if err := judgeNumber(digits, countries); err != nil {
		return "", err
	}
	return "+" + digits, nil
}

// isNorthAmerican takes ten digits: area code and exchange begin with 2-9 and are no service codes (N11); area codes
// with a 9 in the middle are kept for a longer plan (NANPA's guidelines for area codes and central office codes).
func isNorthAmerican(digits string) bool {
	if len(digits) != 10 {
		return false
	}
	area, exchange := digits[:3], digits[3:6]
	return area[0] >= '2' && area[1] != '9' && exchange[0] >= '2' && area[1:] != "11" && exchange[1:] != "11"
}

// judgeNumber refuses a number of another country than those that are allowed, and paid ones. An exchange of 976 is
// paid in every area of the North American plan.
func judgeNumber(digits string, countries []string) error {
	isPaid := slices.ContainsFunc(strings.Fields(paid), func(p string) bool { return strings.HasPrefix(digits, p) })
	if isPaid || digits[0] == '1' && digits[4:7] == "976" {
		return errPaid
	}
	for n := min(len(digits), 7); n > 0; n-- {
		of := countriesOf()[digits[:n]]
		switch {
		case of == nil:
		case slices.ContainsFunc(of, func(c string) bool { return slices.Contains(countries, c) }):
			return nil
		default:
			return fmt.Errorf("This is a number of the country %s; this account sends SMS to %s only.",
				strings.Join(of, " or "), strings.Join(countries, ", "))
		}
	}
	return errPaid
}
